//! Where suites and traces come from.

use std::path::{Path, PathBuf};

use mimosa_lab::{Embedded, SUITES, Suite};
use mimosa_sim::scenario::Files;

use super::error::LabError;

/// Reads the suite called `name`, or the one in the folder of that name, perhaps over the
/// traces of a folder.
pub(super) fn suite(name: &str, traces: Option<&Path>) -> Result<Suite, LabError> {
    let inner: Box<dyn Files> = if let Some(embedded) = Embedded::named(name) {
        Box::new(embedded)
    } else if Path::new(name).join("suite.toml").is_file() {
        Box::new(Folder(PathBuf::from(name)))
    } else {
        let known: Vec<_> = SUITES.iter().map(|(name, _)| *name).collect();
        return Err(LabError::UnknownSuite {
            name: name.to_owned(),
            known: known.join(", "),
        });
    };
    let recorded = traces.map(list).transpose()?.unwrap_or_default();
    let mut files = WithTraces {
        inner,
        folder: traces.unwrap_or(Path::new("")).to_owned(),
        recorded,
    };
    let recorded = files.recorded.clone();
    Ok(Suite::load(name, &mut files, &recorded)?)
}

/// The files of a folder.
struct Folder(PathBuf);

impl Files for Folder {
    fn read(&mut self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(self.0.join(path)).map_err(|error| error.to_string())
    }
}

/// Those of a suite, and those of a folder of traces.
struct WithTraces {
    inner: Box<dyn Files>,
    folder: PathBuf,
    /// Their paths, counted from the folder.
    recorded: Vec<String>,
}

impl Files for WithTraces {
    fn read(&mut self, path: &str) -> Result<String, String> {
        if self.recorded.iter().any(|known| known == path) {
            return Folder(self.folder.clone()).read(path);
        }
        self.inner.read(path)
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
