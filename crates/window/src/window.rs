//! The window itself.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mimosa_video::{Size, View};
use mimosa_wire::Action;

use crate::error::WindowError;
use crate::gamepads::Gamepads;
use crate::input::{Input, Outcome, Places, Wish};
use crate::overlay::layout;
use crate::pointer::area;
use crate::raw::{self, Happened, Kind, Part, RawWindow, Refusal, Shape};

/// How dark the box behind text is, out of 255.
const DARKNESS: u8 = 170;
/// The most that one wait takes in; a mouse tells of itself a thousand times a second.
const MOST: usize = 4_096;

/// There is one window in a program.
static IS_OPEN: AtomicBool = AtomicBool::new(false);

/// How a window begins, and what it does by itself.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a setting of its own"
)]
pub struct WindowConfig {
    /// What stands above it.
    pub title: String,
    /// Its size, in the system's pixels.
    pub size: Size,
    /// It covers the screen.
    pub is_fullscreen: bool,
    /// A click on the picture locks the pointer: its movements are told, not its place.
    pub locks_pointer: bool,
    /// The cursor is not shown while keys and pointer belong to the game: the picture has
    /// the game's.
    pub hides_cursor: bool,
    /// Text that is put onto the clipboard is told.
    pub shares_clipboard: bool,
    /// Pictures wait for the display's refresh: none is torn, and each is later.
    pub waits_for_refresh: bool,
}

impl WindowConfig {
    /// A window that locks the pointer, hides the cursor, keeps the
    /// clipboard to itself and shows each picture at once.
    #[must_use]
    pub fn new(title: impl Into<String>, size: Size) -> Self {
        Self {
            title: title.into(),
            size,
            is_fullscreen: false,
            locks_pointer: true,
            hides_cursor: true,
            shares_clipboard: false,
            waits_for_refresh: false,
        }
    }
}

/// What happened at a window.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum WindowEvent {
    /// The player did something that is for the game.
    Act(Action),
    /// The window is to be closed.
    Quit,
    /// Somebody has put text onto the clipboard.
    Clipboard(String),
    /// The window has another size, in pixels.
    Resized {
        /// Columns.
        width: u32,
        /// Rows.
        height: u32,
    },
    /// The player wants to see the statistics, or has seen enough of them.
    ToggleStatistics,
}

/// A window with a picture. It belongs to the thread that opened it.
///
/// | keys | what they do, instead of reaching the game |
/// | --- | --- |
/// | F11, Alt+Enter, Ctrl+Alt+Shift+X | the whole screen, and back |
/// | Ctrl+Alt+Shift+S | [`WindowEvent::ToggleStatistics`] |
/// | Ctrl+Alt+Shift+Z | keys and pointer back from the game, and again to it |
/// | Ctrl+Alt+Shift+Q | [`WindowEvent::Quit`] |
#[derive(Debug)]
pub struct Window {
    // In this order: gamepads are closed before what they belong to ends.
    gamepads: Gamepads,
    _gamepads: Option<Part>,
    raw: RawWindow,
    config: WindowConfig,
    input: Input,
    waking: Arc<Waking>,
    /// The size of the picture that is shown.
    picture: Option<Size>,
    /// The size of the window that was told last, in pixels.
    told: (u32, u32),
    overlay: Vec<String>,
    _stays_in_its_thread: PhantomData<*const ()>,
}

/// Ends a [`Window::wait`] from another thread.
#[derive(Clone, Debug)]
pub struct Waker(Arc<Waking>);

#[derive(Debug)]
struct Waking {
    /// Of the events that wake.
    number: u32,
    is_open: Mutex<bool>,
    /// One is on its way.
    is_pending: AtomicBool,
}

impl Waker {
    /// Makes a wait end, the one under way or the next. Without a window it does nothing.
    pub fn wake(&self) {
        let is_open = self.0.is_open.lock();
        let is_open = is_open.unwrap_or_else(PoisonError::into_inner);
        if *is_open && !self.0.is_pending.swap(true, Ordering::AcqRel) {
            raw::wake(self.0.number);
        }
    }
}

impl Window {
    /// Opens a window. It is the first to use SDL in the program, or in the same thread
    /// as who was.
    ///
    /// # Errors
    ///
    /// [`WindowError`] says what to do about it.
    pub fn open(config: &WindowConfig) -> Result<Self, WindowError> {
        if IS_OPEN.swap(true, Ordering::AcqRel) {
            return Err(WindowError::Second);
        }
        Self::open_first(config).inspect_err(|_| IS_OPEN.store(false, Ordering::Release))
    }

