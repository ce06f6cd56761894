//! SDL's functions made safe.
//!
//! Callers pass plain numbers and get plain numbers; SDL's pointers stay in here.

#![expect(unsafe_code, reason = "calls into C")]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{NonNull, null, null_mut};
use std::sync::{Mutex, PoisonError};

use mimosa_video::{Colours, Matrix, Size, View};
use sdl::audio::{SDL_AudioSpec, SDL_AudioStream};
use sdl::events::{SDL_Event, SDL_EventType, SDL_UserEvent};
use sdl::gamepad::{SDL_Gamepad, SDL_GamepadAxis, SDL_GamepadButton};
use sdl::init::SDL_InitFlags;
use sdl::joystick::SDL_JoystickID;
use sdl::rect::SDL_FRect;
use sdl::render::{SDL_Renderer, SDL_Texture};
use sdl::video::SDL_Window;
use sdl3_sys as sdl;

use crate::pointer::Area;

/// SDL's own word for why it did not do something.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Refusal(String);

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Refusal {
    /// Why the last call in this thread failed.
    fn last() -> Self {
        // SAFETY: a C string of this thread's, never null.
        let text = unsafe { CStr::from_ptr(sdl::error::SDL_GetError()) };
        Self(text.to_string_lossy().into_owned())
    }
}

fn check(worked: bool) -> Result<(), Refusal> {
    if worked { Ok(()) } else { Err(Refusal::last()) }
}

/// One thread at a time starts or ends parts of SDL.
static STARTING: Mutex<()> = Mutex::new(());

/// A part of SDL.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// The window system and its events.
    Windows,
    Gamepads,
    Sound,
}

impl Kind {
    const fn flags(self) -> SDL_InitFlags {
        match self {
            Self::Windows => SDL_InitFlags::VIDEO,
            Self::Gamepads => SDL_InitFlags::GAMEPAD,
            Self::Sound => SDL_InitFlags::AUDIO,
        }
    }
}

/// A part of SDL that is in use; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Part(Kind);

impl Part {
    pub(crate) fn start(kind: Kind) -> Result<Self, Refusal> {
        let _one = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the function takes what it is given from any thread, and is there as
        // long as the program.
        unsafe { sdl::log::SDL_SetLogOutputFunction(Some(log), null_mut()) };
        for (name, value) in HINTS {
            // SAFETY: both are C strings, which SDL copies.
            unsafe { sdl::hints::SDL_SetHint(name, value.as_ptr()) };
        }
        // SAFETY: the lock keeps others away.
        check(unsafe { sdl::init::SDL_InitSubSystem(kind.flags()) })?;
        Ok(Self(kind))
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let _one = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: it was started once for this, and the lock keeps others away.
        unsafe { sdl::init::SDL_QuitSubSystem(self.0.flags()) };
    }
}

const HINTS: [(*const c_char, &CStr); 5] = [
    // What Ctrl+C does is the program's business.
    (sdl::hints::SDL_HINT_NO_SIGNAL_HANDLERS, c"1"),
    // A finger is not also a mouse, and a mouse not a finger.
    (sdl::hints::SDL_HINT_TOUCH_MOUSE_EVENTS, c"0"),
    (sdl::hints::SDL_HINT_MOUSE_TOUCH_EVENTS, c"0"),
    (sdl::hints::SDL_HINT_APP_NAME, c"Mimosa"),
    // 10 ms at a time.
    (sdl::hints::SDL_HINT_AUDIO_DEVICE_SAMPLE_FRAMES, c"480"),
];

unsafe extern "C" fn log(
    _: *mut c_void,
    _: c_int,
    _: sdl::log::SDL_LogPriority,
    message: *const c_char,
) {
    // SAFETY: SDL passes a C string, valid during the call.
    let message = unsafe { CStr::from_ptr(message) };
    tracing::debug!(target: "sdl", "{}", message.to_string_lossy());
}

