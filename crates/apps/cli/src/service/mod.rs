//! `mimosa service`: `mimosa serve` as a service of the user who is logged in, by systemd.

mod unit;

use std::fmt::Write;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Subcommand;

use crate::serve::config_folder;

/// The name of the unit.
const NAME: &str = "mimosa.service";

/// What to do with the service.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Start `mimosa serve` now and whenever this user logs in. It reads its settings file; this
    /// program must stay where it is.
    Install,
    /// Stop the service and remove what `install` has made.
    Uninstall,
    /// Print whether the service is there, and whether it runs.
    Status,
}

/// Why the service cannot be changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServiceError {
    #[error(
        "neither HOME nor XDG_CONFIG_HOME is an absolute path, so there is no place for the service"
    )]
    NoFolder,
    #[error("the path of this program cannot be used in a service: {0}")]
    Program(String),
    #[error("{path}: {source}")]
    File {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error(
        "{0} is there, and `mimosa service install` did not write it: remove it first, or use `systemctl --user`"
    )]
    NotOurs(PathBuf),
    #[error(
        "systemd does not manage this user's services (`systemctl --user {command}`: {reason}); where there is no systemd, let your session start `mimosa serve`"
    )]
    Systemd {
        command: &'static str,
        reason: String,
    },
}

/// Installs, removes or describes the service; returns what to print.
pub(crate) fn run(args: &Args) -> Result<String, ServiceError> {
    let folder = config_folder().ok_or(ServiceError::NoFolder)?;
    let path = folder.join("systemd/user").join(NAME);
    match args.action {
        Action::Install => install(&path),
        Action::Uninstall => uninstall(&path),
        Action::Status => status(&path),
    }
}

fn install(path: &Path) -> Result<String, ServiceError> {
    let program = std::env::current_exe().map_err(|e| ServiceError::Program(e.to_string()))?;
    let unit =
        unit::unit(&program).ok_or_else(|| ServiceError::Program(program.display().to_string()))?;
    if read(path)?.is_some_and(|there| !unit::is_ours(&there)) {
        return Err(ServiceError::NotOurs(path.to_owned()));
    }
    // Asked first, so that nothing is written where there is no systemd.
    systemctl("daemon-reload", &[])?;
    let at = |source| ServiceError::File {
        path: path.to_owned(),
        source,
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(at)?;
    }
    std::fs::write(path, unit).map_err(at)?;
    systemctl("daemon-reload", &[])?;
    systemctl("enable", &[NAME])?;
    // Starts it, or starts it again with the unit that was just written.
    systemctl("restart", &[NAME])?;
    Ok(format!(
        "{} runs `{} serve`, now and from each log-in on.\n\
         Its URLs: mimosa urls; its messages: journalctl --user -u {NAME}\n\
         To run it without a log-in: loginctl enable-linger\n",
        path.display(),
        program.display()
    ))
}

fn uninstall(path: &Path) -> Result<String, ServiceError> {
    match read(path)? {
        None => return Ok(format!("{} is not there.\n", path.display())),
        Some(there) if !unit::is_ours(&there) => {
            return Err(ServiceError::NotOurs(path.to_owned()));
        }
        Some(_) => {}
    }
    systemctl("disable", &["--now", NAME])?;
    std::fs::remove_file(path).map_err(|source| ServiceError::File {
        path: path.to_owned(),
        source,
    })?;
    systemctl("daemon-reload", &[])?;
    Ok(format!("{} is removed.\n", path.display()))
}

fn status(path: &Path) -> Result<String, ServiceError> {
    let mut text = String::new();
    let there = match read(path)? {
        None => "is not there",
        Some(there) if unit::is_ours(&there) => "is there",
        Some(_) => "is there, not by `mimosa service install`",
    };
    let _ = writeln!(text, "{} {there}", path.display());
    for (what, command) in [("at log-in", "is-enabled"), ("now", "is-active")] {
        let (_, said) = ask(command, &[NAME])?;
        let _ = writeln!(text, "{what}: {}", said.lines().next().unwrap_or("unknown"));
    }
    Ok(text)
}

/// The file's text; `None` if there is no file.
fn read(path: &Path) -> Result<Option<String>, ServiceError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(ServiceError::File {
            path: path.to_owned(),
            source,
        }),
    }
}

/// Runs `systemctl --user command arguments…`, which must succeed.
fn systemctl(command: &'static str, arguments: &[&str]) -> Result<(), ServiceError> {
    match ask(command, arguments)? {
        (true, _) => Ok(()),
        (false, reason) => Err(ServiceError::Systemd { command, reason }),
    }
}

/// Runs `systemctl --user command arguments…`; returns whether it succeeded, and what it said.
fn ask(command: &'static str, arguments: &[&str]) -> Result<(bool, String), ServiceError> {
    let output = Command::new("systemctl")
        .args(["--user", command])
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| ServiceError::Systemd {
            command,
            reason: error.to_string(),
        })?;
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).trim().to_owned();
    Ok((output.status.success(), said))
}
