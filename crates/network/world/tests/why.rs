//! What whole sessions say of their troubles.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::collections::BTreeMap;

use mimosa_protocol::control::{FeedbackKind, Role};
use mimosa_units::{Rate, Time, TimeDelta};
use mimosa_video::Size;
use mimosa_world::{Discipline, Fault, FaultKind, PersonPlan, Plan, TransportKind, run};

/// How often each trouble was named in sixteen seconds with this loss and this fault.
fn troubles(seed: u64, loss: f64, fault: Option<(FaultKind, f64)>) -> BTreeMap<String, u64> {
    let person = PersonPlan {
        role: Role::Player,
        rate: Rate::from_mbps(12.0),
        delay: TimeDelta::from_millis(8),
        queue: TimeDelta::from_millis(150),
        discipline: Discipline::DropTail,
        loss,
        feedback: FeedbackKind::CongestionControl,
        clock_ahead: TimeDelta::from_millis(700),
    };
    let fault = fault.map(|(kind, mbps)| Fault {
        kind,
        person: 0,
        at: Time::from_secs(8),
        lasts: TimeDelta::ZERO,
        strength: 0.0,
        rate: Rate::from_mbps(mbps),
        size: Size::SMALLEST,
    });
    let plan = Plan {
        duration: TimeDelta::from_millis(16_000),
        interval: TimeDelta::from_secs(1.0 / 60.0),
        controller: "mimosa",
        has_repairs: true,
        persons: vec![person],
        faults: fault.into_iter().collect(),
        ..Plan::draw(seed, TransportKind::Plain)
    };
    run(&plan)
        .unwrap_or_else(|violation| panic!("{violation}"))
        .troubles
}

#[test]
fn sessions_say_what_troubles_them_and_nothing_without_trouble() {
    let seed = 1;
    assert_eq!(troubles(seed, 0.0, None), BTreeMap::new());
    let lossy = troubles(seed, 0.04, None);
    let named = lossy.get("loss").copied().unwrap_or(0);
    assert!(named >= 40 && lossy.len() == 1, "{lossy:?}");
    let slower = troubles(seed, 0.0, Some((FaultKind::RateChange, 4.0)));
    let named = slower.get("line-slower").copied().unwrap_or(0);
    assert!(named >= 8, "{slower:?}");
}
