//! Why `mimosa trace` could not do what was asked.

use std::path::PathBuf;

use mimosa_plot::PlotError;
use mimosa_trace::{EditError, ModelError, TooLong, TraceError, WriteError};

use crate::output::OutputError;
use crate::text::TextError;

/// Each says what is wrong, where, and what to do instead.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TraceCommandError {
    /// The trace cannot be read.
    #[error(transparent)]
    Read(#[from] TextError),
    /// It is no trace.
    #[error("{}:{}: {}", path.display(), source.line, source.problem)]
    Trace { path: PathBuf, source: TraceError },
    /// It has no statistics.
    #[error("{}: {source}", path.display())]
    TooLong { path: PathBuf, source: TooLong },
    /// It cannot be changed so.
    #[error("{}: {source}", path.display())]
    Edit { path: PathBuf, source: EditError },
    /// The format cannot hold it.
    #[error("cannot write {}: {source}", path.display())]
    Format { path: PathBuf, source: WriteError },
    /// The output cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// There is no such model, or it cannot do this.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// What a model made has no statistics.
    #[error(transparent)]
    Made(#[from] TooLong),
    /// The figure cannot be drawn.
    #[error(transparent)]
    Plot(#[from] PlotError),
    /// The numbers cannot be put into JSON.
    #[error("cannot write JSON: {0}")]
    Json(#[from] serde_json::Error),
}
