//! The arguments of `mimosa lab`.

use std::path::PathBuf;

use crate::sim::Seeds;

/// The subcommands for suites.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(clap::Subcommand)]
pub(super) enum Command {
    /// Print the suites and their cases.
    List,
    /// Run a suite; what a stopped run has done is not done again.
    Run(Run),
}

/// The arguments of `mimosa lab run`.
#[derive(clap::Args)]
pub(super) struct Run {
    /// A suite of `mimosa lab list`, or a folder with a `suite.toml`.
    pub(super) suite: String,

    /// The controller of the video flows that name none, or `wasm:FILE` or `process:COMMAND`;
    /// again for several. Without it the suite's, or every controller but `fixed`.
    #[arg(long = "controller", value_name = "NAME")]
    pub(super) controllers: Vec<String>,

    /// Run this case alone; again for several.
    #[arg(long = "case", value_name = "NAME")]
    pub(super) cases: Vec<String>,

    /// A parameter in place of the suite's, `mimosa.pull=0.05`; again for several.
    #[arg(long = "params", value_name = "CONTROLLER.KEY=VALUE")]
    pub(super) params: Vec<String>,

    /// Seeds to run, both ends included; without it the suite's.
    #[arg(long, value_name = "A..B")]
    pub(super) seeds: Option<Seeds>,

    /// Take the traces in this folder and those below it instead of the suite's.
    #[arg(long, value_name = "DIR")]
    pub(super) traces: Option<PathBuf>,

    /// Where the results go; without it `lab-results/` and the suite's name.
    #[arg(long, value_name = "DIR")]
    pub(super) output: Option<PathBuf>,

    /// Start the processes that the suite names as controllers: `process:COMMAND` can do all
    /// that you can.
    #[arg(long)]
    pub(super) allow_processes: bool,

    /// Forget what an earlier run has done.
    #[arg(long)]
    pub(super) fresh: bool,
}
