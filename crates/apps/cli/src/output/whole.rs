//! A file that gets its name when it is complete.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::lock::lock;

/// A file under a temporary name, which is removed if it is dropped before it gets its own.
#[derive(Debug)]
pub(super) struct Whole {
    file: BufWriter<File>,
    /// Path of the file until it is complete.
    part: PathBuf,
    /// Path of the complete file.
    place: PathBuf,
    is_named: bool,
}

impl Whole {
    /// Creates the file that will be at `place`, a path without symbolic links. `None` while
    /// another command writes that file.
    pub(super) fn create(place: PathBuf) -> io::Result<Option<Self>> {
        // A file that may not be written must not be replaced either.
        let replaced = match OpenOptions::new().write(true).open(&place) {
            Ok(file) => Some(file.metadata()?.permissions()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let part = part(&place);
        let Some(file) = lock(&part)? else {
            return Ok(None);
        };
        // The file may hold what a killed command has left.
        file.set_len(0)?;
        if let Some(permissions) = replaced {
            file.set_permissions(permissions)?;
        }
        Ok(Some(Self {
            file: BufWriter::new(file),
            part,
            place,
            is_named: false,
        }))
    }

    /// Gives the file its name.
    pub(super) fn name(mut self) -> io::Result<()> {
        self.file.flush()?;
        fs::rename(&self.part, &self.place)?;
        self.is_named = true;
        Ok(())
    }
}

/// Path of the file for `place` until it is complete.
pub(super) fn part(place: &Path) -> PathBuf {
    let mut part = OsString::from(place);
    part.push(".part");
    part.into()
}

impl Write for Whole {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        // Once the file has its name, a `.part` file is another command's.
        if !self.is_named {
            // If the folder is gone, the file is gone with it.
            let _ = fs::remove_file(&self.part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::scratch;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_has_its_name_when_it_is_whole_and_not_before() {
        let folder = scratch("whole");
        fs::write(folder.join("a"), "before").unwrap();
        fs::write(folder.join("a.part"), "of a command that was killed").unwrap();
        let mut whole = Whole::create(folder.join("a")).unwrap().unwrap();
        whole.write_all(b"after").unwrap();
        assert_eq!(fs::read(folder.join("a")).unwrap(), b"before");
        assert!(Whole::create(folder.join("a")).unwrap().is_none());
        whole.name().unwrap();
        assert_eq!(fs::read(folder.join("a")).unwrap(), b"after");
        assert_eq!(names(&folder), ["a"]);
    }

    #[test]
    fn what_is_not_named_leaves_nothing() {
        let folder = scratch("whole-dropped");
        let mut whole = Whole::create(folder.join("a")).unwrap().unwrap();
        whole.write_all(b"half").unwrap();
        assert_eq!(names(&folder), ["a.part"]);
        drop(whole);
        assert_eq!(names(&folder), [""; 0]);
    }

    #[test]
    fn who_may_read_a_file_may_read_it_when_it_is_replaced_and_nobody_else() {
        use std::os::unix::fs::PermissionsExt;
        let path = scratch("whole-mode").join("a");
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        Whole::create(path.clone())
            .unwrap()
            .unwrap()
            .name()
            .unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}
