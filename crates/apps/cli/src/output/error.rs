//! Why an output cannot be written.

use std::path::PathBuf;

/// Why an output cannot be written. Each error says what is wrong, where, and what to do instead.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OutputError {
    /// The output would replace an input.
    #[error("an output would replace the {what} {}; give it a file of its own", input.display())]
    ReplacesInput {
        /// What the input is, in words.
        what: &'static str,
        input: PathBuf,
    },
    /// Two outputs have the same path.
    #[error("two outputs go to {}; give each a file of its own", path.display())]
    Twice { path: PathBuf },
    /// The file exists, and must not be replaced.
    #[error("{} is there already; name another file, or write over it with --force", path.display())]
    Exists { path: PathBuf },
    /// The file cannot be created, which is found before anything runs.
    #[error("cannot write {}: {source}; name a file in a folder that exists and can be written to", path.display())]
    Create {
        path: PathBuf,
        source: std::io::Error,
    },
    /// Another command is writing the file.
    #[error("another command is writing {}; wait for it, or name another file", path.display())]
    Busy { path: PathBuf },
    /// Writing the file failed.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        path: PathBuf,
        source: std::io::Error,
    },
}
