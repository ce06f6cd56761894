//! Runs many seeds of the world, with each transport.

#![allow(clippy::unwrap_used, reason = "a test may")]

use mimosa_world::{Codecs, FaultKind, Plan, Summary, TransportKind, run, run_with};

/// Runs seeds. Prints the line that repeats the one that fails.
fn seeds(seeds: std::ops::Range<u64>, transport: TransportKind) -> Summary {
    seeds_with(seeds, transport, None)
}

fn seeds_with(
    seeds: std::ops::Range<u64>,
    transport: TransportKind,
    codecs: Option<Codecs>,
) -> Summary {
    let mut all = Summary::default();
    for seed in seeds {
        let plan = Plan::draw(seed, transport);
        match run_with(&plan, codecs) {
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
    // Among them a new address (3), a player that reports nothing (5), and one that lies.
    let all = seeds(0..8, TransportKind::WebRtc);
    assert!(all.shown > 1_000, "{all:?}");
}

/// What is random in WebRTC, keys and certificates, does not change the course of a run, not even
/// where a player lies and its spoiled reports are read.
#[test]
fn a_seed_is_a_run() {
    let lies = |plan: &Plan| plan.faults.iter().any(|fault| fault.kind == FaultKind::Lie);
    let drawn = || (0..60).map(|seed| Plan::draw(seed, TransportKind::WebRtc));
    let plans: Vec<_> = drawn()
        .filter(lies)
        .take(4)
        .chain(drawn().filter(|plan| !lies(plan)).take(3))
        .chain([Plan::draw(3, TransportKind::Plain)])
        .collect();
    assert_eq!(plans.len(), 8);
    for plan in plans {
        let summary = run(&plan).unwrap();
        assert_eq!(
            Ok(summary),
            run(&plan),
            "{} {:?}",
            plan.seed,
            plan.transport
        );
    }
}

/// Pictures are coded by libx264 and decoded by libavcodec, and each one that is shown is the
/// one that was coded.
#[cfg(feature = "x264")]
#[test]
fn rules_hold_with_real_pictures() {
    for transport in [TransportKind::Plain, TransportKind::WebRtc] {
        let all = seeds_with(0..5, transport, Some(Codecs::X264));
        assert!(all.shown > 1_000, "{all:?}");
    }
}
