//! [`Window`]: a window with a picture and the player's input.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mimosa_facts::Action;
use mimosa_video::{Size, View};

use crate::error::WindowError;
use crate::gamepads::Gamepads;
use crate::input::{Input, InputResults, Places, WindowRequest};
use crate::overlay::layout;
use crate::pointer::area;
use crate::raw::{self, RawEvent, RawWindow, Refusal, Shape, Subsystem, SubsystemKind};
use crate::refresh::Refreshes;

/// The darkness of the box behind text, out of 255.
const DARKNESS: u8 = 170;
/// The most events of one wait; a mouse reports a thousand times a second.
const MOST: usize = 4_096;

/// The operation that an error of drawing or showing names.
const DRAWING: &str = "drawing the window";

/// Whether the program has a window: there is one at a time.
static IS_OPEN: AtomicBool = AtomicBool::new(false);

/// The initial state of a window, and its behaviour.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a setting of its own"
)]
pub struct WindowConfig {
    /// The title of the window.
    pub title: String,
    /// The size in the system's pixels.
    pub size: Size,
    /// Whether the window covers the screen.
    pub is_fullscreen: bool,
    /// Whether a click on the picture locks the pointer, so that its movements are reported
    /// and not its place.
    pub locks_pointer: bool,
    /// Whether the cursor is hidden while keys and pointer belong to the game, whose
    /// picture has its own cursor.
    pub hides_cursor: bool,
    /// Whether text that is put onto the clipboard is reported.
    pub shares_clipboard: bool,
    /// Whether pictures wait for the display's refresh: none is torn, and each is later.
    pub waits_for_refresh: bool,
}

impl WindowConfig {
    /// A window that locks the pointer, hides the cursor, does not share the clipboard and
    /// shows each picture at once.
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

/// An event of a window.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum WindowEvent {
    /// The player did something that is for the game.
    Act(Action),
    /// The window is to be closed.
    Quit,
    /// A program has put text onto the clipboard.
    Clipboard(String),
    /// The window has another size, in pixels.
    Resized {
        /// The columns.
        width: u32,
        /// The rows.
        height: u32,
    },
    /// The player switches the statistics on or off.
    ToggleStatistics,
}

/// A window with a picture. It belongs to the thread that opened it.
///
/// | keys | what they do, instead of reaching the game |
/// | --- | --- |
/// | F11, Alt+Enter, Ctrl+Alt+Shift+X | the whole screen, and back |
/// | Ctrl+Alt+Shift+S | [`WindowEvent::ToggleStatistics`] |
/// | Ctrl+Alt+Shift+Z | takes keys and pointer from the game, and gives them to it again |
/// | Ctrl+Alt+Shift+Q | [`WindowEvent::Quit`] |
#[derive(Debug)]
pub struct Window {
    // Fields drop in this order: gamepads are closed before SDL's part that they belong to
    // ends.
    gamepads: Gamepads,
    _gamepads: Option<Subsystem>,
    raw: RawWindow,
    config: WindowConfig,
    input: Input,
    waking: Arc<WakeState>,
    /// The size of the picture that is shown.
    picture: Option<Size>,
    /// The size of the window that was reported last, in pixels.
    told: (u32, u32),
    overlay: Vec<String>,
    _stays_in_its_thread: PhantomData<*const ()>,
}

/// A handle that ends a [`Window::wait`] from another thread.
#[derive(Clone, Debug)]
pub struct Waker(Arc<WakeState>);

#[derive(Debug)]
struct WakeState {
    /// The number of the events that wake.
    number: u32,
    is_open: Mutex<bool>,
    /// Whether such an event is on its way.
    is_pending: AtomicBool,
}

impl Waker {
    /// Ends a wait, the present one or the next. Without a window this does nothing.
    pub fn wake(&self) {
        let is_open = self.0.is_open.lock();
        let is_open = is_open.unwrap_or_else(PoisonError::into_inner);
        if *is_open && !self.0.is_pending.swap(true, Ordering::AcqRel) {
            raw::wake(self.0.number);
        }
    }
}

