//! Traces from files and to them.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use mimosa_trace::{Format, Trace};

use super::args::Output;
use super::error::TraceCommandError;

/// More notes than this would bury everything else.
const NOTES_SHOWN: usize = 5;

/// A trace file as it was read.
pub(super) struct Input {
    /// Where it is.
    pub(super) path: PathBuf,
    /// What it says.
    pub(super) trace: Trace,
    /// How.
    pub(super) format: Format,
}

impl Input {
    /// The file's name, without its folder.
    pub(super) fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        name.display().to_string()
    }
}

/// Reads a trace, and prints what was not taken literally.
pub(super) fn read(path: &Path) -> Result<Input, TraceCommandError> {
    let path = path.to_owned();
    let text = if is_standard(&path) {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().read_to_end(&mut bytes);
        read.map(|_| bytes)
    } else {
        std::fs::read(&path)
    };
    let text = match text {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(source) => return Err(TraceCommandError::Read { path, source }),
    };
    let trace = match mimosa_trace::parse(&text) {
        Ok(trace) => trace,
        Err(source) => return Err(TraceCommandError::Trace { path, source }),
    };
    for note in trace.notes.iter().take(NOTES_SHOWN) {
        eprintln!("note: {}:{}: {}", path.display(), note.line, note.text);
    }
    let more = trace.notes.len().saturating_sub(NOTES_SHOWN);
    if more > 0 {
        eprintln!(
            "note: {}: and {more} lines more of that kind",
            path.display()
        );
    }
    Ok(Input {
        path,
        trace,
        format: Format::of(&text).unwrap_or(Format::Rows),
    })
}

/// Writes a trace, and prints what the format leaves out.
pub(super) fn write(
    output: &Output,
    trace: &Trace,
    format: Format,
) -> Result<(), TraceCommandError> {
    let path = &output.path;
    let text = mimosa_trace::write(trace, format).map_err(|source| TraceCommandError::Format {
        path: path.clone(),
        source,
    })?;
    let more =
        |segment: &mimosa_trace::Segment| segment.round_trip.is_some() || segment.loss.is_some();
    if is_standard(path) {
        print(&text)?;
    } else {
        let mut options = OpenOptions::new();
        options.write(true);
        if output.force {
            options.create(true).truncate(true);
        } else {
            options.create_new(true);
        }
        let written = options
            .open(path)
            .and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|source| failed(path, source))?;
    }
    if format == Format::Mahimahi && trace.segments.iter().any(more) {
        eprintln!(
            "note: {}: a Mahimahi trace has no round trip and no loss; they are left out",
            path.display()
        );
    }
    Ok(())
}

/// Writes something that is no trace, over whatever is there.
pub(super) fn overwrite(path: &Path, bytes: &[u8]) -> Result<(), TraceCommandError> {
    std::fs::write(path, bytes).map_err(|source| failed(path, source))
}

/// To standard output; a reader that has gone away is no error.
pub(super) fn print(text: &str) -> Result<(), TraceCommandError> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(failed(Path::new("standard output"), error))
        }
        _ => Ok(()),
    }
}

fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

fn failed(path: &Path, source: std::io::Error) -> TraceCommandError {
    let path = path.to_owned();
    match source.kind() {
        ErrorKind::AlreadyExists => TraceCommandError::Exists { path },
        _ => TraceCommandError::Write { path, source },
    }
}