/// This thread is the one in which SDL was first used.
pub(crate) fn is_main_thread() -> bool {
    // SAFETY: only compares.
    unsafe { sdl::init::SDL_IsMainThread() }
}

/// Something that happened, as SDL tells it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Happened {
    /// The window is to be closed.
    Quit,
    /// [`wake`] was called.
    Woken,
    FocusGained,
    FocusLost,
    /// The window has another size, or lost what it showed.
    Changed {
        is_size: bool,
    },
    Key {
        scancode: c_int,
        pressed: bool,
        is_repeat: bool,
        modifiers: Modifiers,
    },
    /// In the window's coordinates.
    Motion {
        x: f32,
        y: f32,
        right: f32,
        down: f32,
    },
    Button {
        number: u8,
        pressed: bool,
        x: f32,
        y: f32,
    },
    /// In notches.
    Wheel {
        right: f32,
        up: f32,
    },
    /// As parts of the window.
    Finger {
        id: u64,
        phase: FingerPhase,
        x: f32,
        y: f32,
    },
    GamepadAdded(u32),
    GamepadRemoved(u32),
    GamepadChanged(u32),
    /// Another program has put something onto the clipboard.
    Clipboard,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum FingerPhase {
    Down,
    Moved,
    Up,
    Cancelled,
}

/// Which keys are held with another.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Modifiers {
    pub(crate) control: bool,
    pub(crate) alt: bool,
    pub(crate) shift: bool,
}

/// A number for the events of [`wake`].
pub(crate) fn register_wake() -> u32 {
    // SAFETY: reserves a number; zero when there are no more.
    unsafe { sdl::events::SDL_RegisterEvents(1) }
}

/// Ends a wait, from any thread, while the window system is in use.
pub(crate) fn wake(number: u32) {
    let mut event = SDL_Event {
        user: SDL_UserEvent {
            r#type: number,
            ..SDL_UserEvent::default()
        },
    };
    // SAFETY: SDL copies the event; the function may be called from any thread.
    unsafe { sdl::events::SDL_PushEvent(&raw mut event) };
}

