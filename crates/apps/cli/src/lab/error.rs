//! Errors of `mimosa lab`.

use std::path::PathBuf;

use mimosa_lab::SuiteError;
use mimosa_plot::PlotError;

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
    /// A result cannot be put into JSON.
    #[error("cannot write JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A figure cannot be drawn.
    #[error(transparent)]
    Plot(#[from] PlotError),
    /// The results or the list cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
}
