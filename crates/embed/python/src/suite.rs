//! The lab's suites.

use std::path::PathBuf;

use mimosa_lab::{Choice, Embedded, SUITES, Suite};
use mimosa_sweep::{Store, WholeFiles, run_suite as run_all, this_program, write_results};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::controller::Stop;
use crate::to_python;

fn wrong(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The names of the suites.
#[pyfunction]
pub(crate) fn suites() -> Vec<&'static str> {
    SUITES.iter().map(|(name, _)| *name).collect()
}

/// Runs a suite, keeps each run in `folder` so that the next call continues, writes the suite's page
/// there, and returns the records and the path of the page.
#[pyfunction]
#[pyo3(signature = (name, folder, controllers, seeds, cases, progress))]
pub(crate) fn run_suite(
    py: Python<'_>,
    name: &str,
    folder: PathBuf,
    controllers: Vec<String>,
    seeds: Option<(u64, u64)>,
    cases: Vec<String>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Py<PyAny>, PathBuf)> {
    let mut files = Embedded::named(name).ok_or_else(|| {
        let names = suites().join(", ");
        PyValueError::new_err(format!("there is no suite `{name}`; there is {names}"))
    })?;
    let choice = Choice {
        controllers,
        seeds,
        cases,
    };
    let suite = Suite::load(name, &mut files, &[]).map_err(wrong)?;
    std::fs::create_dir_all(&folder)?;
    let stop = Stop::default();
    let (records, page) = py.detach(|| {
        let program = this_program(env!("CARGO_PKG_VERSION"));
        let runs = folder.join("runs.jsonl");
        let mut store = Store::open(&runs, &suite, &program, &mut WholeFiles).map_err(wrong)?;
        let records = run_all(&suite, &choice, &mut store, |so_far| {
            let told = Python::attach(|py| {
                let Some(progress) = &progress else {
                    return Ok(());
                };
                progress.call1(py, (so_far.done, so_far.jobs)).map(drop)
            });
            if let Err(error) = told {
                stop.set(error);
            }
        });
        let records = records.map_err(wrong)?;
        let page = write_results(&suite, &records, &store, &folder, &mut WholeFiles);
        Ok::<_, PyErr>((records, page.map_err(wrong)?))
    })?;
    match stop.why() {
        Some(error) => Err(error),
        None => Ok((to_python(py, &records)?, page)),
    }
}
