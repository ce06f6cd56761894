//! GStreamer itself, loaded once where it is installed.
//!
//! | file | what |
//! |---|---|
//! | `functions` | the functions of C that are called, and structures that they share |
//! | `object` | [`Object`]: an element, or a pipeline of elements |
//! | `stream` | pictures into a pipeline, frames and errors out of it |
//! | `tap` | what tests do to buffers on their way |

#![expect(unsafe_code, reason = "calls into C")]

mod functions;
mod object;
mod stream;
#[cfg(test)]
mod tap;

use std::ffi::{CStr, CString, c_char};
use std::ptr;
use std::sync::OnceLock;

use mimosa_dynamic::{Absent, Wanted};

use self::functions::{Error, Functions};
pub(crate) use self::object::{Object, State};
pub(crate) use self::stream::Piece;
#[cfg(test)]
pub(crate) use self::tap::Passing;

const GSTREAMER: Wanted = Wanted {
    name: "GStreamer",
    package: "Debian's gstreamer1.0-plugins-base and gstreamer1.0-plugins-bad",
};

/// The library of pipelines that a program feeds. It links all others whose functions are called.
const FILE: &str = "libgstapp-1.0.so.0";

/// The reason why GStreamer cannot be used.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NotStarted {
    /// GStreamer is not installed.
    #[error(transparent)]
    Absent(#[from] Absent),
    /// GStreamer is installed, and refuses.
    #[error("GStreamer does not start: {0}")]
    Refused(String),
}

/// GStreamer, started.
#[derive(Clone, Copy)]
pub(crate) struct Library(&'static Functions);

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("GStreamer")
    }
}

/// Loads and starts GStreamer, once.
///
/// # Errors
///
/// [`NotStarted`] if it is not installed or does not start.
pub(crate) fn start() -> Result<Library, NotStarted> {
    static STARTED: OnceLock<Result<Functions, NotStarted>> = OnceLock::new();
    let started = STARTED.get_or_init(|| {
        let (library, _) = GSTREAMER.load(&[FILE.to_owned()])?;
        let functions = Functions::of(&library).map_err(|error| GSTREAMER.absent(error))?;
        // Its threads run until the process ends.
        std::mem::forget(library);
        initialise(&functions).map_err(NotStarted::Refused)?;
        Ok(functions)
    });
    started.as_ref().map(Library).map_err(Clone::clone)
}

fn initialise(functions: &Functions) -> Result<(), String> {
    let mut error = ptr::null_mut();
    // SAFETY: no arguments of a command line are given; an error is written where it may be.
    let has_started =
        unsafe { (functions.gst_init_check)(ptr::null_mut(), ptr::null_mut(), &raw mut error) };
    if has_started == 0 {
        return Err(taken(functions, error));
    }
    Ok(())
}

/// The message of an error, which is freed.
fn taken(functions: &Functions, error: *mut Error) -> String {
    if error.is_null() {
        return "it gave no reason".to_owned();
    }
    // SAFETY: an error that GLib has given to this program, whose message ends with a zero; nobody else has it.
    unsafe {
        let message = CStr::from_ptr((*error).message).to_string_lossy();
        let message = message.into_owned();
        (functions.g_error_free)(error);
        message
    }
}

/// A text that `GLib` has given to this program, which is freed; `None` for none.
fn text(functions: &Functions, text: *mut c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: a text that ends with a zero, and that nobody else has.
    unsafe {
        let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
        (functions.g_free)(text.cast());
        Some(copy)
    }
}

/// A text as C has it. No name, setting or caps of this crate has a zero in it; one that has ends there.
fn c(text: &str) -> CString {
    let until = text.split('\0').next().unwrap_or_default();
    CString::new(until).unwrap_or_default()
}

impl Library {
    /// The version: major, minor, micro.
    pub(crate) fn version(self) -> [u32; 3] {
        let [mut major, mut minor, mut micro, mut nano] = [0; 4];
        // SAFETY: four numbers are written.
        unsafe {
            (self.0.gst_version)(
                &raw mut major,
                &raw mut minor,
                &raw mut micro,
                &raw mut nano,
            );
        }
        [major, minor, micro]
    }

    /// Whether an element of this name is registered.
    pub(crate) fn has(self, element: &str) -> bool {
        let name = c(element);
        // SAFETY: a text that ends with a zero; what is found is given back.
        unsafe {
            let found = (self.0.gst_element_factory_find)(name.as_ptr());
            if !found.is_null() {
                (self.0.gst_object_unref)(found);
            }
            !found.is_null()
        }
    }
}
