//! The arguments of `mimosa emulate`.

use std::path::PathBuf;

use mimosa_units::TimeDelta;

/// The arguments; the tables are printed unless `--json` is among them.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Scenario files (TOML); the runs of several are told apart by their names.
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,

    /// Seed of the first run; without it each file's own.
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,

    /// Run this variant of each file alone; without it all of them.
    #[arg(long, value_name = "NAME")]
    pub(super) variant: Option<String>,

    /// Count only what happens from this time on, e.g. `3s`.
    #[arg(long, value_name = "T", default_value = "0s")]
    pub(super) from: TimeDelta,

    /// Count only what happens before this time.
    #[arg(long, value_name = "T")]
    pub(super) to: Option<TimeDelta>,

    /// Runs of each variant, each with the next seed.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) repeat: u64,

    /// Simulate the same runs, too, and print both side by side.
    #[arg(long)]
    pub(super) compare: bool,

    /// Print the tables as Markdown.
    #[arg(long, conflicts_with = "json")]
    pub(super) markdown: bool,

    /// Write one JSON object per run and line instead of printing the tables;
    /// `-` for standard output.
    #[arg(long, value_name = "OUT")]
    pub(super) json: Option<PathBuf>,
}
