//! Files that a scenario names.

use std::path::{Path, PathBuf};

use mimosa_units::Where;

use crate::output::Files;
use crate::terminal::say;
use crate::text;

/// The advice in errors about a scenario that cannot be read.
pub(crate) const NO_SCENARIO: &str = "name a scenario file, such as scenarios/steps.toml";
/// Most notes that are shown; more would bury everything else.
const NOTES_SHOWN: usize = 5;

/// The folder of a scenario, from which paths in the scenario are relative. Files that are read
/// there count as inputs of the command.
pub(crate) struct Beside<'a> {
    folder: PathBuf,
    files: &'a mut Files,
}

impl<'a> Beside<'a> {
    /// The files in the folder of the file at `path`.
    pub(crate) fn of(path: &Path, files: &'a mut Files) -> Self {
        Self::within(path.parent().unwrap_or(Path::new("")), files)
    }

    /// The files in `folder`.
    pub(crate) fn within(folder: &Path, files: &'a mut Files) -> Self {
        let folder = folder.to_owned();
        Self { folder, files }
    }
}

impl mimosa_scenario::Files for Beside<'_> {
    fn read(&mut self, path: &str) -> Result<String, String> {
        let path = self.folder.join(path);
        let text = text::read_named(&path).map_err(|error| error.to_string())?;
        self.files.reads("file", &path);
        Ok(text)
    }
}

/// Prints notes on what was not taken literally.
pub(crate) fn print_notes(notes: &[(Where, String)]) {
    for (place, note) in notes.iter().take(NOTES_SHOWN) {
        say(format_args!("note: {place}: {note}"));
    }
    let more = notes.len().saturating_sub(NOTES_SHOWN);
    if more > 0 {
        say(format_args!("note: and {more} lines more of that kind"));
    }
}
