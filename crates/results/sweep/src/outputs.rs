//! How the files of a suite are written.

use std::error::Error;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes whole files. A program with rules of its own about files, such as which of them may
/// not be replaced, implements it; [`WholeFiles`] is enough for any other.
pub trait Outputs {
    /// Puts `bytes` into the file at `path`, which may be there already. Somebody who reads
    /// `path` meanwhile, or after this program was killed, must find all that was there before
    /// or all of `bytes`.
    ///
    /// # Errors
    ///
    /// What is wrong, where, and what to do instead. What was at `path` is then still there.
    fn write(&mut self, path: &Path, bytes: &[u8]) -> Result<(), Box<dyn Error + Send + Sync>>;
}

/// Files that are written beside their names, and get their names when they are whole.
#[derive(Clone, Copy, Debug, Default)]
pub struct WholeFiles;

/// A file has no place.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot write {}: {source}; name a file in a folder that exists and can be written to",
    path.display()
)]
struct Refused {
    path: PathBuf,
    source: io::Error,
}

impl Outputs for WholeFiles {
    fn write(&mut self, path: &Path, bytes: &[u8]) -> Result<(), Box<dyn Error + Send + Sync>> {
        let part = part(path);
        let written = whole(path, &part, bytes).map_err(|source| Refused {
            path: path.to_owned(),
            source,
        });
        if written.is_err() {
            // It is not there where it could not be created.
            let _ = fs::remove_file(&part);
        }
        Ok(written?)
    }
}

/// Writes `bytes` to `part`, and makes it the file at `path`.
fn whole(path: &Path, part: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(part)?;
    // Who may read a file may read it when it is replaced, and nobody else.
    if let Ok(replaced) = fs::metadata(path) {
        file.set_permissions(replaced.permissions())?;
    }
    file.write_all(bytes)?;
    fs::rename(part, path)
}

/// Where the file of `path` is until it is whole. The name has this process's number in it, so
/// that two programs at once do not write one file.
fn part(path: &Path) -> PathBuf {
    let mut part = OsString::from(path);
    part.push(format!(".{}.part", std::process::id()));
    part.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::scratch;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_else_is_left() {
        let folder = scratch("outputs");
        let path = folder.join("a");
        for text in ["before, which is longer", "after"] {
            WholeFiles.write(&path, text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn a_file_without_a_place_is_refused_and_leaves_nothing() {
        let folder = scratch("outputs-refused");
        fs::create_dir_all(folder.join("there/below")).unwrap();
        for name in ["none/a", "there"] {
            let path = folder.join(name);
            let error = WholeFiles.write(&path, b"text").unwrap_err().to_string();
            let begin = format!("cannot write {}: ", path.display());
            assert!(error.starts_with(&begin), "{error}");
            assert!(error.ends_with("can be written to"), "{error}");
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }
}
