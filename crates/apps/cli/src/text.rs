//! Reads the text files of commands.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::output::is_standard;

/// Longest file that is read, in bytes: ten times a day of rows, one for each 100 ms.
const LONGEST: u64 = 1 << 28;

/// Why a text file cannot be used, where it is, and what to do instead.
#[derive(Debug)]
pub(crate) struct TextError {
    path: PathBuf,
    why: Unreadable,
    /// The advice for a file that is not there.
    mend: &'static str,
}

impl std::error::Error for TextError {}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.why {
            Unreadable::NotUtf8 { line } => {
                write!(
                    f,
                    "{path}:{line}: not UTF-8; save the file as text in UTF-8"
                )
            }
            why => write!(f, "cannot read {path}: {why}; {}", self.mend),
        }
    }
}

/// Why a text file cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unreadable {
    /// The file does not exist, or may not be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is not text.
    #[error("line {line} of it is not UTF-8")]
    NotUtf8 {
        /// Number of the first line that is not UTF-8, from one.
        line: usize,
    },
    /// The file is too long, or never ends.
    #[error("it has more than {LONGEST} bytes")]
    TooLong,
    /// The file is a device or a pipe, which may never end, and whose reading may never return.
    #[error("it is a device or a pipe")]
    NoFile,
}

/// Text of the file `path` that the command line names, which may be a pipe; `-` is standard input.
/// `mend` is the advice if the file cannot be read.
pub(crate) fn read(path: &Path, mend: &'static str) -> Result<String, TextError> {
    let text = if is_standard(path) {
        text(io::stdin().lock())
    } else {
        open(path)
    };
    text.map_err(|why| TextError {
        path: path.to_owned(),
        why,
        mend,
    })
}

/// Text of the file `path` that another file names. It has to be an ordinary file: a file from a
/// stranger must not make a command wait for a pipe.
pub(crate) fn read_named(path: &Path) -> Result<String, Unreadable> {
    let metadata = fs::metadata(path)?;
    if metadata.is_file() || metadata.is_dir() {
        open(path)
    } else {
        Err(Unreadable::NoFile)
    }
}

fn open(path: &Path) -> Result<String, Unreadable> {
    text(File::open(path)?)
}

fn text(from: impl Read) -> Result<String, Unreadable> {
    let mut bytes = Vec::new();
    from.take(LONGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST {
        return Err(Unreadable::TooLong);
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let before = error.as_bytes().get(..good).unwrap_or_default();
        let line = before.split(|byte| *byte == b'\n').count();
        Unreadable::NotUtf8 { line }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::scratch;

    #[test]
    fn the_line_that_is_not_utf_8_is_named() {
        let path = scratch("latin1").join("file");
        fs::write(&path, b"one\ntwo\ncaf\xe9\n").unwrap();
        let error = read(&path, "").unwrap_err().to_string();
        let path_text = path.display();
        assert_eq!(
            error,
            format!("{path_text}:3: not UTF-8; save the file as text in UTF-8")
        );
        fs::write(&path, "one\ntwo\ncafé\n").unwrap();
        assert_eq!(read(&path, "").unwrap().lines().count(), 3);
    }

    #[test]
    fn what_has_no_end_is_given_up() {
        let zero = Path::new("/dev/zero");
        let error = read(zero, "name another").unwrap_err().to_string();
        assert_eq!(
            error,
            "cannot read /dev/zero: it has more than 268435456 bytes; name another"
        );
        assert!(matches!(read_named(zero), Err(Unreadable::NoFile)));
        let nothing = read_named(Path::new("/dev/null/file"));
        assert!(matches!(nothing, Err(Unreadable::Io(_))));
    }
}
