//! Why `mimosa sim` could not do what was asked.

use std::path::PathBuf;

use mimosa_plot::PlotError;
use mimosa_record::RecordError;
use mimosa_sim::ScenarioError;
use mimosa_units::TimeDelta;

/// Each says what is wrong, where, and what to do instead.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SimError {
    /// The scenario file cannot be read.
    #[error("cannot read {}: {source}; name a scenario file, such as scenarios/steps.toml", path.display())]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    /// The scenario is wrong.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The file has variants, but not this one.
    #[error("{} has no variant `{name}`; {known}", path.display())]
    NoVariant {
        path: PathBuf,
        name: String,
        known: String,
    },
    /// The part of the run to count is no part of the run.
    #[error(
        "--from {from} --to {to} is no part of the run, which lasts {end}; let --from be before --to and --to at most {end}"
    )]
    Window {
        from: TimeDelta,
        to: TimeDelta,
        end: TimeDelta,
    },
    /// Two results would go to one file.
    #[error("two outputs go to {}; give each a file of its own", path.display())]
    SameFile { path: PathBuf },
    /// A result would have no place. Found out before anything runs.
    #[error("cannot create {}: {source}; name a file in a folder that exists and can be written to", path.display())]
    Create {
        path: PathBuf,
        source: std::io::Error,
    },
    /// A result cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        path: PathBuf,
        source: std::io::Error,
    },
    /// A recording cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Record { path: PathBuf, source: RecordError },
    /// The figure cannot be drawn.
    #[error(transparent)]
    Plot(#[from] PlotError),
    /// A result cannot be put into JSON.
    #[error("cannot write JSON: {0}")]
    Json(#[from] serde_json::Error),
}
