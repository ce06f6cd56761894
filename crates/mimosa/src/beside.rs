//! Files that a scenario names.

use std::path::Path;

use mimosa_sim::scenario::{Files, Where};

/// More notes than this would bury everything else.
const NOTES_SHOWN: usize = 5;

/// Paths in a scenario count from its own folder.
pub(crate) struct Beside<'a>(&'a Path);

impl<'a> Beside<'a> {
    /// The files beside the one at `path`.
    pub(crate) fn of(path: &'a Path) -> Self {
        Self(path.parent().unwrap_or(Path::new("")))
    }
}

impl Files for Beside<'_> {
    fn read(&mut self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(self.0.join(path)).map_err(|error| error.to_string())
    }
}

/// Says what was not taken literally.
pub(crate) fn print_notes(notes: &[(Where, String)]) {
    for (place, note) in notes.iter().take(NOTES_SHOWN) {
        eprintln!("note: {place}: {note}");
    }
    let more = notes.len().saturating_sub(NOTES_SHOWN);
    if more > 0 {
        eprintln!("note: and {more} lines more of that kind");
    }
}
