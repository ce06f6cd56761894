//! Stores the results of runs as soon as they are known.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use mimosa_lab::{Key, Record};

use super::error::LabError;
use crate::output::{Existing, Files, OutputError};

/// A file whose first line identifies scenarios and program, with a line for each run, in the order
/// in which the runs ended.
pub(super) struct Store {
    path: PathBuf,
    file: File,
    done: BTreeMap<Key, String>,
}

impl Store {
    /// Opens the file at `path`. Its content is used if its first line is `head`.
    pub(super) fn open(
        path: &Path,
        files: &mut Files,
        head: &str,
        fresh: bool,
    ) -> Result<Self, LabError> {
        let before = if fresh {
            String::new()
        } else {
            std::fs::read_to_string(path).unwrap_or_default()
        };
        let mut lines = before.lines();
        let same = lines.next() == Some(head);
        let done: BTreeMap<Key, String> = lines
            .filter(|_| same)
            .filter_map(|line| {
                // A run that was stopped may have left half a line at the end.
                let record: Record = serde_json::from_str(line).ok()?;
                Some((record.key, line.to_owned()))
            })
            .collect();
        // The file gets its name when it is whole, so that nothing is lost if the program is
        // stopped here.
        let mut output = files.create(path, Existing::Replace)?;
        let mut text = format!("{head}\n");
        for line in done.values() {
            text.push_str(line);
            text.push('\n');
        }
        output.put(text.as_bytes())?;
        output.finish()?;
        let file = OpenOptions::new().append(true).open(path);
        let file = file.map_err(|source| OutputError::Write {
            path: path.to_owned(),
            source,
        })?;
        Ok(Self {
            path: path.to_owned(),
            file,
            done,
        })
    }

    /// The line of a run, if it was done.
    pub(super) fn line(&self, key: &Key) -> Option<&str> {
        self.done.get(key).map(String::as_str)
    }

    /// Stores a run.
    pub(super) fn add(&mut self, record: &Record) -> Result<(), LabError> {
        let line = serde_json::to_string(record)?;
        self.file
            .write_all(format!("{line}\n").as_bytes())
            .map_err(|source| OutputError::Write {
                path: self.path.clone(),
                source,
            })?;
        self.done.insert(record.key.clone(), line);
        Ok(())
    }
}
