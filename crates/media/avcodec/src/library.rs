//! libavcodec itself, loaded once where it is installed.

#![expect(unsafe_code, reason = "calls into C")]

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

use mimosa_dynamic::{Absent, Library, Wanted};

use crate::layout::{Frame, Layout, Packet};

const LIBAVCODEC: Wanted = Wanted {
    name: "libavcodec",
    package: "Debian 12's libavcodec59, Debian 13's libavcodec61, or another of FFmpeg 4.3 to 9.0",
};

/// libavcodec's major versions in FFmpeg 9, 8, 7, 6, 5 and 4, whose functions and structures are
/// as declared here.
const MAJORS: [u32; 6] = [63, 62, 61, 60, 59, 58];

/// An `AVCodec`, of which nothing is known here.
#[repr(C)]
pub(crate) struct Codec([u8; 0]);

/// An `AVCodecContext`, whose settings are made by name.
#[repr(C)]
pub(crate) struct Context([u8; 0]);

/// Declares [`Functions`], and how they are found in a library.
macro_rules! functions {
    ($($name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// libavcodec's functions, and those of the libavutil that comes with it.
        pub(crate) struct Functions {
            $(pub(crate) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
            pub(crate) layout: Layout,
            _library: Library,
        }

        impl Functions {
            fn find(library: Library, layout: Layout) -> Result<Self, Absent> {
                Ok(Self {
                    // SAFETY: FFmpeg's headers of all these versions declare it as this.
                    $($name: *unsafe { library.get(concat!(stringify!($name), "\0").as_bytes()) }
                        .map_err(|error| LIBAVCODEC.absent(error))?,)*
                    layout,
                    _library: library,
                })
            }
        }
    };
}

functions! {
    av_frame_alloc: fn() -> *mut Frame;
    av_frame_free: fn(*mut *mut Frame);
    av_log_set_level: fn(c_int);
    av_new_packet: fn(*mut Packet, c_int) -> c_int;
    av_opt_set: fn(*mut c_void, *const c_char, *const c_char, c_int) -> c_int;
    av_opt_set_int: fn(*mut c_void, *const c_char, i64, c_int) -> c_int;
    av_packet_alloc: fn() -> *mut Packet;
    av_packet_free: fn(*mut *mut Packet);
    av_packet_unref: fn(*mut Packet);
    av_strerror: fn(c_int, *mut c_char, usize) -> c_int;
    avcodec_alloc_context3: fn(*const Codec) -> *mut Context;
    avcodec_find_decoder_by_name: fn(*const c_char) -> *const Codec;
    avcodec_free_context: fn(*mut *mut Context);
    avcodec_open2: fn(*mut Context, *const Codec, *mut *mut c_void) -> c_int;
    avcodec_receive_frame: fn(*mut Context, *mut Frame) -> c_int;
    avcodec_send_packet: fn(*mut Context, *const Packet) -> c_int;
}

impl std::fmt::Debug for Functions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("libavcodec")
    }
}

/// The functions of the libavcodec that is installed, the newest one first.
///
/// # Errors
///
/// [`Absent`] if there is none whose structures are known.
pub(crate) fn functions() -> Result<&'static Functions, Absent> {
    static LOADED: OnceLock<Result<Functions, Absent>> = OnceLock::new();
    LOADED
        .get_or_init(|| load(&MAJORS))
        .as_ref()
        .map_err(Clone::clone)
}

fn load(majors: &[u32]) -> Result<Functions, Absent> {
    let files: Vec<_> = majors
        .iter()
        .map(|major| format!("libavcodec.so.{major}"))
        .collect();
    let (library, _) = LIBAVCODEC.load(&files)?;
    // libavutil is among what libavcodec links, and found through it.
    // SAFETY: FFmpeg's headers declare it as this.
    let version = unsafe { library.get::<unsafe extern "C" fn() -> c_uint>(b"avutil_version\0") }
        .map(|version| *version)
        .map_err(|error| LIBAVCODEC.absent(error))?;
    // SAFETY: returns a number.
    let major = unsafe { version() } >> 16;
    let layout = Layout::of(major)
        .ok_or_else(|| LIBAVCODEC.absent(format_args!("libavutil {major} is not known")))?;
    Functions::find(library, layout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_that_nobody_has_is_named() {
        let error = load(&[1, 2]).unwrap_err().to_string();
        assert!(
            error.contains("libavcodec.so.1: ")
                && error.contains("install Debian 12's libavcodec59"),
            "{error}"
        );
    }
}
