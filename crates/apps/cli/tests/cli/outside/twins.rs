//! Each decision of a run is compared with the twin's.

use std::path::Path;
use std::sync::{Arc, Mutex};

use mimosa_facts::{Cause, Controller, Decision, Event, Limits, Pacing};
use mimosa_foreign::{Maker, OutsideName};
use mimosa_outside::{Pace, find};
use mimosa_scenario::{FlowKind, Scenario};
use mimosa_sim::Run;
use mimosa_units::Time;

use super::aimd::Aimd;
use super::{SCENARIO, controller, controllers};
use crate::{folder, stdout};

/// What was seen of a run.
#[derive(Default)]
struct Seen {
    events: usize,
    /// The number of the first event after which the two disagreed, and both decisions.
    differ: Option<(usize, String)>,
    decisions: Vec<Decision>,
    timers: usize,
}

/// The twin, which decides, and another controller beside it that is told the same.
#[derive(Debug)]
struct Both {
    twin: Aimd,
    other: Box<dyn Controller>,
    seen: Arc<Mutex<Seen>>,
}

impl std::fmt::Debug for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} events", self.events)
    }
}

impl Controller for Both {
    fn handle(&mut self, now: Time, event: Event<'_>) -> &Decision {
        let decision = *self.twin.handle(now, event);
        let other = *self.other.handle(now, event);
        let both = (decision, self.twin.deadline());
        let others = (other, self.other.deadline());
        let mut seen = self.seen.lock().unwrap();
        seen.events += 1;
        seen.timers += usize::from(event == Event::Timer);
        if seen.decisions.last() != Some(&decision) {
            seen.decisions.push(decision);
        }
        if both != others && seen.differ.is_none() {
            let failure = self.other.failure();
            let text = format!("at {now}, {event:?}:\n{both:?}\n{others:?}\n{failure:?}");
            seen.differ = Some((seen.events, text));
        }
        self.twin.decision()
    }

    fn decision(&self) -> &Decision {
        self.twin.decision()
    }

    fn deadline(&self) -> Option<Time> {
        self.twin.deadline()
    }
}

fn scenario() -> (Scenario, Limits) {
    let mut loaded = mimosa_scenario::load(SCENARIO, "twins", &mut ()).unwrap();
    let scenario = loaded.variants.remove(0).1;
    let FlowKind::Video(video) = &scenario.flows[0].kind else {
        panic!("{scenario:?}");
    };
    let limits = video.limits;
    (scenario, limits)
}

fn maker(name: &str) -> Arc<dyn Maker> {
    let name = OutsideName::of(name).unwrap();
    find(name, &controllers(), Pace::Simulated).unwrap()
}

/// Runs the twin, with the first of `steps`, beside the controller that `maker` makes, with the second,
/// and gives what was seen of both.
fn beside(maker: &dyn Maker, seed: u64, steps: (u64, i64)) -> Seen {
    let (scenario, limits) = scenario();
    let params = toml::Table::from_iter([("step_bps".to_owned(), toml::Value::Integer(steps.1))]);
    let shared = Arc::new(Mutex::new(Seen::default()));
    let mut run = Run::with(&scenario, seed, &mut |_| {
        Some(Box::new(Both {
            twin: Aimd::new(limits, steps.0),
            other: maker.make(&params, limits),
            seen: Arc::clone(&shared),
        }))
    });
    run.until(Time::MAX, &mut ());
    drop(run);
    Arc::into_inner(shared).unwrap().into_inner().unwrap()
}

/// The forms with which every decision of the twin is compared.
const FORMS: [&str; 3] = [
    "wasm:aimd.wasm",
    "wasm:aimd.component.wasm",
    "process:python3 aimd.py",
];

#[test]
fn a_module_a_component_and_a_process_decide_as_their_twin_at_every_event() {
    for form in FORMS {
        let maker = maker(form);
        for seed in 1..=3 {
            let seen = beside(maker.as_ref(), seed, (20_000, 20_000));
            assert_eq!(seen.differ, None, "{form} with seed {seed}");
            assert!(seen.events > 3_000, "{form}: {}", seen.events);
            // The run has every rule and every field of a decision in it.
            let has = |is: &dyn Fn(&Decision) -> bool| seen.decisions.iter().any(is);
            let causes = [
                Cause::Start,
                Cause::AdditiveIncrease,
                Cause::QueueDelay,
                Cause::Loss,
                Cause::FeedbackTimeout,
            ];
            for cause in causes {
                assert!(has(&|decision| decision.cause == cause), "{cause:?}");
            }
            assert!(has(&|decision| decision.frame_limit.is_some()));
            assert!(has(&|decision| decision.probe.is_some()));
            assert!(has(&|decision| decision.window.is_some()));
            assert!(has(&|decision| decision.pacing == Pacing::Burst));
            assert!(has(&|decision| matches!(
                decision.pacing,
                Pacing::Spread { .. }
            )));
            assert!(has(&|decision| matches!(
                decision.pacing,
                Pacing::Bucket { .. }
            )));
            assert!(seen.timers > 3, "{}", seen.timers);
        }
    }
}

#[test]
fn a_twin_that_differs_by_one_bit_a_second_is_noticed() {
    for form in FORMS {
        let seen = beside(maker(form).as_ref(), 1, (20_000, 20_001));
        let (number, text) = seen.differ.unwrap();
        assert!(number < 200, "{form} at event {number}: {text}");
    }
}

/// The frames and packets of a run of `SCENARIO` with this controller, by every seed.
fn figures(here: &Path, controller: &str) -> String {
    let text = format!("{SCENARIO}controller = \"{controller}\"\n");
    std::fs::write(here.join("run.toml"), text).unwrap();
    let arguments = "sim run.toml --seeds 1..2 --allow-processes --json -";
    stdout(here, arguments).replace(controller, "aimd")
}

#[test]
fn the_program_gives_the_same_figures_with_each_form() {
    let here = folder("outside-figures");
    for file in ["aimd.py", "aimd.wasm"] {
        std::fs::copy(controller(file), here.join(file)).unwrap();
    }
    let module = figures(&here, "wasm:aimd.wasm");
    assert_eq!(module.lines().count(), 2);
    assert!(module.contains("\"controller\":\"aimd\""), "{module}");
    assert_eq!(module, figures(&here, "process:python3 aimd.py"));
    assert_ne!(module, figures(&here, "fixed").replace("fixed", "aimd"));
}