/// Waits at most so many milliseconds, for ever if negative, for what happens next;
/// `Err` when the time is over, `Ok(None)` for what is of no interest.
pub(crate) fn next(milliseconds: i32, wake: u32) -> Result<Option<Happened>, ()> {
    let mut event = SDL_Event::default();
    // SAFETY: SDL fills in the event. It is called in the thread that started the window
    // system, since a `RawWindow` does not leave it.
    if !unsafe { sdl::events::SDL_WaitEventTimeout(&raw mut event, milliseconds) } {
        return Err(());
    }
    // SAFETY: the type is the first field of all.
    let kind = unsafe { event.r#type };
    Ok(if kind == wake {
        Some(Happened::Woken)
    } else {
        understand(SDL_EventType(kind), &event)
    })
}

fn understand(kind: SDL_EventType, event: &SDL_Event) -> Option<Happened> {
    use SDL_EventType as Type;
    // SAFETY, here and below: the type says which of the event's parts SDL filled in.
    Some(match kind {
        Type::QUIT | Type::WINDOW_CLOSE_REQUESTED => Happened::Quit,
        Type::WINDOW_FOCUS_GAINED => Happened::FocusGained,
        Type::WINDOW_FOCUS_LOST => Happened::FocusLost,
        Type::WINDOW_EXPOSED => Happened::Changed { is_size: false },
        Type::WINDOW_PIXEL_SIZE_CHANGED => Happened::Changed { is_size: true },
        Type::KEY_DOWN | Type::KEY_UP => {
            // SAFETY: as above.
            let key = unsafe { event.key };
            let held = |keys| (key.r#mod & keys).0 != 0;
            Happened::Key {
                scancode: key.scancode.0,
                pressed: key.down,
                is_repeat: key.repeat,
                modifiers: Modifiers {
                    control: held(sdl::keycode::SDL_KMOD_CTRL),
                    alt: held(sdl::keycode::SDL_KMOD_ALT),
                    shift: held(sdl::keycode::SDL_KMOD_SHIFT),
                },
            }
        }
        Type::MOUSE_MOTION => {
            // SAFETY: as above.
            let motion = unsafe { event.motion };
            Happened::Motion {
                x: motion.x,
                y: motion.y,
                right: motion.xrel,
                down: motion.yrel,
            }
        }
        Type::MOUSE_BUTTON_DOWN | Type::MOUSE_BUTTON_UP => {
            // SAFETY: as above.
            let button = unsafe { event.button };
            Happened::Button {
                number: button.button,
                pressed: button.down,
                x: button.x,
                y: button.y,
            }
        }
        Type::MOUSE_WHEEL => {
            // SAFETY: as above.
            let wheel = unsafe { event.wheel };
            Happened::Wheel {
                right: wheel.x,
                up: wheel.y,
            }
        }
        Type::FINGER_DOWN | Type::FINGER_UP | Type::FINGER_MOTION | Type::FINGER_CANCELED => {
            // SAFETY: as above.
            let finger = unsafe { event.tfinger };
            Happened::Finger {
                id: finger.fingerID.0,
                phase: match kind {
                    Type::FINGER_DOWN => FingerPhase::Down,
                    Type::FINGER_UP => FingerPhase::Up,
                    Type::FINGER_MOTION => FingerPhase::Moved,
                    _ => FingerPhase::Cancelled,
                },
                x: finger.x,
                y: finger.y,
            }
        }
        Type::GAMEPAD_ADDED | Type::GAMEPAD_REMOVED | Type::GAMEPAD_UPDATE_COMPLETE => {
            // SAFETY: as above.
            let which = unsafe { event.gdevice }.which.0;
            match kind {
                Type::GAMEPAD_ADDED => Happened::GamepadAdded(which),
                Type::GAMEPAD_REMOVED => Happened::GamepadRemoved(which),
                _ => Happened::GamepadChanged(which),
            }
        }
        // SAFETY: as above.
        Type::CLIPBOARD_UPDATE if !unsafe { event.clipboard }.owner => Happened::Clipboard,
        _ => return None,
    })
}

/// How a window begins.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) title: String,
    pub(crate) size: Size,
    pub(crate) is_fullscreen: bool,
    pub(crate) waits_for_refresh: bool,
}

/// A window and what draws in it. It stays in its thread: pointers do not leave it.
#[derive(Debug)]
pub(crate) struct RawWindow {
    window: NonNull<SDL_Window>,
    renderer: NonNull<SDL_Renderer>,
    texture: Option<Texture>,
    // Ends after the others.
    _part: Part,
}

/// Where the picture is kept.
#[derive(Debug)]
struct Texture {
    pointer: NonNull<SDL_Texture>,
    size: Size,
    colours: Colours,
}

impl RawWindow {
    pub(crate) fn open(part: Part, shape: &Shape) -> Result<Self, Refusal> {
        use sdl::video::{
            SDL_WINDOW_FULLSCREEN, SDL_WINDOW_HIGH_PIXEL_DENSITY, SDL_WINDOW_RESIZABLE,
        };
        let title = c_string(&shape.title);
        let mut flags = SDL_WINDOW_RESIZABLE | SDL_WINDOW_HIGH_PIXEL_DENSITY;
        if shape.is_fullscreen {
            flags |= SDL_WINDOW_FULLSCREEN;
        }
        let (width, height) = (shape.size.width(), shape.size.height());
        let (width, height) = (width.cast_signed(), height.cast_signed());
        // SAFETY: the window system is in use, and SDL copies the title.
        let window = unsafe { sdl::video::SDL_CreateWindow(title.as_ptr(), width, height, flags) };
        let window = NonNull::new(window).ok_or_else(Refusal::last)?;
        // SAFETY: the window is there; without a name SDL takes what the machine has.
        let renderer = unsafe { sdl::render::SDL_CreateRenderer(window.as_ptr(), null()) };
        let Some(renderer) = NonNull::new(renderer) else {
            let refusal = Refusal::last();
            // SAFETY: it is there, and nothing uses it afterwards.
            unsafe { sdl::video::SDL_DestroyWindow(window.as_ptr()) };
            return Err(refusal);
        };
        let interval = c_int::from(shape.waits_for_refresh);
        // SAFETY: the renderer is there. Not all can wait for the refresh; all can not wait.
        unsafe { sdl::render::SDL_SetRenderVSync(renderer.as_ptr(), interval) };
        Ok(Self {
            window,
            renderer,
            texture: None,
            _part: part,
        })
    }

    /// What draws: `opengl`, `software` and the like.
    pub(crate) fn renderer_name(&self) -> String {
        // SAFETY: the renderer is there.
        let name = unsafe { sdl::render::SDL_GetRendererName(self.renderer.as_ptr()) };
        if name.is_null() {
            return String::new();
        }
        // SAFETY: a C string that is there as long as the program.
        unsafe { CStr::from_ptr(name) }
            .to_string_lossy()
            .into_owned()
    }

    /// Columns and rows in the coordinates that pointers have.
    pub(crate) fn size(&self) -> (f32, f32) {
        let (mut width, mut height) = (0, 0);
        // SAFETY: the window is there, and SDL writes two numbers.
        unsafe {
            sdl::video::SDL_GetWindowSize(self.window.as_ptr(), &raw mut width, &raw mut height)
        };
        (width as f32, height as f32)
    }

    /// Columns and rows in pixels.
    pub(crate) fn pixels(&self) -> (f32, f32) {
        let (mut width, mut height) = (0, 0);
        // SAFETY: the renderer is there, and SDL writes two numbers.
        unsafe {
            sdl::render::SDL_GetCurrentRenderOutputSize(
                self.renderer.as_ptr(),
                &raw mut width,
                &raw mut height,
            )
        };
        (width as f32, height as f32)
    }

    pub(crate) fn is_fullscreen(&self) -> bool {
        // SAFETY: the window is there.
        let flags = unsafe { sdl::video::SDL_GetWindowFlags(self.window.as_ptr()) };
        (flags & sdl::video::SDL_WINDOW_FULLSCREEN).0 != 0
    }

    pub(crate) fn set_fullscreen(&mut self, on: bool) -> Result<(), Refusal> {
        // SAFETY: the window is there.
        check(unsafe { sdl::video::SDL_SetWindowFullscreen(self.window.as_ptr(), on) })
    }

    pub(crate) fn set_title(&mut self, title: &str) {
        let title = c_string(title);
        // SAFETY: the window is there, and SDL copies the title.
        unsafe { sdl::video::SDL_SetWindowTitle(self.window.as_ptr(), title.as_ptr()) };
    }

    /// Locks the pointer: from then on its movements are told, not its place.
    pub(crate) fn set_lock(&mut self, on: bool) -> Result<(), Refusal> {
        // SAFETY: the window is there.
        check(unsafe { sdl::mouse::SDL_SetWindowRelativeMouseMode(self.window.as_ptr(), on) })
    }

    /// Puts a picture where the next [`Self::draw_picture`] takes it from.
    pub(crate) fn upload(&mut self, view: &View<'_>) -> Result<(), Refusal> {
        let (size, colours) = (view.size(), view.colours());
        let texture = match &self.texture {
            Some(kept) if (kept.size, kept.colours) == (size, colours) => kept.pointer,
            _ => self.new_texture(size, colours)?,
        };
        let [y, u, v] = view.planes();
        let stride = |stride: usize| c_int::try_from(stride).unwrap_or(c_int::MAX);
        // SAFETY: the texture is there, in this format. A view has in each plane as many
        // rows of as many samples as its size has, so far apart, and SDL reads no more.
        check(unsafe {
            sdl::render::SDL_UpdateYUVTexture(
                texture.as_ptr(),
                null(),
                y.data.as_ptr(),
                stride(y.stride),
                u.data.as_ptr(),
                stride(u.stride),
                v.data.as_ptr(),
                stride(v.stride),
            )
        })
    }

    fn new_texture(
        &mut self,
        size: Size,
        colours: Colours,
    ) -> Result<NonNull<SDL_Texture>, Refusal> {
        use sdl::pixels::SDL_Colorspace as Space;
        use sdl::render::{
            SDL_PROP_TEXTURE_CREATE_ACCESS_NUMBER as ACCESS,
            SDL_PROP_TEXTURE_CREATE_COLORSPACE_NUMBER as COLOURS,
            SDL_PROP_TEXTURE_CREATE_FORMAT_NUMBER as FORMAT,
            SDL_PROP_TEXTURE_CREATE_HEIGHT_NUMBER as HEIGHT,
            SDL_PROP_TEXTURE_CREATE_WIDTH_NUMBER as WIDTH, SDL_TEXTUREACCESS_STREAMING,
        };
        self.drop_texture();
        let space = match (colours.matrix, colours.is_full_range) {
            (Matrix::Bt709, false) => Space::BT709_LIMITED,
            (Matrix::Bt709, true) => Space::BT709_FULL,
            (Matrix::Bt601, false) => Space::BT601_LIMITED,
            (Matrix::Bt601, true) => Space::BT601_FULL,
        };
        // SAFETY: makes an empty list.
        let properties = unsafe { sdl::properties::SDL_CreateProperties() };
        for (name, value) in [
            (FORMAT, i64::from(sdl::pixels::SDL_PIXELFORMAT_IYUV.0)),
            (ACCESS, i64::from(SDL_TEXTUREACCESS_STREAMING.0)),
            (COLOURS, i64::from(space.0)),
            (WIDTH, i64::from(size.width())),
            (HEIGHT, i64::from(size.height())),
        ] {
            // SAFETY: the names are C strings; without a list SDL refuses.
            unsafe { sdl::properties::SDL_SetNumberProperty(properties, name, value) };
        }
        // SAFETY: the renderer is there.
        let texture = unsafe {
            sdl::render::SDL_CreateTextureWithProperties(self.renderer.as_ptr(), properties)
        };
        let texture = NonNull::new(texture).ok_or_else(Refusal::last);
        // SAFETY: nothing uses the list afterwards.
        unsafe { sdl::properties::SDL_DestroyProperties(properties) };
        let texture = texture?;
        self.texture = Some(Texture {
            pointer: texture,
            size,
            colours,
        });
        Ok(texture)
    }

    fn drop_texture(&mut self) {
        if let Some(old) = self.texture.take() {
            // SAFETY: it is there, and nothing uses it afterwards.
            unsafe { sdl::render::SDL_DestroyTexture(old.pointer.as_ptr()) };
        }
    }

    /// Makes everything black.
    pub(crate) fn clear(&mut self) -> Result<(), Refusal> {
        let renderer = self.renderer.as_ptr();
        // SAFETY: the renderer is there.
        check(unsafe {
            sdl::render::SDL_SetRenderDrawColor(renderer, 0, 0, 0, 255)
                && sdl::render::SDL_RenderClear(renderer)
        })
    }

    /// Draws the picture that was uploaded last, if there is one.
    pub(crate) fn draw_picture(&mut self, area: Area) -> Result<(), Refusal> {
        let Some(texture) = &self.texture else {
            return Ok(());
        };
        let place = rectangle(area);
        // SAFETY: renderer and texture are there; SDL reads the rectangle.
        check(unsafe {
            sdl::render::SDL_RenderTexture(
                self.renderer.as_ptr(),
                texture.pointer.as_ptr(),
                null(),
                &raw const place,
            )
        })
    }

    /// Darkens a part of what was drawn.
    pub(crate) fn draw_shade(&mut self, area: Area, darkness: u8) -> Result<(), Refusal> {
        let renderer = self.renderer.as_ptr();
        let place = rectangle(area);
        // SAFETY: the renderer is there; SDL reads the rectangle.
        check(unsafe {
            sdl::render::SDL_SetRenderDrawBlendMode(renderer, sdl::blendmode::SDL_BLENDMODE_BLEND)
                && sdl::render::SDL_SetRenderDrawColor(renderer, 0, 0, 0, darkness)
                && sdl::render::SDL_RenderFillRect(renderer, &raw const place)
        })
    }

    /// Writes in white, in letters of 8 by 8 blocks of `scale` pixels.
    pub(crate) fn draw_text(
        &mut self,
        text: &str,
        (x, y): (f32, f32),
        scale: f32,
    ) -> Result<(), Refusal> {
        let renderer = self.renderer.as_ptr();
        let text = c_string(text);
        // SAFETY: the renderer is there; SDL reads the text.
        check(unsafe {
            let written = sdl::render::SDL_SetRenderScale(renderer, scale, scale)
                && sdl::render::SDL_SetRenderDrawColor(renderer, 255, 255, 255, 255)
                && sdl::render::SDL_RenderDebugText(renderer, x / scale, y / scale, text.as_ptr());
            sdl::render::SDL_SetRenderScale(renderer, 1.0, 1.0) && written
        })
    }

    /// Shows what was drawn.
    pub(crate) fn present(&mut self) -> Result<(), Refusal> {
        // SAFETY: the renderer is there.
        check(unsafe { sdl::render::SDL_RenderPresent(self.renderer.as_ptr()) })
    }
}

impl Drop for RawWindow {
    fn drop(&mut self) {
        self.drop_texture();
        // SAFETY: both are there, and nothing uses them afterwards.
        unsafe {
            sdl::render::SDL_DestroyRenderer(self.renderer.as_ptr());
            sdl::video::SDL_DestroyWindow(self.window.as_ptr());
        }
    }
}

fn rectangle(area: Area) -> SDL_FRect {
    SDL_FRect {
        x: area.x,
        y: area.y,
        w: area.width,
        h: area.height,
    }
}

/// Up to the first zero, which no text has.
fn c_string(text: &str) -> CString {
    let text = text.split('\0').next().unwrap_or_default();
    CString::new(text).unwrap_or_default()
}

/// The text on the clipboard, if there is any.
pub(crate) fn clipboard(_: &RawWindow) -> Option<String> {
    // SAFETY: the window system is in use, for there is a window, in this thread.
    let text = NonNull::new(unsafe { sdl::clipboard::SDL_GetClipboardText() })?;
    // SAFETY: a C string that is now ours.
    let copy = unsafe { CStr::from_ptr(text.as_ptr()) }
        .to_string_lossy()
        .into_owned();
    // SAFETY: SDL allocated it, and nothing uses it afterwards.
    unsafe { sdl::stdinc::SDL_free(text.as_ptr().cast()) };
    (!copy.is_empty()).then_some(copy)
}

pub(crate) fn set_clipboard(_: &mut RawWindow, text: &str) -> Result<(), Refusal> {
    let text = c_string(text);
    // SAFETY: as in `clipboard`; SDL copies the text.
    check(unsafe { sdl::clipboard::SDL_SetClipboardText(text.as_ptr()) })
}

/// Shows the cursor over the window, or hides it.
pub(crate) fn set_cursor(_: &mut RawWindow, is_shown: bool) {
    // SAFETY: as in `clipboard`.
    unsafe {
        if is_shown {
            sdl::mouse::SDL_ShowCursor();
        } else {
            sdl::mouse::SDL_HideCursor();
        }
    }
}

/// An open gamepad. It stays in its thread.
#[derive(Debug)]
pub(crate) struct RawGamepad(NonNull<SDL_Gamepad>);

impl RawGamepad {
    pub(crate) fn open(id: u32) -> Result<Self, Refusal> {
        // SAFETY: SDL refuses numbers that it does not know.
        let gamepad = unsafe { sdl::gamepad::SDL_OpenGamepad(SDL_JoystickID(id)) };
        NonNull::new(gamepad).map(Self).ok_or_else(Refusal::last)
    }

    pub(crate) fn is_pressed(&self, button: SDL_GamepadButton) -> bool {
        // SAFETY: it is open.
        unsafe { sdl::gamepad::SDL_GetGamepadButton(self.0.as_ptr(), button) }
    }

    pub(crate) fn axis(&self, axis: SDL_GamepadAxis) -> i16 {
        // SAFETY: it is open.
        unsafe { sdl::gamepad::SDL_GetGamepadAxis(self.0.as_ptr(), axis) }
    }

    /// Shakes it; not all can.
    pub(crate) fn rumble(&mut self, strong: u16, weak: u16, milliseconds: u32) {
        // SAFETY: it is open.
        unsafe { sdl::gamepad::SDL_RumbleGamepad(self.0.as_ptr(), strong, weak, milliseconds) };
    }
}

impl Drop for RawGamepad {
    fn drop(&mut self) {
        // SAFETY: it is open, and nothing uses it afterwards.
        unsafe { sdl::gamepad::SDL_CloseGamepad(self.0.as_ptr()) };
    }
}

/// Samples on their way to the loudspeaker.
#[derive(Debug)]
pub(crate) struct RawSpeaker {
    stream: NonNull<SDL_AudioStream>,
    // Ends after the other.
    _part: Part,
}

// SAFETY: SDL's functions for sound may be called from any thread.
unsafe impl Send for RawSpeaker {}

impl RawSpeaker {
    /// Begins to play whatever comes, of so many samples a second in so many channels.
    pub(crate) fn open(rate: c_int, channels: c_int) -> Result<Self, Refusal> {
        let part = Part::start(Kind::Sound)?;
        let format = SDL_AudioSpec {
            format: sdl::audio::SDL_AUDIO_S16,
            channels,
            freq: rate,
        };
        // SAFETY: sound is in use, SDL reads the format, and there is no function to call.
        let stream = unsafe {
            sdl::audio::SDL_OpenAudioDeviceStream(
                sdl::audio::SDL_AUDIO_DEVICE_DEFAULT_PLAYBACK,
                &raw const format,
                None,
                null_mut(),
            )
        };
        let stream = NonNull::new(stream).ok_or_else(Refusal::last)?;
        let speaker = Self {
            stream,
            _part: part,
        };
        // SAFETY: the stream is there.
        check(unsafe { sdl::audio::SDL_ResumeAudioStreamDevice(stream.as_ptr()) })?;
        Ok(speaker)
    }

    pub(crate) fn put(&mut self, samples: &[i16]) -> Result<(), Refusal> {
        let bytes = c_int::try_from(size_of_val(samples)).unwrap_or(c_int::MAX & !3);
        // SAFETY: the stream is there, and SDL copies so many bytes, of which there are
        // at least as many.
        check(unsafe {
            sdl::audio::SDL_PutAudioStreamData(self.stream.as_ptr(), samples.as_ptr().cast(), bytes)
        })
    }

    /// Bytes that wait to be taken by the system.
    pub(crate) fn waiting(&self) -> usize {
        // SAFETY: the stream is there.
        let bytes = unsafe { sdl::audio::SDL_GetAudioStreamQueued(self.stream.as_ptr()) };
        usize::try_from(bytes).unwrap_or_default()
    }

    pub(crate) fn clear(&mut self) {
        // SAFETY: the stream is there.
        unsafe { sdl::audio::SDL_ClearAudioStream(self.stream.as_ptr()) };
    }
}

impl Drop for RawSpeaker {
    fn drop(&mut self) {
        // SAFETY: it is there, and nothing uses it afterwards; its device goes with it.
        unsafe { sdl::audio::SDL_DestroyAudioStream(self.stream.as_ptr()) };
    }
}
