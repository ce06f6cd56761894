//! Errors of `mimosa lab`.

use std::path::PathBuf;

use mimosa_lab::SuiteError;
use mimosa_sweep::SweepError;

use crate::output::OutputError;

/// Why `mimosa lab` failed. Each error says what is wrong, where, and what to do instead.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LabError {
    /// The name is neither a suite nor a folder.
    #[error("there is no suite `{name}`; there is {known}, or name a folder with a suite.toml")]
    UnknownSuite { name: String, known: String },
    /// The suite is wrong, or lacks what was asked for.
    #[error(transparent)]
    Suite(#[from] SuiteError),
    /// A controller of `--controller` does not begin.
    #[error("--controller: {0}")]
    Controller(String),
    /// The folder of traces cannot be listed.
    #[error("cannot read --traces {}: {source}; name a folder of traces", path.display())]
    Traces {
        path: PathBuf,
        source: std::io::Error,
    },
    /// The folder of traces is empty.
    #[error("--traces {} holds no file; name a folder of traces", path.display())]
    NoTraces { path: PathBuf },
    /// The folder for the results cannot be made.
    #[error("cannot write {}: {source}; name another folder with --output", path.display())]
    Folder {
        path: PathBuf,
        source: std::io::Error,
    },
    /// The suite cannot be run, or its results not be written.
    #[error(transparent)]
    Sweep(SweepError),
    /// A line of the runs, the list or the number of runs cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
}

impl From<SweepError> for LabError {
    /// In the words of the command line, which has options and outputs of its own.
    fn from(error: SweepError) -> Self {
        match error {
            SweepError::Folder { path, source } => Self::Folder { path, source },
            SweepError::Keep { path, source } => OutputError::Write { path, source }.into(),
            error => Self::Sweep(error),
        }
    }
}
