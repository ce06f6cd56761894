//! Why an output cannot be written.

use std::path::PathBuf;

/// Each says what is wrong, where, and what to do instead.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OutputError {
    /// An input would be lost.
    #[error("an output would replace the {what} {}; give it a file of its own", input.display())]
    ReplacesInput {
        /// What the input is.
        what: &'static str,
        input: PathBuf,
    },
    /// One of two outputs would be lost.
    #[error("two outputs go to {}; give each a file of its own", path.display())]
    Twice { path: PathBuf },
    /// It is there already, and must not be replaced.
    #[error("{} is there already; name another file, or write over it with --force", path.display())]
    Exists { path: PathBuf },
    /// It has no place. Found out before anything runs.
    #[error("cannot write {}: {source}; name a file in a folder that exists and can be written to", path.display())]
    Create {
        path: PathBuf,
        source: std::io::Error,
    },
    /// Two commands at once.
    #[error("another command is writing {}; wait for it, or name another file", path.display())]
    Busy { path: PathBuf },
    /// It cannot be written to its end.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        path: PathBuf,
        source: std::io::Error,
    },
}
