//! Reads and writes trace files.

use std::path::{Path, PathBuf};

use mimosa_trace::{Format, Trace};

use super::args;
use super::error::TraceCommandError;
use crate::output::{Existing, Files, Output};
use crate::terminal::say;
use crate::text;

/// The advice for a trace that cannot be read.
const NO_TRACE: &str = "name a trace file, such as traces/wifi.txt";
/// Most notes that are shown; more would bury everything else.
const NOTES_SHOWN: usize = 5;

/// A trace file that was read.
pub(super) struct Input {
    /// Path of the file.
    pub(super) path: PathBuf,
    /// The trace in the file.
    pub(super) trace: Trace,
    /// Format of the file.
    pub(super) format: Format,
}

impl Input {
    /// The file's name, without its folder.
    pub(super) fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        name.display().to_string()
    }
}

/// Reads a trace, and prints notes on what was not taken literally.
pub(super) fn read(path: &Path) -> Result<Input, TraceCommandError> {
    let path = path.to_owned();
    let text = text::read(&path, NO_TRACE)?;
    let trace = match mimosa_trace::parse(&text) {
        Ok(trace) => trace,
        Err(source) => return Err(TraceCommandError::Trace { path, source }),
    };
    for note in trace.notes.iter().take(NOTES_SHOWN) {
        let (line, text) = (note.line, &note.text);
        say(format_args!("note: {}:{line}: {text}", path.display()));
    }
    let more = trace.notes.len().saturating_sub(NOTES_SHOWN);
    if more > 0 {
        let path = path.display();
        say(format_args!(
            "note: {path}: and {more} lines more of that kind"
        ));
    }
    Ok(Input {
        path,
        trace,
        format: Format::of(&text).unwrap_or(Format::Rows),
    })
}

/// Creates the file for a trace. With `--force` it may replace the one that is read.
pub(super) fn create(output: &args::Output) -> Result<Output, TraceCommandError> {
    let existing = if output.force {
        Existing::Replace
    } else {
        Existing::Refuse
    };
    Ok(Files::default().create(&output.path, existing)?)
}

/// Writes a trace, and prints what the format cannot hold.
pub(super) fn write(
    mut output: Output,
    trace: &Trace,
    format: Format,
) -> Result<(), TraceCommandError> {
    let text = mimosa_trace::write(trace, format).map_err(|source| TraceCommandError::Format {
        path: output.path().to_owned(),
        source,
    })?;
    output.put(text.as_bytes())?;
    let more =
        |segment: &mimosa_trace::Segment| segment.round_trip.is_some() || segment.loss.is_some();
    if format == Format::Mahimahi && trace.segments.iter().any(more) {
        say(format_args!(
            "note: {}: a Mahimahi trace has no round trip and no loss; they are left out",
            output.path().display()
        ));
    }
    Ok(output.finish()?)
}
