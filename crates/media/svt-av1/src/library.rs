//! SVT-AV1 itself, loaded once where it is installed.
//!
//! SVT-AV1's structures change between minor versions that share the name `libSvtAv1Enc.so.1`: 1.5
//! drops `compressed_ten_bit_format` from the middle of one. Only the minor version whose header
//! this crate was built with is used.

#![expect(unsafe_code, reason = "calls into C")]

use std::ffi::CStr;
use std::sync::OnceLock;

use mimosa_dynamic::{Absent, Wanted};

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

const SVT_AV1: Wanted = Wanted {
    name: "SVT-AV1",
    package: "Debian 12's libsvtav1enc1",
};

/// SVT-AV1's functions.
pub(crate) struct SvtAv1Library {
    pub(crate) functions: c::Functions,
    /// The version, e.g. `1.4.1`.
    pub(crate) version: String,
}

impl std::fmt::Debug for SvtAv1Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SVT-AV1 {}", self.version)
    }
}

/// The SVT-AV1 that is installed.
///
/// # Errors
///
/// [`Absent`] if there is none of the version that this crate was built with.
pub(crate) fn library() -> Result<&'static SvtAv1Library, Absent> {
    static LOADED: OnceLock<Result<SvtAv1Library, Absent>> = OnceLock::new();
    let built = (c::SVT_AV1_VERSION_MAJOR, c::SVT_AV1_VERSION_MINOR);
    LOADED
        .get_or_init(|| load(built))
        .as_ref()
        .map_err(Clone::clone)
}

/// Loads the library if its major and minor version are those of `built`.
fn load(built: (u32, u32)) -> Result<SvtAv1Library, Absent> {
    let (major, minor) = built;
    let (library, _) = SVT_AV1.load(&[format!("libSvtAv1Enc.so.{major}")])?;
    // SAFETY: the functions are declared as in a header with this major version. Those that
    // take structures are called only if the minor version is the same as well.
    let functions = unsafe { c::Functions::from_library(library) };
    let functions = functions.map_err(|error| SVT_AV1.absent(error))?;
    let version = version(&functions);
    if !is_of(&version, built) {
        return Err(SVT_AV1.absent(format_args!(
            "version {version} is installed, and this program was built for {major}.{minor}"
        )));
    }
    Ok(SvtAv1Library { functions, version })
}

/// The version of the library that is loaded, e.g. `1.4.1`.
fn version(functions: &c::Functions) -> String {
    // SAFETY: returns a string that is always there.
    let version = unsafe { functions.svt_av1_get_version() };
    if version.is_null() {
        return String::new();
    }
    // SAFETY: it ends with a zero and is never written to.
    let version = unsafe { CStr::from_ptr(version) };
    version.to_string_lossy().trim_start_matches('v').to_owned()
}

/// Whether `version`, e.g. `1.4.1` or `1.4.1-dirty`, has these major and minor numbers.
fn is_of(version: &str, (major, minor): (u32, u32)) -> bool {
    let mut numbers = version.split('.').map(str::parse::<u32>);
    numbers.next() == Some(Ok(major)) && numbers.next() == Some(Ok(minor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_minor_version_of_the_header_is_used() {
        assert!(is_of("1.4.1", (1, 4)) && is_of("1.4.1-dirty", (1, 4)));
        assert!(!is_of("1.7.0", (1, 4)) && !is_of("2.4.0", (1, 4)) && !is_of("", (1, 4)));
        let error = load((1, 99)).unwrap_err().to_string();
        assert!(
            error.contains("is installed, and this program was built for 1.99"),
            "{error}"
        );
    }
}
