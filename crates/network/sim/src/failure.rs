//! Runs whose controllers may fail: those from outside the program.

use mimosa_facts::Observer;
use mimosa_scenario::Scenario;
use mimosa_units::{Time, TimeDelta};

use crate::simulation::Run;

/// The virtual time after which a run looks whether its controllers still decide.
const SLICE: TimeDelta = TimeDelta::from_millis(100);

/// The controller of a flow has failed, and what was simulated after that means nothing.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ControllerFailed {
    /// Name of the flow.
    pub flow: String,
    /// Why the controller decides no more, and what to do about it.
    pub why: String,
}

impl std::fmt::Display for ControllerFailed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "flow `{}`: {}", self.flow, self.why)
    }
}

impl std::error::Error for ControllerFailed {}

/// Runs `scenario` with `seed` as [`run`](crate::run) does, and stops within 100 ms of virtual time
/// after a controller has failed. `observer` is told the end of the run in every case.
///
/// # Errors
///
/// [`ControllerFailed`] about the first flow whose controller failed.
pub fn try_run(
    scenario: &Scenario,
    seed: u64,
    observer: &mut impl Observer,
) -> Result<(), ControllerFailed> {
    let mut run = Run::new(scenario, seed);
    let (end, mut now) = (run.end(), Time::ZERO);
    while now < end && run.failure().is_none() {
        now += SLICE;
        run.until(now, observer);
    }
    let failed = run.failure().map(|(number, why)| ControllerFailed {
        flow: scenario
            .flows
            .get(number)
            .map_or_else(String::new, |flow| flow.name.clone()),
        why: why.to_owned(),
    });
    run.finish(observer);
    failed.map_or(Ok(()), Err)
}
