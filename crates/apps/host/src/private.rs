//! Folders and files that only this user can read, because they show what somebody saw and did.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use crate::error::HostError;

/// Makes a folder and those above it, if they are not there.
///
/// # Errors
///
/// The system's error.
pub(crate) fn folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Makes a file, which must not exist.
///
/// # Errors
///
/// The system's error.
pub(crate) fn file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).open(path)
}

/// Checks that a folder for recordings can be made and written to. Afterwards it exists.
///
/// # Errors
///
/// [`HostError::Record`] if it cannot.
pub(crate) fn probe(path: &Path) -> Result<(), HostError> {
    let name = format!(".mimosa-{}", std::process::id());
    let probe = path.join(name);
    let try_all = || {
        folder(path)?;
        drop(file(&probe)?);
        std::fs::remove_file(&probe)
    };
    try_all().map_err(|error| HostError::Record {
        folder: path.to_owned(),
        error,
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use mimosa_system::process::Folder;

    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn nobody_else_may_read() {
        let around = Folder::create("mimosa-private").unwrap();
        let inner = around.path().join("a/b");
        probe(&inner).unwrap();
        assert_eq!(
            (mode(&inner), mode(inner.parent().unwrap())),
            (0o700, 0o700)
        );
        assert_eq!(inner.read_dir().unwrap().count(), 0, "the probe is gone");
        let path = inner.join("file");
        drop(file(&path).unwrap());
        assert_eq!(mode(&path), 0o600);
        assert!(file(&path).is_err(), "it is there");
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_named() {
        let around = Folder::create("mimosa-private").unwrap();
        let path = around.path().join("file");
        std::fs::write(&path, "").unwrap();
        for bad in [path, "/proc/mimosa".into()] {
            let error = probe(&bad).unwrap_err().to_string();
            assert!(error.contains(&*bad.display().to_string()), "{error}");
        }
    }
}
