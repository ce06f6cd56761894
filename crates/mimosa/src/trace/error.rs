//! Why `mimosa trace` could not do what was asked.

use std::path::PathBuf;

use mimosa_plot::PlotError;
use mimosa_trace::{EditError, ModelError, TooLong, TraceError, WriteError};

/// Each says what is wrong, where, and what to do instead.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TraceCommandError {
    /// The trace cannot be read.
    #[error("cannot read {}: {source}; name a trace file, such as traces/wifi.txt", path.display())]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
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
    /// The output is there already.
    #[error("{} is there already; name another file, or write over it with --force", path.display())]
    Exists { path: PathBuf },
    /// The output cannot be written.
    #[error("cannot write {}: {source}; name a file in a folder that exists and can be written to", path.display())]
    Write {
        path: PathBuf,
        source: std::io::Error,
    },
    /// The figure would replace a trace.
    #[error("the figure would replace the trace {}; give it a file of its own with --plot", path.display())]
    SameFile { path: PathBuf },
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
