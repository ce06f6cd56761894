//! The settings file: where it is, and its creation on first run.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::error::ServeError;

/// The settings file.
pub(crate) struct ConfigFile {
    /// Path of the file; `None` if there is no place for one.
    pub(crate) path: Option<PathBuf>,
    /// Whether the file exists.
    pub(crate) state: State,
}

/// The state of a settings file.
pub(crate) enum State {
    /// The file exists, with this text.
    Read(String),
    /// The file does not exist.
    Absent,
    /// The file did not exist, and was created with all defaults.
    Created,
    /// The file did not exist, and could not be created.
    NotCreated(io::Error),
}

impl ConfigFile {
    /// Reads the file `named`, which has to exist, or the one in its usual place.
    pub(crate) fn read(named: Option<&Path>) -> Result<Self, ServeError> {
        let place = || Some(place(&config_folder()?));
        let Some(path) = named.map(Path::to_owned).or_else(place) else {
            return Ok(Self {
                path: None,
                state: State::Absent,
            });
        };
        let state = match fs::read_to_string(&path) {
            Ok(text) => State::Read(text),
            Err(error) if error.kind() == ErrorKind::NotFound && named.is_none() => State::Absent,
            Err(source) => return Err(ServeError::ReadConfig { path, source }),
        };
        Ok(Self {
            path: Some(path),
            state,
        })
    }

    /// Creates the file if it does not exist.
    pub(crate) fn create(self) -> Self {
        let state = match (&self.path, self.state) {
            (Some(path), State::Absent) => match create(path) {
                Ok(()) => State::Created,
                Err(error) => State::NotCreated(error),
            },
            (_, state) => state,
        };
        Self { state, ..self }
    }

    /// Name of the file in messages.
    pub(crate) fn name(&self) -> Option<String> {
        self.path.as_ref().map(|path| path.display().to_string())
    }

    /// Text of the file; `None` for a new or missing one.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.state {
            State::Read(text) => Some(text),
            State::Absent | State::Created | State::NotCreated(_) => None,
        }
    }
}

/// Where the user's settings of all programs are; `None` if neither `$XDG_CONFIG_HOME` nor `$HOME` is
/// an absolute path.
pub(crate) fn config_folder() -> Option<PathBuf> {
    folder(
        std::env::var_os("XDG_CONFIG_HOME"),
        std::env::var_os("HOME"),
    )
}

/// Where the file is, below the user's settings.
fn place(folder: &Path) -> PathBuf {
    folder.join("mimosa").join("mimosa.toml")
}

/// The folder for settings, from `$XDG_CONFIG_HOME`, which counts only as an absolute
/// path (XDG Base Directory Specification), and `$HOME`.
fn folder(config: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let absolute = |path: OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    config
        .and_then(absolute)
        .or_else(|| Some(home.and_then(absolute)?.join(".config")))
}

/// Creates a file that only its owner may read, because it may come to hold a token.
fn create(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(mimosa_settings::template().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_where_xdg_says() {
        let place = |config: Option<&str>, home: Option<&str>| {
            let folder = folder(config.map(OsString::from), home.map(OsString::from));
            folder.map(|folder| super::place(&folder).display().to_string())
        };
        let at = |path: &str| Some(path.to_owned());
        let in_home = at("/h/.config/mimosa/mimosa.toml");
        assert_eq!(place(Some("/x"), Some("/h")), at("/x/mimosa/mimosa.toml"));
        assert_eq!(place(None, Some("/h")), in_home);
        assert_eq!(place(Some("x"), Some("/h")), in_home, "not absolute");
        assert_eq!(place(Some(""), Some("/h")), in_home, "empty");
        assert_eq!(place(None, None), None);
        assert_eq!(place(None, Some("")), None);
    }
}
