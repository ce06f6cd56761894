//! The part of each run that the figures are about.

use mimosa_figures::Window;
use mimosa_scenario::Loaded;
use mimosa_units::{Time, TimeDelta};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The window from one time to before another, which a run of every variant has.
pub(crate) fn read(
    (from, to): (Option<String>, Option<String>),
    loaded: &Loaded,
) -> PyResult<Window> {
    let lengths = loaded.variants.iter();
    let end = lengths.map(|(_, scenario)| scenario.duration).min();
    let end = end.unwrap_or(TimeDelta::ZERO);
    let time = |text: Option<String>, usual| match text {
        Some(text) => text
            .parse::<TimeDelta>()
            .map_err(|error| PyValueError::new_err(format!("`window`: {error}"))),
        None => Ok(usual),
    };
    let (from, to) = (time(from, TimeDelta::ZERO)?, time(to, end)?);
    if from < TimeDelta::ZERO || from >= to || to > end {
        return Err(PyValueError::new_err(format!(
            "`window` from {from} to {to} is no part of the run, which lasts {end}; let its first time be before its second, and that at most {end}"
        )));
    }
    Ok(Window {
        from: Time::ZERO + from,
        to: Time::ZERO + to,
    })
}
