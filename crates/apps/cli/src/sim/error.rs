//! Errors of `mimosa sim`.

use std::path::PathBuf;

use mimosa_plot::PlotError;
use mimosa_record::RecordError;
use mimosa_scenario::ScenarioError;
use mimosa_sim::ControllerFailed;
use mimosa_units::TimeDelta;

use crate::output::OutputError;
use crate::text::TextError;

/// Why `mimosa sim` failed. Each error says what is wrong, where, and what to do instead.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SimError {
    /// The scenario file cannot be read.
    #[error(transparent)]
    Read(#[from] TextError),
    /// The scenario is wrong.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A controller from outside the program failed.
    #[error("seed {seed}, {failed}")]
    Controller { seed: u64, failed: ControllerFailed },
    /// The file has variants, but not this one.
    #[error("{} has no variant `{name}`; {known}", path.display())]
    NoVariant {
        path: PathBuf,
        name: String,
        known: String,
    },
    /// The window is not within the run.
    #[error(
        "--from {from} --to {to} is no part of the run, which lasts {end}; let --from be before --to and --to at most {end}"
    )]
    Window {
        from: TimeDelta,
        to: TimeDelta,
        end: TimeDelta,
    },
    /// A result cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
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
