//! Files that a scenario names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mimosa_foreign::{Maker, OutsideName};
use mimosa_outside::Pace;
use mimosa_units::{Where, shortened};

use crate::output::Files;
use crate::terminal::say;
use crate::text;

/// The advice in errors about a scenario that cannot be read.
pub(crate) const NO_SCENARIO: &str = "name a scenario file, such as scenarios/steps.toml";
/// Most notes that are shown; more would bury everything else.
const NOTES_SHOWN: usize = 5;

/// Which controllers from outside the program a file may name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Outside {
    /// None, as nothing runs them here.
    None,
    /// Modules of WebAssembly, which reach nothing outside.
    Modules,
    /// Modules, and processes, which can do what the user can.
    All,
}

impl Outside {
    /// Modules, and processes if `allows_processes`.
    pub(crate) const fn allowing(allows_processes: bool) -> Self {
        if allows_processes {
            Self::All
        } else {
            Self::Modules
        }
    }
}

/// The folder of a scenario, from which paths in the scenario are relative. Files that are read
/// there count as inputs of the command.
pub(crate) struct Beside<'a> {
    folder: PathBuf,
    files: &'a mut Files,
    outside: Outside,
}

impl<'a> Beside<'a> {
    /// The files in the folder of the file at `path`.
    pub(crate) fn of(path: &Path, files: &'a mut Files) -> Self {
        Self::within(path.parent().unwrap_or(Path::new("")), files)
    }

    /// The files in `folder`.
    pub(crate) fn within(folder: &Path, files: &'a mut Files) -> Self {
        Self {
            folder: folder.to_owned(),
            files,
            outside: Outside::None,
        }
    }

    /// These files, where a scenario may name `outside` controllers.
    pub(crate) fn with(self, outside: Outside) -> Self {
        Self { outside, ..self }
    }
}

impl mimosa_scenario::Files for Beside<'_> {
    fn read(&mut self, path: &str) -> Result<String, String> {
        let path = self.folder.join(path);
        let text = text::read_named(&path).map_err(|error| error.to_string())?;
        self.files.reads("file", &path);
        Ok(text)
    }

    fn outside(&mut self, name: OutsideName<'_>) -> Result<Arc<dyn Maker>, String> {
        match (name, self.outside) {
            (_, Outside::None) => return ().outside(name),
            (OutsideName::Process { command }, Outside::Modules) => {
                let command = shortened(command);
                return Err(format!(
                    "the file wants `{command}` to run, which can do all that you can; if you \
                     trust the file, add --allow-processes"
                ));
            }
            (OutsideName::Wasm { file }, _) => {
                self.files.reads("module", &self.folder.join(file));
            }
            (OutsideName::Process { .. }, Outside::All) => {}
        }
        let found = mimosa_outside::find(name, &self.folder, Pace::Simulated);
        found.map_err(|error| error.to_string())
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
