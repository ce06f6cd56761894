//! SDL's functions made safe.
//!
//! Callers pass plain numbers and get plain numbers; SDL's pointers stay in here.

#![expect(unsafe_code, reason = "calls into C")]

mod devices;
mod events;
mod window;

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};

use sdl::init::SDL_InitFlags;
use sdl3_sys as sdl;

#[cfg(test)]
pub(crate) use devices::VirtualGamepad;
pub(crate) use devices::{RawGamepad, RawSpeaker};
pub(crate) use events::{FingerPhase, Happened, Modifiers, next, register_wake, wake};
pub(crate) use window::{RawWindow, Shape, clipboard, set_clipboard, set_cursor};

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

const HINTS: [(*const c_char, &CStr); 4] = [
    // What Ctrl+C does is the program's business.
    (sdl::hints::SDL_HINT_NO_SIGNAL_HANDLERS, c"1"),
    // A finger is not also a mouse, and a mouse not a finger.
    (sdl::hints::SDL_HINT_TOUCH_MOUSE_EVENTS, c"0"),
    (sdl::hints::SDL_HINT_MOUSE_TOUCH_EVENTS, c"0"),
    (sdl::hints::SDL_HINT_APP_NAME, c"Mimosa"),
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

/// Up to the first zero, which no text has.
fn c_string(text: &str) -> CString {
    let text = text.split('\0').next().unwrap_or_default();
    CString::new(text).unwrap_or_default()
}
