//! A folder that only this user can read.

use std::fs::{DirBuilder, File};
use std::io::{self, Read};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// A random number.
///
/// # Errors
///
/// The system's.
pub(super) fn random() -> io::Result<u64> {
    let mut bytes = [0; 8];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

/// A new temporary folder for this user alone. Dropping this value removes it with
/// everything in it.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Creates a folder whose name is `prefix` and a random number.
    ///
    /// # Errors
    ///
    /// The system's error when it makes no folder.
    pub fn create(prefix: &str) -> io::Result<Self> {
        let path = std::env::temp_dir().join(format!("{prefix}-{:016x}", random()?));
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self(path))
    }

    /// The path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            tracing::debug!("removing {}: {error}", self.0.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn only_this_user_can_look_into_it_and_it_goes() {
        let folder = Folder::create("mimosa-test").unwrap();
        let path = folder.path().to_owned();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        std::fs::write(path.join("file"), "text").unwrap();
        assert_ne!(Folder::create("mimosa-test").unwrap().path(), path);
        drop(folder);
        assert!(!path.exists());
    }
}
