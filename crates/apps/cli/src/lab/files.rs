//! Reads suites and traces.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::LabError;
use crate::beside::{Beside, Outside};
use crate::output::Files;
use mimosa_foreign::{Maker, OutsideName};
use mimosa_lab::{Embedded, SUITES, Suite};

/// Reads the suite called `name`, or the one in the folder of that name, with the traces of a
/// folder if one is given. The files that were read are added to `files`.
pub(super) fn suite(
    name: &str,
    traces: Option<&Path>,
    outside: Outside,
    files: &mut Files,
) -> Result<Suite, LabError> {
    let inner = if let Some(embedded) = Embedded::named(name) {
        Inner::Embedded(embedded)
    } else if Path::new(name).join("suite.toml").is_file() {
        Inner::Folder(PathBuf::from(name))
    } else {
        let known: Vec<_> = SUITES.iter().map(|(name, _)| *name).collect();
        return Err(LabError::UnknownSuite {
            name: name.to_owned(),
            known: known.join(", "),
        });
    };
    let recorded = traces.map(list).transpose()?.unwrap_or_default();
    let mut reader = WithTraces {
        inner,
        folder: traces.unwrap_or(Path::new("")).to_owned(),
        recorded: &recorded,
        files,
        outside,
    };
    Ok(Suite::load(name, &mut reader, &recorded)?)
}

/// Where a suite's files are.
enum Inner {
    Embedded(Embedded),
    Folder(PathBuf),
}

/// The files of a suite, together with those of a folder of traces.
struct WithTraces<'a> {
    inner: Inner,
    folder: PathBuf,
    /// Paths of the traces, relative to the folder.
    recorded: &'a [String],
    /// The files that were read.
    files: &'a mut Files,
    /// The controllers that a suite in a folder may name.
    outside: Outside,
}

impl mimosa_scenario::Files for WithTraces<'_> {
    fn read(&mut self, path: &str) -> Result<String, String> {
        let folder = if self.recorded.iter().any(|known| known == path) {
            &self.folder
        } else {
            match &mut self.inner {
                Inner::Embedded(embedded) => return embedded.read(path),
                Inner::Folder(folder) => folder,
            }
        };
        Beside::within(folder, self.files).read(path)
    }

    fn outside(&mut self, name: OutsideName<'_>) -> Result<Arc<dyn Maker>, String> {
        match &self.inner {
            Inner::Embedded(_) => ().outside(name),
            Inner::Folder(folder) => Beside::within(folder, self.files)
                .with(self.outside)
                .outside(name),
        }
    }
}

/// The files in and below `folder`, sorted; hidden ones are left out.
fn list(folder: &Path) -> Result<Vec<String>, LabError> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(below) = folders.pop() {
        let path = folder.join(&below);
        let failed = |source| LabError::Traces {
            path: path.clone(),
            source,
        };
        for entry in std::fs::read_dir(&path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = below.join(entry.file_name());
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            if entry.file_type().map_err(failed)?.is_dir() {
                folders.push(name);
            } else if let Some(name) = name.to_str() {
                found.push(name.to_owned());
            }
        }
    }
    found.sort_unstable();
    if found.is_empty() {
        return Err(LabError::NoTraces {
            path: folder.to_owned(),
        });
    }
    Ok(found)
}
