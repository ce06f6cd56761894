//! Why a clip was not encoded.

use std::path::PathBuf;

use mimosa_quality::Y4mError;

use crate::output::OutputError;

/// Why a clip was not encoded. Each error says what is wrong, where, and what to do instead.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EncodeCommandError {
    /// The clip cannot be read.
    #[error("cannot read {}: {source}; name a .y4m file", path.display())]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    /// The file is not a clip.
    #[error("{}: {source}", path.display())]
    Clip { path: PathBuf, source: Y4mError },
    /// The clip has a size that cannot be encoded.
    #[error("{}: {source}", path.display())]
    Size {
        path: PathBuf,
        source: mimosa_video::BadSize,
    },
    /// The clip has no frames.
    #[error("{} has no frame", path.display())]
    NoFrames { path: PathBuf },
    /// The folder for the output cannot be made.
    #[error("cannot make the folder {}: {source}; name another with --output", path.display())]
    Folder {
        path: PathBuf,
        source: std::io::Error,
    },
    /// The output cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The encoder failed.
    #[error("frame {frame}: {reason}")]
    Encoder { frame: u64, reason: String },
    /// The summary cannot be printed.
    #[error("cannot print the summary: {0}")]
    Json(#[from] serde_json::Error),
}
