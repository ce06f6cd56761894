//! Runs many seeds of the world, with each transport.

#![allow(clippy::unwrap_used, reason = "a test may")]

use mimosa_world::{FaultKind, Plan, Summary, TransportKind, run};

/// Runs seeds. Prints the line that repeats the one that fails.
fn seeds(seeds: std::ops::Range<u64>, transport: TransportKind) -> Summary {
    let mut all = Summary::default();
    for seed in seeds {
        let plan = Plan::draw(seed, transport);
        match run(&plan) {
            Ok(summary) => all.add(&summary),
            Err(violation) => {
                let name = format!("{transport:?}").to_lowercase();
                panic!("{violation}\nmimosa soak --seeds {seed} --transport {name}")
            }
        }
    }
    all
}

#[test]
fn rules_hold_over_seeds_and_every_fault_is_met() {
    let all = seeds(0..150, TransportKind::Plain);
    for kind in FaultKind::ALL {
        let met = all.faults.get(kind.name()).copied().unwrap_or(0);
        assert!(met > 0, "{} never acted: {all:?}", kind.name());
    }
    let seconds = all.time.as_secs();
    assert!(
        (10.0..100.0).contains(&(all.shown as f64 / seconds)),
        "{all:?}"
    );
}

#[test]
fn rules_hold_with_webrtc_at_both_ends() {
    let all = seeds(0..3, TransportKind::WebRtc);
    assert!(all.shown > 1_000, "{all:?}");
}

#[test]
fn a_seed_is_a_run() {
    let plan = Plan::draw(3, TransportKind::Plain);
    assert_eq!(run(&plan), run(&plan));
}
