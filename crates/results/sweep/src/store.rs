//! The runs of a suite, kept as soon as they are done.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use mimosa_lab::{Key, Record, Suite};

use crate::error::SweepError;
use crate::outputs::Outputs;

/// The kept runs of a suite: in a file, a line that says of what they are, and a line of JSON
/// for each run in the order in which they were done.
#[derive(Debug)]
pub struct Store {
    /// The digest of the suite.
    digest: u64,
    /// Where each run is added; `None` when they are kept in memory alone.
    file: Option<(PathBuf, File)>,
    /// The line of each run that is done.
    done: BTreeMap<Key, String>,
}

impl Store {
    /// Opens the runs that the file at `path` holds, and creates it where there is none. They
    /// count if they are of `suite`, with its parameters, and were run by `program`; otherwise
    /// the store begins empty. [`this_program`] names the program that runs.
    ///
    /// # Errors
    ///
    /// [`SweepError::Output`] in the words of `outputs`, and [`SweepError::Keep`] when the file
    /// is there and cannot be added to.
    pub fn open(
        path: &Path,
        suite: &Suite,
        program: &str,
        outputs: &mut dyn Outputs,
    ) -> Result<Self, SweepError> {
        let head = head(suite, program);
        // What is not there, or cannot be read, has no runs; `outputs` says what may not be
        // replaced.
        let before = std::fs::read(path).unwrap_or_default();
        Self::create(path, suite, &head, kept(&before, &head), outputs)
    }

    /// Begins an empty store in the file at `path`, whatever the file holds.
    ///
    /// # Errors
    ///
    /// The errors of [`Store::open`].
    pub fn fresh(
        path: &Path,
        suite: &Suite,
        program: &str,
        outputs: &mut dyn Outputs,
    ) -> Result<Self, SweepError> {
        let head = head(suite, program);
        Self::create(path, suite, &head, BTreeMap::new(), outputs)
    }

    /// An empty store without a file, whose runs end with it.
    #[must_use]
    pub const fn in_memory(suite: &Suite) -> Self {
        Self {
            digest: suite.digest,
            file: None,
            done: BTreeMap::new(),
        }
    }

    fn create(
        path: &Path,
        suite: &Suite,
        head: &str,
        done: BTreeMap<Key, String>,
        outputs: &mut dyn Outputs,
    ) -> Result<Self, SweepError> {
        let mut text = format!("{head}\n");
        for line in done.values() {
            text.push_str(line);
            text.push('\n');
        }
        // The file is replaced when it is whole, so that being stopped here loses nothing.
        outputs
            .write(path, text.as_bytes())
            .map_err(SweepError::Output)?;
        let file = OpenOptions::new().append(true).open(path);
        let file = file.map_err(|source| SweepError::Keep {
            path: path.to_owned(),
            source,
        })?;
        Ok(Self {
            digest: suite.digest,
            file: Some((path.to_owned(), file)),
            done,
        })
    }

    /// Whether the store is for `suite`, with the parameters that it has now.
    pub(crate) fn check(&self, suite: &Suite) -> Result<(), SweepError> {
        if self.digest == suite.digest {
            return Ok(());
        }
        Err(SweepError::OtherSuite {
            suite: suite.name.clone(),
            digest: suite.digest,
            kept: self.digest,
        })
    }

    /// The line of a run, without its end, if the run is done.
    #[must_use]
    pub fn line(&self, key: &Key) -> Option<&str> {
        self.done.get(key).map(String::as_str)
    }

    /// Keeps a run.
    ///
    /// # Errors
    ///
    /// [`SweepError::Keep`] when its line cannot be written.
    pub fn add(&mut self, record: &Record) -> Result<(), SweepError> {
        let line = serde_json::to_string(record)?;
        if let Some((path, file)) = &mut self.file {
            // In one call, so that two lines never mix.
            let written = file.write_all(format!("{line}\n").as_bytes());
            written.map_err(|source| SweepError::Keep {
                path: path.clone(),
                source,
            })?;
        }
        self.done.insert(record.key.clone(), line);
        Ok(())
    }
}

/// The runs in a file that holds `before`, if its first line is `head`.
fn kept(before: &[u8], head: &str) -> BTreeMap<Key, String> {
    let mut lines = before.split(|byte| *byte == b'\n');
    if lines.next() != Some(head.as_bytes()) {
        return BTreeMap::new();
    }
    let run = |line| {
        // The last line of a run that was stopped may be half a line.
        let line = str::from_utf8(line).ok()?;
        let record: Record = serde_json::from_str(line).ok()?;
        Some((record.key, line.to_owned()))
    };
    lines.filter_map(run).collect()
}

/// What runs must be of to count: this suite, run by this program.
fn head(suite: &Suite, program: &str) -> String {
    let head = serde_json::json!({
        "suite": suite.name,
        "digest": format!("{:016x}", suite.digest),
        "program": program,
    });
    head.to_string()
}

/// A name for the program that runs: `version`, and the length of its file and when it was
/// built, so that a program that was built anew counts as another one.
#[must_use]
pub fn this_program(version: &str) -> String {
    let (length, modified) = std::env::current_exe()
        .and_then(std::fs::metadata)
        .and_then(|file| Ok((file.len(), file.modified()?)))
        .map_or((0, 0), |(length, modified)| {
            let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
            (length, since.as_nanos())
        });
    format!("{version} {length:x} {modified:x}")
}
