//! libx264 itself, loaded once where it is installed.
//!
//! Every change of libx264's interface gives it another build number, which is part of its file's
//! name and of one function's. The declarations are those of the header that this crate was built
//! with.

#![expect(unsafe_code, reason = "calls into C")]

use std::sync::OnceLock;

use mimosa_dynamic::{Absent, Library, Wanted};

/// The declarations that `build.rs` made.
#[allow(
    clippy::all,
    clippy::pedantic,
    clippy::undocumented_unsafe_blocks,
    dead_code,
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    unreachable_pub,
    unsafe_op_in_unsafe_fn,
    reason = "generated from the headers that are installed, whichever they are"
)]
pub(crate) mod c {
    include!(concat!(env!("OUT_DIR"), "/functions.rs"));
}

const LIBX264: Wanted = Wanted {
    name: "libx264",
    package: "Debian's libx264-164, or another package with one of these files",
};

/// Build numbers that differ in nothing but the constants for other processors, by their headers.
const ALIKE: [u32; 2] = [164, 165];

type Open = unsafe extern "C" fn(*mut c::x264_param_t) -> *mut c::x264_t;

/// libx264's functions.
pub(crate) struct Functions {
    pub(crate) all: c::Functions,
    /// `x264_encoder_open`, which the header gives the name of its build number.
    pub(crate) open: Open,
    /// The build number of the library that was loaded.
    pub(crate) build: u32,
}

impl std::fmt::Debug for Functions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "libx264 of build {}", self.build)
    }
}

/// The functions of the libx264 that is installed.
///
/// # Errors
///
/// [`Absent`] if there is none with which this crate was built.
pub(crate) fn functions() -> Result<&'static Functions, Absent> {
    static LOADED: OnceLock<Result<Functions, Absent>> = OnceLock::new();
    let loaded = LOADED.get_or_init(|| load(&builds(c::X264_BUILD)));
    loaded.as_ref().map_err(Clone::clone)
}

/// The build numbers that the declarations of build `header` fit.
fn builds(header: u32) -> Vec<u32> {
    let others = ALIKE.into_iter().filter(|_| ALIKE.contains(&header));
    let others = others.filter(|build| *build != header);
    std::iter::once(header).chain(others).collect()
}

fn load(builds: &[u32]) -> Result<Functions, Absent> {
    let files: Vec<_> = builds.iter().map(|it| format!("libx264.so.{it}")).collect();
    let (library, place) = LIBX264.load(&files)?;
    let build = builds.get(place).copied().unwrap_or_default();
    let open = opening(&library, build)?;
    // SAFETY: the declarations are those of a header with this interface.
    let all = unsafe { c::Functions::from_library(library) };
    let all = all.map_err(|error| LIBX264.absent(error))?;
    Ok(Functions { all, open, build })
}

fn opening(library: &Library, build: u32) -> Result<Open, Absent> {
    let name = format!("x264_encoder_open_{build}");
    // SAFETY: the header declares it as this.
    let symbol = unsafe { library.get::<Open>(name.as_bytes()) };
    symbol
        .map(|symbol| *symbol)
        .map_err(|error| LIBX264.absent(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_builds_that_are_alike_are_taken_for_each_other() {
        assert_eq!(builds(163), [163]);
        assert_eq!(builds(164), [164, 165]);
        assert_eq!(builds(165), [165, 164]);
    }

    #[test]
    fn a_build_that_nobody_has_is_named() {
        let error = load(&[1]).map(|it| it.build).unwrap_err().to_string();
        assert!(error.contains("libx264.so.1: "), "{error}");
        assert!(error.contains("install Debian's libx264-"), "{error}");
    }
}
