//! Files that only one process at a time may use.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

/// How many times another process may remove the file between opening and locking before this is an
/// error. Our choice.
const TRIES: usize = 100;

/// Opens the file at `path`, creates it if it is not there, and locks it until it is closed. `None`
/// while another process has the lock. The content of the file is kept.
///
/// The process with the lock may remove or rename the file: a lock only counts for a file that is
/// still at `path`. Symbolic links are not followed, because another user may have made them.
pub(crate) fn lock(path: &Path) -> io::Result<Option<File>> {
    for _ in 0..TRIES {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            // Opening a pipe must not wait for its reader.
            .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
            .open(path)?;
        let opened = file.metadata()?;
        if !opened.is_file() || opened.nlink() > 1 {
            return Err(io::Error::other("it is no ordinary file of its own"));
        }
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let is_there = std::fs::symlink_metadata(path)
            .is_ok_and(|there| (there.dev(), there.ino()) == (opened.dev(), opened.ino()));
        if is_there {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::scratch;

    #[test]
    fn one_at_a_time_has_a_file() {
        let path = scratch("lock").join("file");
        let first = lock(&path).unwrap().unwrap();
        assert!(lock(&path).unwrap().is_none());
        drop(first);
        assert!(lock(&path).unwrap().is_some());
    }

    #[test]
    fn a_file_that_was_renamed_is_not_the_one_at_the_path() {
        let folder = scratch("lock-renamed");
        let path = folder.join("file");
        let first = lock(&path).unwrap().unwrap();
        std::fs::rename(&path, folder.join("elsewhere")).unwrap();
        let second = lock(&path).unwrap().unwrap();
        let number = |file: &File| file.metadata().unwrap().ino();
        assert_ne!(number(&first), number(&second));
    }

    #[test]
    fn a_link_to_another_file_is_refused() {
        let folder = scratch("lock-link");
        std::fs::write(folder.join("precious"), "text").unwrap();
        let path = folder.join("file");
        std::os::unix::fs::symlink(folder.join("precious"), &path).unwrap();
        assert!(lock(&path).is_err());
        std::fs::remove_file(&path).unwrap();
        std::fs::hard_link(folder.join("precious"), &path).unwrap();
        assert!(lock(&path).is_err());
    }
}
