//! Finds what makes a controller from outside.

use std::path::Path;
use std::sync::Arc;

use mimosa_foreign::{Maker, OutsideName};

use crate::error::{OutsideError, Problem};
use crate::process::ProcessMaker;

/// How controllers are waited for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Pace {
    /// Virtual time stands still until a controller has answered, so that real time does not change
    /// what it decides.
    Simulated,
    /// Time goes on: a process that answers late decides late.
    Live,
}

/// Finds what makes the controller called `name`. Relative paths in the name count from `folder`, in
/// which a process runs. A module is read and compiled here, and a process is started once for each
/// controller that is made.
///
/// # Errors
///
/// [`OutsideError`] if there is no command, or no module that could be a controller.
pub fn find(
    name: OutsideName<'_>,
    folder: &Path,
    pace: Pace,
) -> Result<Arc<dyn Maker>, OutsideError> {
    let found = match name {
        OutsideName::Process { command } => process(command, folder, pace),
        OutsideName::Wasm { file } => module(file, folder),
    };
    found.map_err(|problem| OutsideError {
        name: text(name),
        problem,
    })
}

/// The name as it is written.
fn text(name: OutsideName<'_>) -> String {
    match name {
        OutsideName::Process { command } => format!("process:{command}"),
        OutsideName::Wasm { file } => format!("wasm:{file}"),
    }
}

fn process(command: &str, folder: &Path, pace: Pace) -> Result<Arc<dyn Maker>, Problem> {
    Ok(Arc::new(ProcessMaker::new(command, folder, pace)?))
}

#[cfg(feature = "wasm")]
fn module(file: &str, folder: &Path) -> Result<Arc<dyn Maker>, Problem> {
    Ok(Arc::new(crate::wasm::WasmMaker::read(file, folder)?))
}

#[cfg(not(feature = "wasm"))]
fn module(_file: &str, _folder: &Path) -> Result<Arc<dyn Maker>, Problem> {
    Err(Problem::WithoutWasm)
}
