//! The native part of the Python package `mimosa_lab`, which `python/mimosa_lab` documents.
//!
//! | module | |
//! | --- | --- |
//! | `scenario` | scenarios, from TOML |
//! | `run` | runs of many seeds on all cores, with progress and interrupts |
//! | `controller` | controllers that are objects of Python |
//! | `table` | columns as Arrow tables |
//! | `flows` | the table of the flows' figures |
//! | `episode` | sessions that a learner steers |
//! | `suite` | the lab's suites |
//! | `window` | the part of each run that the figures are about |

use pyo3::prelude::*;

mod controller;
mod episode;
mod flows;
mod run;
mod scenario;
mod suite;
mod table;
mod window;

/// The native part of `mimosa_lab`.
#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::episode::{Episode, Episodes};
    #[pymodule_export]
    use crate::run::{RunResult, run};
    #[pymodule_export]
    use crate::scenario::{Scenario, ScenarioError};
    #[pymodule_export]
    use crate::suite::{run_suite, suites};
    #[pymodule_export]
    use crate::table::Table;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("CONTROLLERS", mimosa_cc::NAMES.to_vec())?;
        module.add("OBSERVATION", mimosa_learn::Observation::NAMES.to_vec())?;
        module.add("VERSION", env!("CARGO_PKG_VERSION"))
    }
}

/// A value of Rust as an object of Python.
fn to_python<T: serde::Serialize>(py: Python<'_>, value: &T) -> PyResult<Py<PyAny>> {
    Ok(pythonize::pythonize(py, value)?.unbind())
}
