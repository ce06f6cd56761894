//! Pictures of an X display, whenever something is drawn.

use std::time::{Duration, Instant};

use mimosa_video::{BadSize, Picture, Size, TooFewPixels};
use x11rb::connection::Connection;
use x11rb::errors::{ConnectionError, ReplyError};
use x11rb::protocol::Event;
use x11rb::protocol::damage::{ConnectionExt as _, Damage};
use x11rb::protocol::xfixes::ConnectionExt as _;
use x11rb::protocol::xproto::{ConnectionExt as _, MapState, Window};
use x11rb::rust_connection::RustConnection;

use crate::cursor::Cursor;
use crate::display::{Display, DisplayError};
use crate::image::Image;
use crate::target::{Area, Target, TargetError, is_about_window};
use crate::watch::{look, wait, watch};
use mimosa_system::clock::now;

/// The interval at which the server is asked for the pointer's place, which it does not
/// report by itself: twice per frame at 60 frames per second.
const POINTER_INTERVAL: Duration = Duration::from_millis(8);
/// The number of times that an image is requested again because the window changed.
const ATTEMPTS: u32 = 3;

/// A capture of a screen or a window.
#[derive(Debug)]
pub struct Capture {
    connection: RustConnection,
    root: Window,
    /// The captured window; the root window is the screen.
    window: Window,
    area: Area,
    image: Image,
    damage: Damage,
    /// The time of the first change that no picture shows yet.
    changed: Option<Instant>,
    cursor: Cursor,
    is_cursor_shown: bool,
    is_cursor_new: bool,
    next_look: Instant,
    is_gone: bool,
}

/// The result of [`Capture::next`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Captured {
    /// Something changed, and the picture shows it.
    Picture {
        /// When the first of the changes was noticed.
        damaged: Instant,
    },
    /// The deadline passed without a change.
    Nothing,
    /// The source has another size: open the encoder anew. The picture is unchanged; the
    /// next call fills it, in the new size.
    Resized(Size),
}

