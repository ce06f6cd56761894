//! What the host's owner sees and changes from the page: the settings file, and the URL for other machines.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use mimosa_host::{Invitation, Owning, Setting};
use mimosa_settings::{Flags, changed, listed, template};

use super::args::{Args, environment};
use super::config::ConfigFile;
use super::error::ServeError;
use super::program::checks;
use super::qr;

/// The owner's page of a host with these arguments and this file; `None` without a place for a file.
pub(super) fn owning(args: &Args, file: &ConfigFile) -> Result<Option<Owning>, ServeError> {
    let Some(path) = file.path.clone() else {
        return Ok(None);
    };
    let flags = args.flags()?;
    let name = path.display().to_string();
    let running = {
        let file = file.text().map(|text| (name.as_str(), text));
        listed(file, environment()?, &flags)?
    };
    let list = {
        let path = path.clone();
        move || {
            let now = now(&path, &flags)?;
            Ok(Setting::all(&now, &running))
        }
    };
    let change = move |key: &str, value: &str| {
        let text = read(&path).map_err(|error| said(&path, &error))?;
        let name = path.display().to_string();
        // What the page changes can be read in the file, whose comments come from the template.
        let text = text.unwrap_or_else(template);
        let new =
            changed((&name, &text), key, value, checks()).map_err(|error| error.to_string())?;
        write(&path, &new).map_err(|error| said(&path, &error))
    };
    Ok(Some(Owning {
        list: Box::new(list),
        change: Box::new(change),
        invite: Box::new(|urls| {
            let url = qr::subject(urls)?;
            let code = qr::modules(&url)?;
            Some(Invitation { url, code })
        }),
    }))
}

/// The settings of the next start with these flags, or what is wrong with them.
fn now(path: &Path, flags: &Flags) -> Result<Vec<mimosa_settings::Listed>, String> {
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

/// Puts this text in the file's place, as a whole. A link stays one, and the file's mode what it was.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mode = fs::metadata(&path)
        .ok()
        .map(|metadata| metadata.permissions());
    mimosa_system::state::change(&path, |_| Ok::<_, io::Error>(text.to_owned()))?;
    match mode {
        Some(mode) => fs::set_permissions(&path, mode),
        None => Ok(()),
    }
}
