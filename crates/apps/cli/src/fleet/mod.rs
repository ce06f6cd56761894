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
    /// Measure how much faster a part of a study runs with more workers, on a machine that does nothing
    /// else.
    Scaling(Scaling),
}

/// The arguments of `mimosa fleet scaling`.
#[derive(clap::Args)]
struct Scaling {
    /// Study file (TOML).
    study: PathBuf,

    /// The numbers of workers to compare.
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values = ["1", "2"])]
    workers: Vec<NonZeroU32>,

    /// How many tasks, of four sessions each, are run with each number; without it 48.
    #[arg(long, value_name = "N")]
    tasks: Option<NonZeroU32>,

    /// How often all of that is repeated, in turn; without it 3 times.
    #[arg(long, value_name = "N")]
    repeats: Option<NonZeroU32>,
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
            words.extend(numbered("--workers=", run.workers));
            words.extend(["--".into(), run.study.as_os_str().to_owned()]);
            words
        }
        Command::Scaling(scaling) => {
            let workers: Vec<_> = scaling.workers.iter().map(NonZeroU32::to_string).collect();
            let mut words = vec!["scaling".into(), joined("--workers=", workers.join(","))];
            words.extend(numbered("--tasks=", scaling.tasks));
            words.extend(numbered("--repeats=", scaling.repeats));
            words.extend(["--".into(), scaling.study.as_os_str().to_owned()]);
            words
        }
    }
}

/// An option and its number, if there is one.
fn numbered(option: &str, number: Option<NonZeroU32>) -> Option<OsString> {
    number.map(|number| joined(option, number.to_string()))
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
            words_of("fleet run --workers 3 --cluster ray://a:1 --out=-x -- -study"),
            [
                "run",
                "--cluster=ray://a:1",
                "--out=-x",
                "--workers=3",
                "--",
                "-study"
            ]
        );
        assert_eq!(
            words_of("fleet scaling s.toml"),
            ["scaling", "--workers=1,2", "--", "s.toml"]
        );
        assert_eq!(
            words_of("fleet scaling s.toml --workers 1,4 --tasks 9 --repeats 2"),
            [
                "scaling",
                "--workers=1,4",
                "--tasks=9",
                "--repeats=2",
                "--",
                "s.toml"
            ]
        );
        assert_eq!(words_of("fleet analyse out"), ["analyse", "--", "out"]);
    }

    #[test]
    fn no_worker_at_all_is_refused() {
        assert!(Alone::try_parse_from(["fleet", "run", "a", "--workers", "0"]).is_err());
    }
}