    fn open_first(config: &WindowConfig) -> Result<Self, WindowError> {
        let part = Part::start(Kind::Windows).map_err(|refusal| WindowError::NoDisplay {
            reason: refusal.to_string(),
        })?;
        if !raw::is_main_thread() {
            return Err(WindowError::Thread);
        }
        let shape = Shape {
            title: config.title.clone(),
            size: config.size,
            is_fullscreen: config.is_fullscreen,
            waits_for_refresh: config.waits_for_refresh,
        };
        let raw = RawWindow::open(part, &shape).map_err(WindowError::failed("opening a window"))?;
        tracing::debug!("pictures are drawn by {}", raw.renderer_name());
        let gamepads = Part::start(Kind::Gamepads)
            .inspect_err(|refusal| tracing::warn!("there are no gamepads: {refusal}"))
            .ok();
        let waking = Waking {
            number: raw::register_wake(),
            is_open: Mutex::new(true),
            is_pending: AtomicBool::new(false),
        };
        let mut window = Self {
            gamepads: Gamepads::default(),
            _gamepads: gamepads,
            raw,
            config: config.clone(),
            input: Input::new(config.locks_pointer),
            waking: Arc::new(waking),
            picture: None,
            told: (0, 0),
            overlay: Vec::new(),
            _stays_in_its_thread: PhantomData,
        };
        window.told = window.pixels();
        window.grant(Wish::Cursor(false));
        window.redraw()?;
        Ok(window)
    }

    /// Something with which another thread ends a wait.
    #[must_use]
    pub fn waker(&self) -> Waker {
        Waker(Arc::clone(&self.waking))
    }

    /// Waits until something happens, a [`Waker`] wakes, or the time is over, and tells
    /// what happened, in order: possibly nothing. Without a time it waits for ever. Times
    /// are rounded up to milliseconds.
    pub fn wait(&mut self, timeout: Option<Duration>) -> Vec<WindowEvent> {
        let mut out = Outcome::default();
        let mut is_changed = false;
        let mut patience = timeout.map_or(-1, milliseconds);
        for _ in 0..MOST {
            let Ok(happened) = raw::next(patience, self.waking.number) else {
                break;
            };
            patience = 0;
            if let Some(happened) = happened {
                is_changed |= matches!(happened, Happened::Changed { .. });
                self.handle(&happened, &mut out);
            }
            for wish in std::mem::take(&mut out.wishes) {
                self.grant(wish);
            }
        }
        if is_changed && let Err(error) = self.redraw() {
            tracing::debug!("{error}");
        }
        out.events
    }

    fn handle(&mut self, happened: &Happened, out: &mut Outcome) {
        match *happened {
            Happened::Quit => out.events.push(WindowEvent::Quit),
            Happened::Woken => self.waking.is_pending.store(false, Ordering::Release),
            Happened::Changed { is_size: true } => {
                let (width, height) = self.pixels();
                if (width, height) != self.told {
                    self.told = (width, height);
                    out.events.push(WindowEvent::Resized { width, height });
                }
            }
            Happened::GamepadAdded(id) => self.tell(out, |gamepads| gamepads.add(id)),
            Happened::GamepadRemoved(id) => self.tell(out, |gamepads| gamepads.remove(id)),
            Happened::GamepadChanged(id) => self.tell(out, |gamepads| gamepads.change(id)),
            Happened::Clipboard if self.config.shares_clipboard => {
                let text = raw::clipboard(&self.raw).map(WindowEvent::Clipboard);
                out.events.extend(text);
            }
            _ => {
                let window = self.raw.size();
                let size = self.picture.unwrap_or(self.config.size);
                let places = Places {
                    picture: area(size, window),
                    window,
                };
                self.input.handle(happened, places, out);
            }
        }
    }

    fn tell(
        &mut self,
        out: &mut Outcome,
        state: impl FnOnce(&mut Gamepads) -> Option<mimosa_wire::Gamepad>,
    ) {
        if let Some(state) = state(&mut self.gamepads) {
            out.act(Action::Gamepad(state));
        }
    }

    fn grant(&mut self, wish: Wish) {
        match wish {
            Wish::ToggleFullscreen => self.set_fullscreen(!self.raw.is_fullscreen()),
            Wish::Lock(on) => self.set_pointer_lock(on),
            Wish::Cursor(is_shown) => {
                raw::set_cursor(&mut self.raw, is_shown || !self.config.hides_cursor);
            }
        }
    }

