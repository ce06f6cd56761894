//! What the pacer gives and what it costs, over seeds, in virtual time: pictures shown, one a refresh, on the
//! one side, and the delay that it adds on the other. The model is that of the table in docs/results/presentation.md.

#![allow(clippy::unwrap_used, reason = "a test may")]

#[path = "../examples/presentation/model.rs"]
mod model;

use model::{Case, Figures, Jitter, Strategy, run};

/// Phases between stream and display, and draws of the jitter.
const SEEDS: u64 = 40;

const STEADY: Case = Case {
    pictures: 60.0,
    hertz: 60.0,
    drift: 0.0,
    jitter: Jitter::None,
};

/// Runs a case with every seed, at once and paced.
fn both(case: &Case, check: impl Fn(u64, &Figures, &Figures)) {
    for seed in 0..SEEDS {
        let at_once = run(case, Strategy::AtOnce, seed);
        let paced = run(case, Strategy::Paced, seed);
        check(seed, &at_once, &paced);
    }
}

/// The mean of a figure over the seeds.
fn mean(case: &Case, strategy: Strategy, of: impl Fn(&Figures) -> f64) -> f64 {
    let all = (0..SEEDS).map(|seed| of(&run(case, strategy, seed)));
    all.sum::<f64>() / SEEDS as f64
}

#[test]
fn without_jitter_nothing_is_added_but_the_time_for_the_decision() {
    both(&STEADY, |seed, at_once, paced| {
        assert!(
            paced.shown > 59.9 && paced.dropped < 0.02,
            "{seed}: {paced:?}"
        );
        // A picture that comes between the decision and the refresh waits for the next one: the margin
        // of 1.5 ms is that wide, and the rest of the pictures lose nothing.
        let added = paced.added[0] - at_once.added[0];
        let is_between = at_once.added[0] < 1.5 + 1.0 + 0.3;
        assert!(added.abs() < 0.1 || is_between, "{seed}: {added}");
        assert!(paced.deviation < 0.9, "{seed}: {paced:?}");
    });
}

#[test]
fn with_jitter_each_refresh_has_a_picture_and_the_delay_is_that_of_the_late_ones() {
    for most in [0.002, 0.004, 0.008, 0.012] {
        let case = Case {
            jitter: Jitter::Uniform(most),
            ..STEADY
        };
        both(&case, |seed, at_once, paced| {
            assert!(
                paced.repeated < 0.2 && paced.dropped < 0.2,
                "{seed}: {paced:?}"
            );
            // The longest hold is below two refreshes.
            assert!(paced.added[3] < 2.0 * 16.67 + 0.2, "{seed}: {paced:?}");
            assert!(
                paced.deviation <= at_once.deviation + 0.3,
                "{seed}: {paced:?} against {at_once:?}"
            );
        });
        // The least constant delay is known to no client in advance; the pacer finds it, but for its margin.
        let least = Strategy::Least(0.0015);
        let [least, paced] = [least, Strategy::Paced].map(|by| mean(&case, by, |run| run.added[0]));
        assert!(paced < least + 0.5, "{most}: {least} and {paced}");
        let repeats = mean(&case, Strategy::AtOnce, |run| run.repeated);
        assert!(repeats > 0.5, "at once, {repeats} refreshes have none");
    }
}

/// The sawtooth's queue grows for 3 s, and its first pictures after that are early.
#[test]
fn a_queue_that_grows_and_empties_is_held_for_what_its_end_needs() {
    let case = Case {
        jitter: Jitter::Sawtooth(0.012),
        ..STEADY
    };
    both(&case, |seed, _, paced| {
        assert!(paced.repeated + paced.dropped < 0.2, "{seed}: {paced:?}");
    });
    let least = Strategy::Least(0.0015);
    let [least, paced] = [least, Strategy::Paced].map(|by| mean(&case, by, |run| run.added[0]));
    assert!(paced < least + 0.5, "{least} and {paced}");
}

#[test]
fn a_fixed_buffer_costs_more_and_gives_no_more() {
    let case = Case {
        jitter: Jitter::Uniform(0.004),
        ..STEADY
    };
    let [fixed, paced] =
        [Strategy::Fixed, Strategy::Paced].map(|by| mean(&case, by, |run| run.added[0]));
    assert!(paced + 8.0 < fixed, "{paced} and {fixed}");
}

#[test]
fn pauses_are_not_bridged_and_leave_no_hold_behind() {
    let jitter = Jitter::WiFi(0.004);
    let case = Case { jitter, ..STEADY };
    let calm = Case {
        jitter: Jitter::Uniform(0.004),
        ..STEADY
    };
    let [with, without] = [case, calm].map(|case| mean(&case, Strategy::Paced, |run| run.added[0]));
    assert!(with - without < 3.0, "{with} and {without}");
    both(&case, |seed, at_once, paced| {
        // A pause costs its own refreshes and no further ones.
        assert!(
            paced.repeated < at_once.repeated + 0.2,
            "{seed}: {paced:?} against {at_once:?}"
        );
        assert!(paced.stay <= at_once.stay + 16.8, "{seed}");
    });
}

#[test]
fn a_faster_display_has_an_even_cadence() {
    for hertz in [75.0, 90.0, 120.0, 144.0, 240.0] {
        // More than a refresh, less the time for decision and drawing, is not held.
        let most = f64::min(0.004, 1.0 / hertz - 0.002_5);
        let case = Case {
            hertz,
            jitter: Jitter::Uniform(most),
            ..STEADY
        };
        // Each picture stays for one of two neighbouring numbers of refreshes.
        let refresh = 1e3 / hertz;
        let ideal = (1e3_f64 / 60.0 / refresh).ceil() * refresh;
        both(&case, |seed, at_once, paced| {
            assert!(paced.shown > 59.8, "{hertz}, {seed}: {paced:?}");
            assert!(
                paced.deviation < at_once.deviation + 0.1,
                "{hertz}, {seed}: {paced:?} against {at_once:?}"
            );
            assert!(
                paced.stay < ideal + 2.0 * refresh + 0.1,
                "{hertz}, {seed}: {paced:?}"
            );
            assert!(
                paced.added[3] < 2.0 * refresh + 0.2,
                "{hertz}, {seed}: {paced:?}"
            );
        });
    }
}

#[test]
fn a_slower_display_shows_the_newest_picture_without_a_hold() {
    let case = Case {
        hertz: 50.0,
        jitter: Jitter::Uniform(0.004),
        ..STEADY
    };
    both(&case, |seed, at_once, paced| {
        assert!(
            paced.repeated < 0.3 && paced.shown > 49.7,
            "{seed}: {paced:?}"
        );
        assert!(paced.added[1] < at_once.added[1] + 3.0, "{seed}");
    });
}

#[test]
fn clocks_that_drift_cost_a_repeat_or_a_drop_a_minute() {
    for drift in [-200e-6, 200e-6] {
        let case = Case {
            drift,
            jitter: Jitter::Uniform(0.001),
            ..STEADY
        };
        both(&case, |seed, _, paced| {
            // 200 ppm are one picture in 83 s; the jitter may have a crossing last a little longer.
            let changes = 60.0 * (paced.repeated + paced.dropped);
            assert!(changes < 8.0, "{seed}: {paced:?}");
        });
    }
}

/// The page has the rows that the model gives.
#[test]
fn the_page_is_not_stale() {
    let page = include_str!("../../../../docs/results/presentation.md");
    let case = Case {
        jitter: Jitter::Uniform(0.004),
        ..STEADY
    };
    for row in model::rows("0 to 4 ms", &case) {
        assert!(page.contains(&row), "run `make presentation`: {row}");
    }
}
