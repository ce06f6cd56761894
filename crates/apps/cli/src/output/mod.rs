//! The outputs of commands, with one rule for all commands.
//!
//! An output is created before anything long runs, gets its name when it is complete, and leaves
//! nothing behind if it fails. No output replaces an input of the command, or another output.

mod error;
mod files;
mod whole;

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

pub(crate) use error::OutputError;
pub(crate) use files::{Existing, Files};
use whole::Whole;

/// An output that is being written.
#[derive(Debug)]
pub(crate) struct Output {
    /// The path as it was given.
    path: PathBuf,
    sink: Sink,
}

/// Where the bytes go.
#[derive(Debug)]
enum Sink {
    Standard,
    /// A device or a pipe, which keeps its name.
    Stream(BufWriter<File>),
    Whole(Whole),
}

impl Output {
    /// The path as it was given.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes all of `bytes` at once, without buffering.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<(), OutputError> {
        let result = self.write_all(bytes).and_then(|()| self.flush());
        result.map_err(|source| self.failed(source))
    }

    /// Completes the output, and gives the file its name.
    pub(crate) fn finish(mut self) -> Result<(), OutputError> {
        self.flush().map_err(|source| self.failed(source))?;
        let Self { path, sink } = self;
        match sink {
            Sink::Standard | Sink::Stream(_) => Ok(()),
            Sink::Whole(whole) => whole
                .name()
                .map_err(|source| OutputError::Write { path, source }),
        }
    }

    fn failed(&self, source: io::Error) -> OutputError {
        OutputError::Write {
            path: self.path.clone(),
            source,
        }
    }
}

impl Write for Output {
    /// A reader that is gone is not an error.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &mut self.sink {
            Sink::Standard => io::stdout().write(bytes),
            Sink::Stream(file) => file.write(bytes),
            Sink::Whole(whole) => whole.write(bytes),
        };
        unless_gone(written, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = match &mut self.sink {
            Sink::Standard => io::stdout().flush(),
            Sink::Stream(file) => file.flush(),
            Sink::Whole(whole) => whole.flush(),
        };
        unless_gone(flushed, ())
    }
}

/// `done` if the reader of a pipe is gone, which is not an error.
pub(crate) fn unless_gone<T>(result: io::Result<T>, done: T) -> io::Result<T> {
    match result {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(done),
        result => result,
    }
}

/// Whether `path` stands for standard input or output.
pub(crate) fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// An empty folder for a test.
#[cfg(test)]
pub(crate) fn scratch(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("mimosa-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}
