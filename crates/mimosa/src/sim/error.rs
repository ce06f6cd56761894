//! Why `mimosa sim` could not do what was asked.

use std::path::PathBuf;

use mimosa_sim::ScenarioError;
use mimosa_units::TimeDelta;

/// Each says what is wrong, where, and what to do instead.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SimError {
    /// The scenario file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    /// The scenario is wrong.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The part of the run to count is no part of the run.
    #[error("--from {from} --to {to} is no part of the run, which lasts {end}; let --from be before --to and --to at most {end}")]
    Window {
        from: TimeDelta,
        to: TimeDelta,
        end: TimeDelta,
    },
    /// A result cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        path: PathBuf,
        source: std::io::Error,
    },
    /// A result cannot be put into JSON.
    #[error("cannot write JSON: {0}")]
    Json(serde_json::Error),
}
