//! Controllers that are objects of Python.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mimosa_facts::{Controller, Decision, Event, Limits};
use mimosa_foreign::{DecisionForm, EventForm, Standing};
use mimosa_learn::{Action, Observation, Steered};
use mimosa_units::Time;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Stops runs, for a reason that is kept if it is the first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop {
    is_set: Arc<AtomicBool>,
    why: Arc<Mutex<Option<PyErr>>>,
}

impl Stop {
    pub(crate) fn set(&self, why: PyErr) {
        let mut first = self.why.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(why);
        self.is_set.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Relaxed)
    }

    pub(crate) fn why(&self) -> Option<PyErr> {
        let mut why = self.why.lock().unwrap_or_else(PoisonError::into_inner);
        why.take()
    }
}

/// A controller whose decisions an object of Python makes, by its method `handle(now_ns, event)`.
#[derive(Debug)]
pub(crate) struct PyController {
    object: Py<PyAny>,
    standing: Standing,
    stop: Stop,
}

/// The limits as a dictionary.
fn told(py: Python<'_>, limits: Limits) -> PyResult<Bound<'_, PyDict>> {
    let told = PyDict::new(py);
    told.set_item("min_bps", limits.min().as_bps())?;
    told.set_item("start_bps", limits.start().as_bps())?;
    told.set_item("max_bps", limits.max().as_bps())?;
    Ok(told)
}

/// The controller that asks, once for each frame, what `make`, called with the limits, gives.
pub(crate) fn steered(
    py: Python<'_>,
    make: &Py<PyAny>,
    limits: Limits,
    stop: &Stop,
) -> PyResult<Box<dyn Controller>> {
    let policy = make.call1(py, (told(py, limits)?,))?;
    if !policy.bind(py).is_callable() {
        let text = "a policy must be callable: it takes an observation and gives an action";
        return Err(PyValueError::new_err(text));
    }
    let stop = stop.clone();
    let mut last = Action {
        target_mbps: limits.start().as_mbps(),
        limit: 1.0,
        pace: 1.0,
    };
    Ok(Box::new(Steered::new(limits, move |seen: &Observation| {
        if stop.is_set() {
            return last;
        }
        let asked = Python::attach(|py| {
            let answer = policy.call1(py, (seen.values(),))?;
            answer.extract::<(f64, f64, f64)>(py)
        });
        match asked {
            Ok((target_mbps, limit, pace)) => {
                last = Action {
                    target_mbps,
                    limit,
                    pace,
                };
            }
            Err(error) => stop.set(error),
        }
        last
    })))
}

impl PyController {
    /// The controller that `make`, called with the limits, gives.
    pub(crate) fn new(
        py: Python<'_>,
        make: &Py<PyAny>,
        limits: Limits,
        stop: &Stop,
    ) -> PyResult<Self> {
        let object = make.call1(py, (told(py, limits)?,))?;
        if !object.bind(py).hasattr("handle")? {
            let text = "a controller needs a method `handle(now_ns, event)`";
            return Err(PyValueError::new_err(text));
        }
        Ok(Self {
            object,
            standing: Standing::new(limits),
            stop: stop.clone(),
        })
    }

    fn ask(&mut self, now: Time, event: &Event<'_>) -> PyResult<()> {
        Python::attach(|py| {
            let event = pythonize::pythonize(py, &EventForm::of(event))?;
            let answer = self
                .object
                .call_method1(py, "handle", (now.as_nanos(), event))?;
            if answer.is_none(py) {
                return Ok(());
            }
            let form: DecisionForm = pythonize::depythonize(answer.bind(py))
                .map_err(|error| PyValueError::new_err(format!("no decision: {error}")))?;
            self.standing
                .apply(now, &form)
                .map_err(|error| PyValueError::new_err(format!("no decision: {error}")))
        })
    }
}

impl Controller for PyController {
    fn handle(&mut self, now: Time, event: Event<'_>) -> &Decision {
        self.standing.before(&event);
        if !self.stop.is_set()
            && let Err(error) = self.ask(now, &event)
        {
            self.stop.set(error);
        }
        self.standing.decision()
    }

    fn decision(&self) -> &Decision {
        self.standing.decision()
    }

    fn deadline(&self) -> Option<Time> {
        self.standing.deadline()
    }
}