impl Window {
    /// Opens a window. SDL must not be in use in the program, or only in this thread.
    ///
    /// # Errors
    ///
    /// [`WindowError`] says what to do.
    pub fn open(config: &WindowConfig) -> Result<Self, WindowError> {
        if IS_OPEN.swap(true, Ordering::AcqRel) {
            return Err(WindowError::Second);
        }
        Self::open_first(config).inspect_err(|_| IS_OPEN.store(false, Ordering::Release))
    }

    fn open_first(config: &WindowConfig) -> Result<Self, WindowError> {
        let part =
            Subsystem::start(SubsystemKind::Windows).map_err(|refusal| WindowError::NoDisplay {
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
        let gamepads = Subsystem::start(SubsystemKind::Gamepads)
            .inspect_err(|refusal| tracing::warn!("there are no gamepads: {refusal}"))
            .ok();
        let waking = WakeState {
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
        window.grant(WindowRequest::Cursor(false));
        window.redraw()?;
        Ok(window)
    }

    /// A handle with which another thread ends a wait.
    #[must_use]
    pub fn waker(&self) -> Waker {
        Waker(Arc::clone(&self.waking))
    }

    /// Waits until something happens, a [`Waker`] wakes, or the time is over. Returns the
    /// events in order, possibly none. Without a time it waits for ever. Times are rounded
    /// up to milliseconds.
    pub fn wait(&mut self, timeout: Option<Duration>) -> Vec<WindowEvent> {
        let mut out = InputResults::default();
        let mut is_changed = false;
        let mut patience = timeout.map_or(-1, milliseconds);
        for _ in 0..MOST {
            let Ok(happened) = raw::next(patience, self.waking.number) else {
                break;
            };
            patience = 0;
            if let Some(happened) = happened {
                is_changed |= matches!(happened, RawEvent::Changed { .. });
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

    fn handle(&mut self, happened: &RawEvent, out: &mut InputResults) {
        match *happened {
            RawEvent::Quit => out.events.push(WindowEvent::Quit),
            RawEvent::Woken => self.waking.is_pending.store(false, Ordering::Release),
            RawEvent::Changed { is_size: true } => {
                let (width, height) = self.pixels();
                if (width, height) != self.told {
                    self.told = (width, height);
                    out.events.push(WindowEvent::Resized { width, height });
                }
            }
            RawEvent::GamepadAdded(id) => self.tell(out, |gamepads| gamepads.add(id)),
            RawEvent::GamepadRemoved(id) => self.tell(out, |gamepads| gamepads.remove(id)),
            RawEvent::GamepadChanged(id) => self.tell(out, |gamepads| gamepads.change(id)),
            RawEvent::Clipboard if self.config.shares_clipboard => {
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
        out: &mut InputResults,
        state: impl FnOnce(&mut Gamepads) -> Option<mimosa_facts::Gamepad>,
    ) {
        if let Some(state) = state(&mut self.gamepads) {
            out.act(Action::Gamepad(state));
        }
    }

    fn grant(&mut self, wish: WindowRequest) {
        match wish {
            WindowRequest::ToggleFullscreen => self.set_fullscreen(!self.raw.is_fullscreen()),
            WindowRequest::Lock(on) => self.set_pointer_lock(on),
            WindowRequest::Cursor(is_shown) => {
                raw::set_cursor(&mut self.raw, is_shown || !self.config.hides_cursor);
            }
        }
    }

    /// Shows a picture at once, with lines of text over it. Returns when the system has the
    /// picture; where pictures wait for the refresh, after the refresh.
    ///
    /// # Errors
    ///
    /// [`WindowError::Failed`]; another picture may still be shown.
    pub fn show(&mut self, picture: &View<'_>, overlay: &[String]) -> Result<(), WindowError> {
        self.draw(picture, overlay)?;
        self.present()
    }

    /// Draws a picture, with lines of text over it, which [`Self::present`] shows.
    ///
    /// # Errors
    ///
    /// [`WindowError::Failed`]; another picture may still be drawn.
    pub fn draw(&mut self, picture: &View<'_>, overlay: &[String]) -> Result<(), WindowError> {
        self.raw
            .upload(picture)
            .map_err(WindowError::failed("keeping a picture to draw it"))?;
        self.picture = Some(picture.size());
        if self.overlay != overlay {
            self.overlay = overlay.to_vec();
        }
        self.draw_again().map_err(WindowError::failed(DRAWING))
    }

    /// Shows what was drawn. Where pictures wait for the refresh, this may wait for one.
    ///
    /// # Errors
    ///
    /// [`WindowError::Failed`]; another picture may still be shown.
    pub fn present(&mut self) -> Result<(), WindowError> {
        self.raw.present().map_err(WindowError::failed(DRAWING))
    }

    /// Draws the last picture again, or nothing before the first, and shows it.
    fn redraw(&mut self) -> Result<(), WindowError> {
        self.draw_again().map_err(WindowError::failed(DRAWING))?;
        self.present()
    }

    fn draw_again(&mut self) -> Result<(), Refusal> {
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
        self.raw.flush()
    }

    /// Watches when the display under the window refreshes.
    ///
    /// # Errors
    ///
    /// [`WindowError::NoRefreshes`] says why nothing tells it.
    pub fn refreshes(&self) -> Result<Refreshes, WindowError> {
        match self.raw.x11_window() {
            Some(window) => Refreshes::watch(window),
            None => Err(WindowError::NoRefreshes {
                reason: "the window system is not X11".to_owned(),
            }),
        }
    }

    /// Whether a present may wait for the display's refresh.
    #[must_use]
    pub const fn waits_for_refresh(&self) -> bool {
        self.config.waits_for_refresh
    }

    /// Has pictures wait for the display's refresh, or not. Returns whether they do: with a renderer that
    /// cannot wait, they do not.
    pub fn set_refresh_wait(&mut self, on: bool) -> bool {
        let waits = on && self.raw.can_wait_for_refresh();
        self.raw.set_refresh_wait(waits);
        self.config.waits_for_refresh = waits;
        waits
    }

    /// Locks the pointer, or unlocks it. Not every system can lock it; then its place is
    /// reported as before.
    pub fn set_pointer_lock(&mut self, on: bool) {
        match self.raw.set_lock(on) {
            Ok(()) => self.input.is_locked = on,
            Err(refusal) => tracing::warn!("the pointer cannot be locked: {refusal}"),
        }
    }

    /// Whether the pointer is locked.
    #[must_use]
    pub fn is_pointer_locked(&self) -> bool {
        self.input.is_locked
    }

    /// Whether keys and pointer belong to the game, because the player has not taken them
    /// back.
    #[must_use]
    pub fn is_played(&self) -> bool {
        self.input.is_taken()
    }

    /// Makes the window cover the screen, or ends that.
    pub fn set_fullscreen(&mut self, on: bool) {
        if let Err(refusal) = self.raw.set_fullscreen(on) {
            tracing::warn!("the whole screen cannot be covered: {refusal}");
        }
    }

    /// Whether the window covers the screen.
    #[must_use]
    pub fn is_fullscreen(&self) -> bool {
        self.raw.is_fullscreen()
    }

    /// The columns and rows, in pixels.
    #[must_use]
    pub fn pixels(&self) -> (u32, u32) {
        let (width, height) = self.raw.pixels();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "these are whole and positive numbers"
        )]
        let pixels = (width as u32, height as u32);
        pixels
    }

    /// Changes the title of the window.
    pub fn set_title(&mut self, title: &str) {
        self.raw.set_title(title);
    }

    /// Puts text onto the clipboard, which is not reported as [`WindowEvent::Clipboard`].
    pub fn set_clipboard(&mut self, text: &str) {
        if let Err(refusal) = raw::set_clipboard(&mut self.raw, text) {
            tracing::warn!("the clipboard does not take text: {refusal}");
        }
    }

    /// Runs a gamepad's strong and weak motor, 0 to 255 each. Not every gamepad has motors.
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

/// Rounds up, so that nobody asks again and again for the last part of a millisecond.
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
