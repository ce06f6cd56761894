//! A run, and its figures.

use mimosa_facts::Observer;
use mimosa_scenario::Scenario;

use crate::collector::Collector;
use crate::figures::RunFigures;
use crate::recovery::Recovery;
use crate::window::Window;

/// The figures of the `window` of a run of `scenario`, which `run` runs and tells to the
/// observer that it is given; `observer` is told everything as well.
pub fn measure<'a, 'o, O: Observer>(
    scenario: &'a Scenario,
    window: Window,
    observer: &'o mut O,
    run: impl FnOnce(&mut ((Collector<'a>, Recovery), &'o mut O)),
) -> RunFigures {
    let own = (
        Collector::new(scenario, window),
        Recovery::new(scenario, window),
    );
    let mut watching = (own, observer);
    run(&mut watching);
    let ((collector, recovery), _) = watching;
    let mut figures = collector.figures();
    for (number, flow) in figures.flows.iter_mut().enumerate() {
        flow.recovery = recovery.figures(number);
    }
    debug_assert!(figures.balance.is_even(), "{:?}", figures.balance);
    figures
}
