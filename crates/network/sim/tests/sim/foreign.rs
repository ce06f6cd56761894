//! Controllers from outside may decide anything that has the form of a decision.

use mimosa_facts::{Controller, Decision, Event, Limits};
use mimosa_foreign::{DecisionForm, PacingForm, ProbeForm, Standing};
use mimosa_scenario::FlowKind;
use mimosa_sim::{Run, try_run};
use mimosa_units::Time;
use mimosa_units::random::SplitMix;

/// Numbers at the ends of what a decision may have, and within.
const NUMBERS: [f64; 8] = [0.0, 0.4, 1.0, 1_199.0, 5e6, 1e9, 1e18, f64::MAX];

/// Decides at random.
#[derive(Debug)]
struct Random {
    bits: SplitMix,
    standing: Standing,
    probes: u64,
}

impl Random {
    fn number(&mut self) -> f64 {
        let at = self.bits.below(NUMBERS.len() as u64);
        NUMBERS[usize::try_from(at).unwrap()]
    }

    fn some<T>(&mut self, value: T) -> Option<T> {
        (self.bits.below(3) == 0).then_some(value)
    }

    fn form(&mut self, now: Time) -> DecisionForm {
        let span = [0, 1, 8_000_000, i64::MAX][usize::try_from(self.bits.below(4)).unwrap()];
        let pacing = match self.bits.below(3) {
            0 => PacingForm::Burst,
            1 => PacingForm::Spread {
                over_ns: span,
                lead: [0, 3, u16::MAX][usize::try_from(self.bits.below(3)).unwrap()],
            },
            _ => PacingForm::Bucket {
                rate_bps: self.number(),
                burst_bytes: self.number(),
            },
        };
        self.probes += 1;
        let probe = ProbeForm {
            id: self.probes,
            packets: [1, 100][usize::try_from(self.bits.below(2)).unwrap()],
            interval_ns: span,
            size_bytes: Some(self.number().min(2_000.0)),
            after_frame: None,
        };
        let timer = [0, now.as_nanos(), now.as_nanos() + 3_000_000, u64::MAX]
            [usize::try_from(self.bits.below(4)).unwrap()];
        let (target, limit, window) = (self.number(), self.number(), self.number());
        DecisionForm {
            target_bps: self.some(target),
            frame_limit_bytes: self.some(limit),
            pacing: self.some(pacing),
            window_bytes: self.some(window),
            probe: self.some(probe),
            cause: None,
            timer_ns: self.some(timer),
        }
    }
}

impl Controller for Random {
    fn handle(&mut self, now: Time, event: Event<'_>) -> &Decision {
        self.standing.before(&event);
        let form = self.form(now);
        // Groups of probes that follow too soon are refused, and change nothing.
        let _ = self.standing.apply(now, &form);
        self.standing.decision()
    }

    fn decision(&self) -> &Decision {
        self.standing.decision()
    }

    fn deadline(&self) -> Option<Time> {
        self.standing.deadline()
    }
}

fn scenario() -> (mimosa_scenario::Scenario, Limits) {
    let text = "duration = '2s'\n[link]\nrate = '10Mbit/s'\nloss = 0.02\n[[flow]]\nname = 'game'\n";
    let mut loaded = mimosa_scenario::load(text, "foreign", &mut ()).unwrap();
    let scenario = loaded.variants.remove(0).1;
    let FlowKind::Video(video) = &scenario.flows[0].kind else {
        panic!("{scenario:?}");
    };
    let limits = video.limits;
    (scenario, limits)
}

#[test]
fn no_decision_makes_a_run_panic_or_stand_still() {
    let (scenario, limits) = scenario();
    for seed in 0..200 {
        let mut run = Run::with(&scenario, seed, &mut |_| {
            Some(Box::new(Random {
                bits: SplitMix::new(seed),
                standing: Standing::new(limits),
                probes: 0,
            }))
        });
        run.until(Time::MAX, &mut ());
        assert_eq!(run.failure(), None);
        run.finish(&mut ());
    }
}

#[test]
fn a_run_that_is_tried_is_the_run() {
    let (scenario, _) = scenario();
    let figures = |tries: bool| {
        mimosa_figures::measure(
            &scenario,
            mimosa_figures::Window::WHOLE,
            &mut (),
            |observer| {
                if tries {
                    try_run(&scenario, 3, observer).unwrap();
                } else {
                    mimosa_sim::run(&scenario, 3, observer);
                }
            },
        )
    };
    assert_eq!(figures(true), figures(false));
}
