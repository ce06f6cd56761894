//! What the host's owner sees and changes from the page: the settings file, and the URL for other machines.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use mimosa_host::{Invitation, Owning, Setting};
use mimosa_settings::{EditError, Flags, Listed, NextStart, changed, listed, template};

use super::args::{Args, environment};
use super::config::ConfigFile;
use super::error::ServeError;
use super::program::checks;
use super::qr;

/// The settings file of a host that runs.
struct Book {
    path: PathBuf,
    flags: Flags,
    /// What the host runs with.
    running: Vec<Listed>,
}

/// The owner's page of a host with these arguments and this file; `None` without a place for a file.
pub(super) fn owning(
    args: &Args,
    file: &ConfigFile,
) -> Result<Option<Box<dyn Owning>>, ServeError> {
    let Some(path) = file.path.clone() else {
        return Ok(None);
    };
    let flags = args.flags()?;
    let name = path.display().to_string();
    let text = file.text().map(|text| (name.as_str(), text));
    let running = listed(text, environment()?, &flags)?;
    Ok(Some(Box::new(Book {
        path,
        flags,
        running,
    })))
}

impl Owning for Book {
    fn settings(&self) -> Result<Vec<Setting>, String> {
        let now = now(&self.path, &self.flags)?;
        Ok(Setting::all(&now, &self.running))
    }

    fn change(&self, name: &str, value: &str) -> Result<(), String> {
        let environment = environment().map_err(|error| error.to_string())?;
        let next = NextStart {
            environment: &environment,
            flags: &self.flags,
            checks: checks(),
        };
        let place = self.path.display().to_string();
        write(&self.path, |text| {
            // What the page changes can be read in the file, whose comments come from the template.
            let text = if text.is_empty() {
                template()
            } else {
                text.to_owned()
            };
            Ok(changed((&place, &text), (name, value), next)?)
        })
        .map_err(|error| match error {
            ChangeError::System(error) => said(&self.path, &error),
            ChangeError::Refused(error) => error.to_string(),
        })
    }

    fn invite(&self, urls: &[String]) -> Option<Invitation> {
        let url = qr::subject(urls)?;
        let code = qr::modules(&url)?;
        Some(Invitation { url, code })
    }
}

/// The settings of the next start with these flags, or what is wrong with them.
fn now(path: &Path, flags: &Flags) -> Result<Vec<Listed>, String> {
    let text = read(path).map_err(|error| said(path, &error))?;
    let name = path.display().to_string();
    let file = text.as_deref().map(|text| (name.as_str(), text));
    let environment = environment().map_err(|error| error.to_string())?;
    listed(file, environment, flags).map_err(|error| error.to_string())
}

fn said(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}", path.display())
}

/// The file's text; `None` if there is no file.
fn read(path: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Why the file is not changed.
#[derive(Debug, thiserror::Error)]
enum ChangeError {
    #[error(transparent)]
    System(#[from] io::Error),
    #[error(transparent)]
    Refused(#[from] EditError),
}

/// Puts the text that `change` makes in the file's place, as a whole. A link stays one, and the file's mode
/// what it was.
fn write(
    path: &Path,
    change: impl FnOnce(&str) -> Result<String, ChangeError>,
) -> Result<(), ChangeError> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mode = fs::metadata(&path)
        .ok()
        .map(|metadata| metadata.permissions());
    mimosa_system::state::change(&path, change)?;
    match mode {
        Some(mode) => Ok(fs::set_permissions(&path, mode)?),
        None => Ok(()),
    }
}
