//! `mimosa fleet`: studies of many users' sessions, which the Python package `mimosa_lab` runs.
//!
//! The command becomes that package's: once a Python is found that has all of it, this process is
//! replaced, so that signals reach the study itself, and its exit code is this command's.

mod python;

use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::PathBuf;

use self::python::{FleetError, Python};

/// The subcommands for fleets.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The Python that has the package `mimosa_lab`; without it the one that `MIMOSA_PYTHON`
    /// names, or `python3`.
    #[arg(long, value_name = "PROGRAM", global = true)]
    python: Option<PathBuf>,

    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Run a study, or what is left of it, and write the page of its analysis.
    Run(Run),
    /// Write the page of the sessions that a folder has.
    Analyse {
        /// Folder of the sessions.
        folder: PathBuf,
    },
}

/// The arguments of `mimosa fleet run`.
#[derive(clap::Args)]
struct Run {
    /// Study file (TOML).
    study: PathBuf,

    /// Folder of the sessions and of the page; without it `fleet-results/` and the study's name.
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,

    /// Where the sessions are run: `local`, or the address of a cluster of Ray, such as
    /// `ray://HEAD:10001`.
    #[arg(long, value_name = "ADDRESS", default_value = "local")]
    cluster: String,

    /// How many tasks run at once; without it as many as there are cores.
    #[arg(long, value_name = "N")]
    workers: Option<NonZeroU32>,
}

/// Becomes the package's command; returns only where that is impossible.
pub(crate) fn run(args: &Args) -> Result<(), FleetError> {
    let python = Python::find(args.python.as_deref())?;
    match python.become_fleet(&words(&args.command))? {}
}

/// The arguments of the package's command.
fn words(command: &Command) -> Vec<OsString> {
    match command {
        Command::Analyse { folder } => vec!["analyse".into(), "--".into(), folder.into()],
        Command::Run(run) => {
            let mut words = vec!["run".into(), joined("--cluster=", &run.cluster)];
            words.extend(run.out.as_ref().map(|out| joined("--out=", out)));
            let workers = run.workers.map(|workers| workers.to_string());
            words.extend(workers.map(|workers| joined("--workers=", workers)));
            words.extend(["--".into(), run.study.as_os_str().to_owned()]);
            words
        }
    }
}

/// An option and its value in one word, which is no other option whatever the value begins with.
fn joined(option: &str, value: impl Into<OsString>) -> OsString {
    let mut word = OsString::from(option);
    word.push(value.into());
    word
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Alone {
        #[command(flatten)]
        args: Args,
    }

    fn words_of(line: &str) -> Vec<OsString> {
        let alone = Alone::try_parse_from(line.split(' ')).map_err(|error| error.to_string());
        words(
            &alone
                .unwrap_or_else(|error| panic!("{line}: {error}"))
                .args
                .command,
        )
    }

    #[test]
    fn every_argument_is_passed_on() {
        assert_eq!(
            words_of("fleet run study.toml"),
            ["run", "--cluster=local", "--", "study.toml"]
        );
        assert_eq!(
            words_of("fleet run --workers 3 --cluster ray://a:1 --out -x -- -study"),
            [
                "run",
                "--cluster=ray://a:1",
                "--out=-x",
                "--workers=3",
                "--",
                "-study"
            ]
        );
        assert_eq!(words_of("fleet analyse out"), ["analyse", "--", "out"]);
    }

    #[test]
    fn no_worker_at_all_is_refused() {
        assert!(Alone::try_parse_from(["fleet", "run", "a", "--workers", "0"]).is_err());
    }
}