/// The reason why nothing is captured.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The window was destroyed; its program may have ended.
    #[error("the captured window is gone; start the game again")]
    Gone,
    /// The window is not shown. This is reported once; later calls wait until it is shown.
    #[error("the captured window is not shown; bring it back")]
    Hidden,
    /// The part of the window on the screen is too small or too large.
    #[error("the visible part of the captured window cannot be a picture: {0}")]
    Size(#[from] BadSize),
    /// The window stores its colours in a format that is not supported.
    #[error(
        "the captured window has {format}; only 24 bits of red, green and blue are supported, as `Xvfb -screen 0 1280x720x24` has them"
    )]
    Format {
        /// The format.
        format: String,
    },
    /// The image could not be turned into a picture.
    #[error("turning an image of the X server into a picture: {0}")]
    Pixels(#[from] TooFewPixels),
    /// The target does not exist.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The X server did not answer as expected.
    #[error(transparent)]
    Display(#[from] DisplayError),
}

impl From<ReplyError> for CaptureError {
    fn from(error: ReplyError) -> Self {
        Self::Display(error.into())
    }
}

impl From<ConnectionError> for CaptureError {
    fn from(error: ConnectionError) -> Self {
        Self::Display(error.into())
    }
}

impl Capture {
    /// Starts to watch `target`, with the cursor.
    ///
    /// # Errors
    ///
    /// [`CaptureError`] says why it cannot be captured.
    pub fn open(display: Display<'_>, target: &Target) -> Result<Self, CaptureError> {
        let (connection, screen) = display.connect()?;
        let window = target.find(&connection, &screen)?.unwrap_or(screen.root);
        let damage = watch(&connection, &screen, window)?;
        let area = look(&connection, screen.root, window)?;
        let image = Image::new(&connection, area.size)?;
        let now = now();
        Ok(Self {
            connection,
            root: screen.root,
            window,
            area,
            image,
            damage,
            changed: Some(now),
            cursor: Cursor::default(),
            is_cursor_shown: true,
            is_cursor_new: true,
            next_look: now,
            is_gone: false,
        })
    }

    /// Leaves the cursor out of the pictures, or puts it back.
    pub fn show_cursor(&mut self, shown: bool) {
        self.is_cursor_shown = shown;
        self.changed = self.changed.or_else(|| Some(now()));
    }

    /// The size of the source's part on the screen, rounded down to even.
    #[must_use]
    pub fn size(&self) -> Size {
        self.area.size
    }

    /// Waits until something changes or `deadline` passes, and fills `picture` with the
    /// present image. A picture of another size is replaced. The first call does not wait;
    /// several changes between two calls make one picture.
    ///
    /// # Errors
    ///
    /// [`CaptureError::Gone`] or [`CaptureError::Hidden`] when there is nothing to see, and
    /// others of [`CaptureError`].
    pub fn next(
        &mut self,
        deadline: Instant,
        picture: &mut Picture,
    ) -> Result<Captured, CaptureError> {
        loop {
            self.read_events()?;
            if self.is_gone {
                return Err(CaptureError::Gone);
            }
            if self.look_at_pointer()? {
                continue;
            }
            if let Some(damaged) = self.changed {
                return self.take(damaged, picture);
            }
            if now() >= deadline {
                return Ok(Captured::Nothing);
            }
            let until = if self.is_cursor_shown && self.cursor.is_visible() {
                deadline.min(self.next_look)
            } else {
                deadline
            };
            wait(&self.connection, until)?;
        }
    }

    /// Reads the server's reports.
    fn read_events(&mut self) -> Result<(), CaptureError> {
        while let Some(event) = self.connection.poll_for_event()? {
            match event {
                Event::XfixesCursorNotify(_) => self.is_cursor_new = true,
                Event::DestroyNotify(event) if event.window == self.window => self.is_gone = true,
                Event::DamageNotify(_)
                | Event::ConfigureNotify(_)
                | Event::MapNotify(_)
                | Event::UnmapNotify(_) => self.changed = self.changed.or_else(|| Some(now())),
                Event::Error(error) => tracing::debug!("the X server: {error:?}"),
                _ => {}
            }
        }
        Ok(())
    }

    /// Asks for the pointer's image if it is new, or else for its place if that is due.
    /// Returns whether it asked; the answer may have brought events along.
    fn look_at_pointer(&mut self) -> Result<bool, CaptureError> {
        if !self.is_cursor_shown {
            return Ok(false);
        }
        if self.is_cursor_new {
            let image = self.connection.xfixes_get_cursor_image()?.reply()?;
            self.cursor = Cursor::new(image);
            self.is_cursor_new = false;
            self.changed = self.changed.or_else(|| Some(now()));
            return Ok(true);
        }
        // A picture that is due asks for the place anyway.
        if self.changed.is_some() || !self.cursor.is_visible() || now() < self.next_look {
            return Ok(false);
        }
        let pointer = self.connection.query_pointer(self.root)?.reply()?;
        let place = (pointer.root_x, pointer.root_y);
        let now = now();
        if self.cursor.move_to(place, self.area) {
            self.changed = Some(now);
        }
        self.next_look = now + POINTER_INTERVAL;
        Ok(true)
    }

    /// Asks for an image and for its place at once, and draws the pointer.
    fn take(&mut self, damaged: Instant, picture: &mut Picture) -> Result<Captured, CaptureError> {
        self.changed = None;
        for _ in 0..ATTEMPTS {
            let connection = &self.connection;
            // Anything drawn from this point on is reported again.
            connection.damage_subtract(self.damage, x11rb::NONE, x11rb::NONE)?;
            let root = connection.get_geometry(self.root)?;
            let geometry = connection.get_geometry(self.window)?;
            let place = connection.translate_coordinates(self.window, self.root, 0, 0)?;
            let pointer = connection.query_pointer(self.root)?;
            let request = self.image.request(connection, self.window, self.area)?;
            let (root, geometry, place) = (root.reply(), geometry.reply(), place.reply());
            let pointer = pointer.reply()?;
            let image = self.image.receive(request);

            let (Ok(root), Ok(geometry), Ok(place)) = (root, geometry, place) else {
                break;
            };
            let area = Area::new(&root, &geometry, &place)?;
            if area.size != self.area.size {
                return self.resize(area, damaged);
            }
            let is_same_part = (area.left, area.top) == (self.area.left, self.area.top);
            self.area = area;
            let image = match image {
                Ok(image) if is_same_part => image,
                Ok(_) => continue,
                Err(error) if is_about_window(&error) => continue,
                Err(error) => return Err(error.into()),
            };
            self.cursor.move_to((pointer.root_x, pointer.root_y), area);
            self.next_look = now() + POINTER_INTERVAL;
            if self.is_cursor_shown {
                self.cursor.draw(image, area);
            }
            if picture.size() != area.size {
                *picture = Picture::new(area.size);
            }
            picture.draw_bgra(image)?;
            return Ok(Captured::Picture { damaged });
        }
        match self.connection.get_window_attributes(self.window)?.reply() {
            Ok(attributes) if attributes.map_state != MapState::VIEWABLE => {
                Err(CaptureError::Hidden)
            }
            // The window is moved faster than its place can be read.
            Ok(_) => {
                self.changed = Some(damaged);
                Ok(Captured::Nothing)
            }
            Err(error) if is_about_window(&error) => {
                self.is_gone = true;
                Err(CaptureError::Gone)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Prepares for another size.
    fn resize(&mut self, area: Area, damaged: Instant) -> Result<Captured, CaptureError> {
        let image = Image::new(&self.connection, area.size)?;
        std::mem::replace(&mut self.image, image).release(&self.connection)?;
        self.area = area;
        self.changed = Some(damaged);
        Ok(Captured::Resized(area.size))
    }
}
