//! `mimosa doctor`: checks what `mimosa serve` needs, and says what is missing and what to type.

mod certificate;
#[cfg(feature = "play")]
mod decoder;
mod encoder;
mod input;
#[cfg(feature = "lab")]
mod link;
mod machine;
mod network;
mod parts;
mod pictures;
mod report;
mod sound;

use std::process::ExitCode;

use mimosa_settings::{Flags, Settings, resolve};

use crate::serve::{self, ConfigFile, ServeError, State};
use report::{Finding, Report};

/// The arguments: those of `mimosa serve`, to look at the same settings.
#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// Print an array of objects with `check`, `state` (`ok`, `warning` or
    /// `missing`), `detail` and `remedy` (null when there is none).
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    serve: serve::Args,
}

/// Makes all checks and prints the findings. The exit code is a failure if `mimosa serve` cannot
/// run.
pub(crate) fn run(args: &Args) -> Result<ExitCode, String> {
    let mut report = Report::default();
    parts::look(&mut report);
    let settings = settings(args, &mut report)?;
    encoder::look(&settings, &mut report);
    #[cfg(feature = "play")]
    decoder::look(&mut report);
    pictures::look(&settings, &mut report);
    sound::look(&settings, &mut report);
    input::look(&settings, &mut report);
    network::look(&settings, &mut report);
    certificate::look(&settings, &mut report);
    machine::look(&settings, &mut report);
    #[cfg(feature = "lab")]
    link::look(&mut report);
    let text = if args.json {
        report.json().map_err(|error| error.to_string())?
    } else {
        report.text(std::io::IsTerminal::is_terminal(&std::io::stdout()))
    };
    crate::print(&text)?;
    Ok(if report.is_good() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Most lines about limits when a host starts: what is said first is read.
const MOST_LIMITS: usize = 3;

/// What limits a host with these settings on this machine, a line each, the most important first.
pub(crate) fn limits(settings: &Settings) -> Vec<String> {
    let mut report = Report::default();
    machine::look(settings, &mut report);
    input::look(settings, &mut report);
    report.warnings().take(MOST_LIMITS).collect()
}

/// The settings, or the defaults for all other checks if the settings are wrong.
fn settings(args: &Args, report: &mut Report) -> Result<Settings, String> {
    match told(args) {
        Ok((settings, place)) => {
            report.add(Finding::ok("settings", place));
            Ok(settings)
        }
        Err(error) => {
            let remedy = "correct it; until then, the defaults are looked at below";
            report.add(Finding::missing("settings", error.to_string(), remedy));
            resolve(None, Vec::new(), &Flags::default(), serve::checks())
                .map_err(|error| error.to_string())
        }
    }
}

/// The settings that `mimosa serve` would use, and the place of their file.
fn told(args: &Args) -> Result<(Settings, String), ServeError> {
    let file = args.serve.file()?;
    Ok((args.serve.settings(&file)?, place(&file)))
}

fn place(file: &ConfigFile) -> String {
    match (&file.path, &file.state) {
        (Some(path), State::Read(_)) => format!("{} is in order", path.display()),
        (Some(path), _) => format!("{} is created by `mimosa serve`", path.display()),
        (None, _) => "no file, as neither HOME nor XDG_CONFIG_HOME is an absolute path".to_owned(),
    }
}
