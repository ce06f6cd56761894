//! The folder of a data set: which sessions are there, and what is written of all of them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use mimosa_campaign::{Campaign, Row, analyse, csv, datasheet, tables};

use super::error::CliError;
use crate::lock::lock;
use crate::output::{Existing, Files};

/// Name of the copy of the campaign file.
pub(super) const CAMPAIGN: &str = "campaign.toml";
/// Name of the file with the machines' versions.
const MACHINES: &str = "machines.json";
const SESSIONS: &str = "sessions";
/// Name of a session's row, in its own folder.
const ROW: &str = "row.json";

/// The folder of a data set.
pub(super) struct Folder {
    path: PathBuf,
    /// Held while sessions run.
    _lock: Option<File>,
}

impl Folder {
    /// The folder at `path` for the campaign file `text`, which is created where there is none, and
    /// which no other driver uses at the same time.
    pub(super) fn open(path: &Path, text: &str) -> Result<Self, CliError> {
        let failed = |source| CliError::Folder {
            path: path.to_owned(),
            source,
        };
        fs::create_dir_all(path.join(SESSIONS)).map_err(failed)?;
        let held = lock(&path.join("lock")).map_err(failed)?;
        let held = held.ok_or_else(|| CliError::Busy(path.to_owned()))?;
        let folder = Self {
            path: path.to_owned(),
            _lock: Some(held),
        };
        match fs::read_to_string(path.join(CAMPAIGN)) {
            Ok(before) if before == text => {}
            Ok(_) => return Err(CliError::Other(path.to_owned())),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                folder.write(CAMPAIGN, text)?;
            }
            Err(error) => return Err(failed(error)),
        }
        // A session that a killed driver has begun.
        for entry in fs::read_dir(path.join(SESSIONS)).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if entry.file_name().to_string_lossy().ends_with(".part") {
                fs::remove_dir_all(entry.path()).map_err(failed)?;
            }
        }
        Ok(folder)
    }

    /// The folder at `path`, to read what it has.
    pub(super) fn existing(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            _lock: None,
        }
    }

    /// The row of a session, if the session is there.
    pub(super) fn row(&self, id: &str) -> Result<Option<Row>, CliError> {
        let path = self.path.join(SESSIONS).join(id).join(ROW);
        match fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text).map(Some).map_err(|error| {
                let why = error.to_string();
                CliError::Row { path, why }
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(CliError::Folder { path, source }),
        }
    }

    /// Keeps a session with the raw files that it left. The session is there as a whole or not at
    /// all, whenever this program is killed.
    pub(super) fn keep(&self, row: &Row, raw: &[(String, Vec<u8>)]) -> Result<(), CliError> {
        let place = self.path.join(SESSIONS).join(&row.id);
        let part = self.path.join(SESSIONS).join(format!("{}.part", row.id));
        let failed = |source| CliError::Folder {
            path: part.clone(),
            source,
        };
        fs::create_dir_all(&part).map_err(failed)?;
        for (name, bytes) in raw {
            fs::write(part.join(name), bytes).map_err(failed)?;
        }
        let text = json(row)?;
        fs::write(part.join(ROW), text).map_err(failed)?;
        fs::rename(&part, place).map_err(failed)
    }

    /// Keeps what the machines' programs say of themselves.
    pub(super) fn keep_versions(
        &self,
        versions: &BTreeMap<String, String>,
    ) -> Result<(), CliError> {
        self.write(MACHINES, &json(versions)?)
    }

    /// Writes the table of sessions, the analysis and the data sheet, and returns the comparison as
    /// text.
    pub(super) fn report(&self, campaign: &Campaign, markdown: bool) -> Result<String, CliError> {
        let mut rows = Vec::new();
        for session in campaign.sessions() {
            rows.extend(self.row(&session.id)?);
        }
        let versions = fs::read_to_string(self.path.join(MACHINES)).unwrap_or_default();
        // A data set without it has unknown versions, which the sheet says.
        let versions = serde_json::from_str(&versions).unwrap_or_default();
        let comparisons = analyse(campaign, &rows);
        self.write("sessions.csv", &csv(&rows))?;
        self.write("analysis.json", &json(&comparisons)?)?;
        self.write("DATASHEET.md", &datasheet(campaign, &rows, &versions))?;
        let texts: Vec<String> = tables(&comparisons)
            .iter()
            .map(|table| {
                if markdown {
                    table.to_markdown()
                } else {
                    table.to_text()
                }
            })
            .collect();
        let failed = rows.iter().filter(|row| row.cause.is_some()).count();
        let planned = campaign.sessions().len();
        Ok(format!(
            "{}\n{} of {planned} sessions are there, {failed} of them failed; see {}\n",
            texts.join("\n"),
            rows.len(),
            self.path.join("DATASHEET.md").display()
        ))
    }

    fn write(&self, name: &str, text: &str) -> Result<(), CliError> {
        let mut output = Files::default().create(&self.path.join(name), Existing::Replace)?;
        output.put(text.as_bytes())?;
        Ok(output.finish()?)
    }
}

/// A value as JSON, with a line for each field.
fn json(value: &impl serde::Serialize) -> Result<String, CliError> {
    let text = serde_json::to_string_pretty(value).map_err(|error| CliError::Row {
        path: PathBuf::from(ROW),
        why: error.to_string(),
    })?;
    Ok(text + "\n")
}
