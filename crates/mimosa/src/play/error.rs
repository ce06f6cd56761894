//! Why `mimosa play` does not play.

use std::path::PathBuf;

/// Why `mimosa play` does not play.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlayError {
    #[error("cannot start the log: {0}")]
    Log(String),
    #[error(transparent)]
    Client(#[from] mimosa_client::PlayError),
    #[error("{}: {error}", file.display())]
    Write {
        file: PathBuf,
        #[source]
        error: std::io::Error,
    },
    #[error("no picture was seen: {end}")]
    NoPicture { end: String },
}