    /// Shows a picture, at once, with lines of text over it. Returns when it was handed to
    /// the system; where pictures wait for the refresh, after that.
    ///
    /// # Errors
    ///
    /// [`WindowError::Failed`]; another picture may be shown all the same.
    pub fn show(&mut self, picture: &View<'_>, overlay: &[String]) -> Result<(), WindowError> {
        self.raw
            .upload(picture)
            .map_err(WindowError::failed("keeping a picture to draw it"))?;
        self.picture = Some(picture.size());
        if self.overlay != overlay {
            self.overlay = overlay.to_vec();
        }
        self.redraw()
    }

    /// Draws what was shown last, or nothing yet.
    fn redraw(&mut self) -> Result<(), WindowError> {
        self.draw()
            .map_err(WindowError::failed("drawing the window"))
    }

    fn draw(&mut self) -> Result<(), Refusal> {
        let pixels = self.raw.pixels();
        self.raw.clear()?;
        if let Some(size) = self.picture {
            self.raw.draw_picture(area(size, pixels))?;
        }
        if let Some(layout) = layout(&self.overlay, pixels) {
            self.raw.draw_shade(layout.shade, DARKNESS)?;
            for (line, place) in self.overlay.iter().zip(layout.places) {
                self.raw.draw_text(line, place, layout.scale)?;
            }
        }
        self.raw.present()
    }

    /// Locks the pointer, or unlocks it. Not every system can lock it: then its place is
    /// told as before.
    pub fn set_pointer_lock(&mut self, on: bool) {
        match self.raw.set_lock(on) {
            Ok(()) => self.input.is_locked = on,
            Err(refusal) => tracing::warn!("the pointer cannot be locked: {refusal}"),
        }
    }

    /// The pointer is locked.
    #[must_use]
    pub fn is_pointer_locked(&self) -> bool {
        self.input.is_locked
    }

    /// Keys and pointer belong to the game: the player has not taken them back.
    #[must_use]
    pub fn is_played(&self) -> bool {
        self.input.is_taken()
    }

    /// Covers the screen, or does so no longer.
    pub fn set_fullscreen(&mut self, on: bool) {
        if let Err(refusal) = self.raw.set_fullscreen(on) {
            tracing::warn!("the whole screen cannot be covered: {refusal}");
        }
    }

    /// The window covers the screen.
    #[must_use]
    pub fn is_fullscreen(&self) -> bool {
        self.raw.is_fullscreen()
    }

    /// Columns and rows, in pixels.
    #[must_use]
    pub fn pixels(&self) -> (u32, u32) {
        let (width, height) = self.raw.pixels();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "were whole and positive"
        )]
        let pixels = (width as u32, height as u32);
        pixels
    }

    /// Writes another title above it.
    pub fn set_title(&mut self, title: &str) {
        self.raw.set_title(title);
    }

    /// Puts text onto the clipboard. It is not told as [`WindowEvent::Clipboard`].
    pub fn set_clipboard(&mut self, text: &str) {
        if let Err(refusal) = raw::set_clipboard(&mut self.raw, text) {
            tracing::warn!("the clipboard does not take text: {refusal}");
        }
    }

    /// Shakes a gamepad with its strong and its weak motor, 0 to 255 each. Not all can.
    pub fn rumble(&mut self, index: u8, strong: u8, weak: u8, duration: Duration) {
        if let Some(gamepad) = self.gamepads.at(index) {
            let wide = |force: u8| u16::from(force) * 257;
            let milliseconds = u32::try_from(duration.as_millis()).unwrap_or(u32::MAX);
            gamepad.rumble(wide(strong), wide(weak), milliseconds);
        }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        let is_open = self.waking.is_open.lock();
        *is_open.unwrap_or_else(PoisonError::into_inner) = false;
        IS_OPEN.store(false, Ordering::Release);
    }
}

/// Rounded up, so that nobody asks again and again for the last part of one.
fn milliseconds(time: Duration) -> i32 {
    i32::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_up() {
        for (nanoseconds, expected) in [(0, 0), (1, 1), (1_000_000, 1), (1_000_001, 2)] {
            assert_eq!(milliseconds(Duration::from_nanos(nanoseconds)), expected);
        }
        assert_eq!(milliseconds(Duration::MAX), i32::MAX);
    }
}
