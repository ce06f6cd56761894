//! Scenarios.

use std::path::PathBuf;
use std::sync::Arc;

use mimosa_scenario::{Files, FlowKind, Loaded};
use pyo3::create_exception;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    mimosa_lab,
    ScenarioError,
    PyValueError,
    "A scenario is wrong; the message says where, and what to write instead."
);

/// Files of a folder, or none.
struct Folder(Option<PathBuf>);

impl Files for Folder {
    fn read(&mut self, path: &str) -> Result<String, String> {
        let Some(folder) = &self.0 else {
            return Err("no folder was given for its files: pass `folder=`".to_owned());
        };
        std::fs::read_to_string(folder.join(path)).map_err(|error| error.to_string())
    }
}

/// A scenario: all that describes a run but its seed.
#[pyclass(frozen, module = "mimosa_lab._native")]
pub(crate) struct Scenario {
    text: String,
    pub(crate) loaded: Arc<Loaded>,
}

#[pymethods]
impl Scenario {
    #[new]
    #[pyo3(signature = (text, name="scenario", folder=None))]
    fn new(text: String, name: &str, folder: Option<PathBuf>) -> PyResult<Self> {
        let loaded = mimosa_scenario::load(&text, name, &mut Folder(folder))
            .map_err(|error| ScenarioError::new_err(error.to_string()))?;
        Ok(Self {
            text,
            loaded: Arc::new(loaded),
        })
    }

    /// The scenario's TOML.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    /// The seed that the scenario names; 1 without one.
    #[getter]
    fn seed(&self) -> u64 {
        self.loaded.seed
    }

    /// The names of the variants; a scenario without variants has one, named `None`.
    #[getter]
    fn variants(&self) -> Vec<Option<String>> {
        let variants = self.loaded.variants.iter();
        variants.map(|(name, _)| name.clone()).collect()
    }

    /// The names of the flows of the first variant, with their kinds: `video`, `tcp` or `cbr`.
    #[getter]
    fn flows(&self) -> Vec<(String, &'static str)> {
        let first = self.loaded.variants.first();
        let flows = first.into_iter().flat_map(|(_, scenario)| &scenario.flows);
        flows
            .map(|flow| (flow.name.clone(), flow.kind_name()))
            .collect()
    }

    /// Remarks on what was not taken literally, each with its place.
    #[getter]
    fn notes(&self) -> Vec<String> {
        let notes = self.loaded.notes.iter();
        notes
            .map(|(place, note)| format!("{place}: {note}"))
            .collect()
    }

    fn __repr__(&self) -> String {
        format!(
            "Scenario(variants={:?}, flows={:?})",
            self.variants(),
            self.flows()
        )
    }
}

impl Scenario {
    /// The places of the variants with this name, or of all.
    pub(crate) fn chosen(&self, variant: Option<&str>) -> PyResult<Vec<usize>> {
        let variants = &self.loaded.variants;
        let Some(wanted) = variant else {
            return Ok((0..variants.len()).collect());
        };
        let place = variants
            .iter()
            .position(|(name, _)| name.as_deref() == Some(wanted));
        place.map(|place| vec![place]).ok_or_else(|| {
            let names = variants.iter().filter_map(|(name, _)| name.as_deref());
            let names = names.collect::<Vec<_>>().join(", ");
            PyIndexError::new_err(format!("there is no variant `{wanted}`; there is {names}"))
        })
    }
}

/// The number of the first video flow.
pub(crate) fn first_video(scenario: &mimosa_scenario::Scenario) -> Option<usize> {
    let mut flows = scenario.flows.iter();
    flows.position(|flow| matches!(flow.kind, FlowKind::Video(_)))
}
