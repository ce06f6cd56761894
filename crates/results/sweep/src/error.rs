//! Why a suite could not be run to its end, or its runs not be kept.

use std::error::Error;
use std::path::PathBuf;

use mimosa_lab::SuiteError;
use mimosa_plot::PlotError;

/// Each says what is wrong, where, and what to do instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SweepError {
    /// The suite has not what was chosen, or a controller from outside the program failed.
    #[error(transparent)]
    Suite(#[from] SuiteError),
    /// The store was opened for another suite, or for this one with other parameters.
    #[error(
        "these runs are kept for a suite of digest {kept:016x}, and {suite} has {digest:016x}; \
         open the store after the last change of the suite"
    )]
    OtherSuite {
        /// The suite that was to be run.
        suite: String,
        /// The digest of the suite that was to be run.
        digest: u64,
        /// The digest of the suite that the store was opened for.
        kept: u64,
    },
    /// An output was refused or could not be written, in the words of
    /// [`Outputs`](crate::Outputs).
    #[error(transparent)]
    Output(Box<dyn Error + Send + Sync>),
    /// A run is done and could not be added to the kept ones.
    #[error(
        "cannot write {}: {source}; the runs before this one are kept: make room and start again",
        path.display()
    )]
    Keep {
        /// The file of the kept runs.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The results have no folder.
    #[error(
        "cannot make a folder for {}: {source}; name a folder that can be written to",
        path.display()
    )]
    Folder {
        /// The result that was to be written.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A record has no form in JSON, which is a mistake of the suite's measurements.
    #[error("cannot write JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A figure cannot be drawn.
    #[error(transparent)]
    Plot(#[from] PlotError),
}
