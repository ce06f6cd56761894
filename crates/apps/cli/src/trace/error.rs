//! Errors of `mimosa trace`.

use std::path::PathBuf;

use mimosa_plot::PlotError;
use mimosa_trace::{EditError, ModelError, TooLong, TraceError, WriteError};

use crate::output::OutputError;
use crate::text::TextError;

/// Why `mimosa trace` failed. Each error says what is wrong, where, and what to do instead.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TraceCommandError {
    /// The trace cannot be read.
    #[error(transparent)]
    Read(#[from] TextError),
    /// The text is not a trace.
    #[error("{}:{}: {}", path.display(), source.line, source.problem)]
    Trace { path: PathBuf, source: TraceError },
    /// The trace is too long for statistics.
    #[error("{}: {source}", path.display())]
    TooLong { path: PathBuf, source: TooLong },
    /// The trace cannot be changed in this way.
    #[error("{}: {source}", path.display())]
    Edit { path: PathBuf, source: EditError },
    /// The format cannot hold the trace.
    #[error("cannot write {}: {source}", path.display())]
    Format { path: PathBuf, source: WriteError },
    /// The output cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// There is no such model, or it cannot make this trace.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The trace from a model is too long for statistics.
    #[error(transparent)]
    Made(#[from] TooLong),
    /// The figure cannot be drawn.
    #[error(transparent)]
    Plot(#[from] PlotError),
    /// The numbers cannot be put into JSON.
    #[error("cannot write JSON: {0}")]
    Json(#[from] serde_json::Error),
}
