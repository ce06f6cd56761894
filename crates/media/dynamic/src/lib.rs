//! Foreign libraries that are loaded where they are installed, and named where they are not.
//!
//! A program that links a library does not start where the library is missing. A program that
//! loads it starts everywhere, and says what to install when the library is needed.

#![expect(unsafe_code, reason = "loading a library runs its code")]

pub use libloading::Library;

/// A foreign library, under the names that its files may have.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The library's name for people, e.g. `libx264`.
    pub name: &'static str,
    /// The packages that have it, as the end of a sentence, e.g. `Debian's libx264-164`.
    pub package: &'static str,
}

/// The reason why a library cannot be used.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{name} cannot be loaded ({reason}); install {package}")]
pub struct Absent {
    name: &'static str,
    package: &'static str,
    reason: String,
}

impl Wanted {
    /// Loads the first of `files` that is there, and returns it with its place in `files`. Each is
    /// the name of a file with its version (`libx264.so.164`), which the system's loader looks up
    /// where it finds all libraries.
    ///
    /// # Errors
    ///
    /// [`Absent`] with the loader's message about each file.
    pub fn load(self, files: &[String]) -> Result<(Library, usize), Absent> {
        let mut reasons = Vec::new();
        for (place, file) in files.iter().enumerate() {
            // SAFETY: the library's initialisers run. They are those of the library that the
            // system has under this name, which would run at the start if it were linked.
            match unsafe { Library::new(file) } {
                Ok(library) => return Ok((library, place)),
                Err(error) => reasons.push(error.to_string()),
            }
        }
        Err(self.absent(reasons.join("; ")))
    }

    /// The error for a library that is there and cannot be used, with what is wrong.
    #[must_use]
    pub fn absent(self, reason: impl std::fmt::Display) -> Absent {
        Absent {
            name: self.name,
            package: self.package,
            reason: reason.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTED: Wanted = Wanted {
        name: "libnone",
        package: "Debian's libnone1",
    };

    #[test]
    fn the_first_that_is_there_is_loaded() {
        let files = ["libnone.so.9", "libc.so.6", "libm.so.6"].map(str::to_owned);
        let (_, place) = WANTED.load(&files).unwrap();
        assert_eq!(place, 1);
    }

    #[test]
    fn what_is_missing_is_named_with_what_to_install() {
        let files = ["libnone.so.9", "libnone.so.8"].map(str::to_owned);
        let error = WANTED.load(&files).unwrap_err().to_string();
        assert!(
            error.starts_with("libnone cannot be loaded (libnone.so.9: ")
                && error.contains("; libnone.so.8: ")
                && error.ends_with("; install Debian's libnone1"),
            "{error}"
        );
    }
}
