//! `mimosa link`: an emulated link between two hosts on this machine.

mod args;
mod control;
mod error;
mod hold;
mod log;
mod network;
mod place;
mod run;
mod status;
mod work;

use std::process::ExitCode;

pub(crate) use args::Args;
use args::Command;
use error::CliError;
use mimosa_link::{Translation, may_make_devices};

/// Runs a subcommand. The process must have only one thread at this point.
pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    if may_make_devices() {
        // Removes what killed links have left.
        Translation::clean(place::is_there);
    }
    match &args.command {
        Command::Run(args) => run::run(args),
        Command::Up(args) => hold::up(args),
        Command::Hold(args) => hold::hold(args),
        Command::Down(args) => hold::down(args),
        Command::Exec(args) => hold::exec(args),
        Command::Status(args) => status::run(args),
        Command::Set(args) => control::set(args),
    }
}
