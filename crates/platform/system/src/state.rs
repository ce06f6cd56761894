//! Files that a program keeps for its user, which nobody else may read: where they are, and how they
//! are replaced.

use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The path of a file in our folder among the user's state: `$XDG_STATE_HOME/mimosa/NAME`, or
/// `~/.local/state/mimosa/NAME`; `None` if neither variable is an absolute path (XDG Base Directory
/// Specification).
#[must_use]
pub fn path(name: &str) -> Option<PathBuf> {
    place(
        std::env::var_os("XDG_STATE_HOME"),
        std::env::var_os("HOME"),
        name,
    )
}

fn place(state: Option<OsString>, home: Option<OsString>, name: &str) -> Option<PathBuf> {
    let absolute = |path: OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    let folder = state
        .and_then(absolute)
        .or_else(|| Some(home.and_then(absolute)?.join(".local/state")))?;
    Some(folder.join("mimosa").join(name))
}

/// Changes a file's text, which is empty if there is no file: `change` makes the new text of the old
/// one. Other processes that change the file wait, and whoever reads it sees either text as a whole.
///
/// # Errors
///
/// The system's error, or that of `change`.
pub fn change<E: From<io::Error>>(
    path: &Path,
    change: impl FnOnce(&str) -> Result<String, E>,
) -> Result<(), E> {
    if let Some(folder) = path.parent() {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
    }
    // The file itself is replaced, so that a lock on it would be one on the old file.
    let mut lock = OpenOptions::new();
    let lock = lock.write(true).create(true).truncate(false).mode(0o600);
    let lock = lock.open(path.with_extension("lock"))?;
    lock.lock()?;
    let text = change(&read(path)?)?;
    let beside = path.with_extension("new");
    // One that was left behind may have another mode.
    let _ = std::fs::remove_file(&beside);
    let mut file = create(&beside)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&beside, path)?;
    Ok(())
}

/// A file's text; empty if there is no file.
///
/// # Errors
///
/// The system's error.
pub fn read(path: &Path) -> io::Result<String> {
    match std::fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        result => result,
    }
}

fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::process::Folder;

    #[test]
    fn the_folder_is_where_xdg_says() {
        let place = |state: Option<&str>, home: Option<&str>| {
            let path = place(state.map(OsString::from), home.map(OsString::from), "f");
            path.map(|path| path.display().to_string())
        };
        let in_home = Some("/h/.local/state/mimosa/f".to_owned());
        assert_eq!(
            place(Some("/x"), Some("/h")).as_deref(),
            Some("/x/mimosa/f")
        );
        assert_eq!(place(None, Some("/h")), in_home);
        assert_eq!(place(Some("x"), Some("/h")), in_home, "not absolute");
        assert_eq!(place(Some(""), None), None);
    }

    #[test]
    fn a_file_is_changed_as_a_whole_and_is_the_owners_alone() {
        let around = Folder::create("mimosa-state").unwrap();
        let path = around.path().join("a/b/file.toml");
        for (before, after) in [("", "one"), ("one", "two")] {
            let result = change(&path, |text| {
                assert_eq!(text, before);
                Ok::<_, io::Error>(after.to_owned())
            });
            result.unwrap();
            assert_eq!(read(&path).unwrap(), after);
        }
        let failed = change(&path, |_| Err(io::Error::other("no")));
        assert_eq!(failed.unwrap_err().to_string(), "no");
        assert_eq!(read(&path).unwrap(), "two");
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        let beside = path.with_extension("new");
        assert!(!beside.exists());
    }
}
