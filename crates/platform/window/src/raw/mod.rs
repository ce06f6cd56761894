//! A safe interface to SDL's functions.
//!
//! Callers pass plain numbers and get plain numbers; SDL's pointers stay in this folder.

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
pub(crate) use events::{FingerPhase, Modifiers, RawEvent, next, register_wake, wake};
pub(crate) use window::{RawWindow, Shape, clipboard, set_clipboard, set_cursor};

/// SDL's message about a call that failed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Refusal(String);

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Refusal {
    /// The message about the last call that failed in this thread.
    fn last() -> Self {
        // SAFETY: a C string of this thread's, never null.
        let text = unsafe { CStr::from_ptr(sdl::error::SDL_GetError()) };
        Self(text.to_string_lossy().into_owned())
    }
}

fn check(worked: bool) -> Result<(), Refusal> {
    if worked { Ok(()) } else { Err(Refusal::last()) }
}

/// The lock that lets one thread at a time start or end parts of SDL.
static STARTING: Mutex<()> = Mutex::new(());

/// A part of SDL.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SubsystemKind {
    /// The window system and its events.
    Windows,
    Gamepads,
    Sound,
}

impl SubsystemKind {
    const fn flags(self) -> SDL_InitFlags {
        match self {
            Self::Windows => SDL_InitFlags::VIDEO,
            Self::Gamepads => SDL_InitFlags::GAMEPAD,
            Self::Sound => SDL_InitFlags::AUDIO,
        }
    }
}

/// A part of SDL that is in use. Dropping this value ends it.
#[derive(Debug)]
pub(crate) struct Subsystem(SubsystemKind);

impl Subsystem {
    pub(crate) fn start(kind: SubsystemKind) -> Result<Self, Refusal> {
        let _one = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the function takes its arguments from any thread, and exists as long as
        // the program.
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

impl Drop for Subsystem {
    fn drop(&mut self) {
        let _one = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: it was started once for this, and the lock keeps others away.
        unsafe { sdl::init::SDL_QuitSubSystem(self.0.flags()) };
    }
}

const HINTS: [(*const c_char, &CStr); 4] = [
    // Ctrl+C is handled by the program, not by SDL.
    (sdl::hints::SDL_HINT_NO_SIGNAL_HANDLERS, c"1"),
    // A finger is not reported as a mouse as well, nor a mouse as a finger.
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

/// Whether this thread is the one in which SDL was first used.
pub(crate) fn is_main_thread() -> bool {
    // SAFETY: only compares.
    unsafe { sdl::init::SDL_IsMainThread() }
}

/// The text up to its first zero byte; no text has one.
fn c_string(text: &str) -> CString {
    let text = text.split('\0').next().unwrap_or_default();
    CString::new(text).unwrap_or_default()
}
