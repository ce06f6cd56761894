//! Whole sessions whose encoder or viewer is too slow for a while, without faults of the network.

#![allow(clippy::unwrap_used, reason = "a test may")]

use mimosa_protocol::control::{FeedbackKind, Role};
use mimosa_stream::ProtectionKind;
use mimosa_units::{Rate, Time, TimeDelta};
use mimosa_world::{Discipline, Fault, FaultKind, PersonPlan, Plan, Summary, TransportKind, run};

const FPS: u32 = 60;
/// A session: two seconds until the fault, six with it, six after it.
const BEGINS: Time = Time::from_secs(2);
const LASTS: TimeDelta = TimeDelta::from_millis(6_000);

/// Plays for this long with a fault of this strength, or without one.
fn played(seconds: f64, fault: Option<(FaultKind, f64)>) -> Summary {
    let person = PersonPlan {
        role: Role::Player,
        rate: Rate::from_mbps(10.0),
        delay: TimeDelta::from_millis(5),
        queue: TimeDelta::from_millis(100),
        discipline: Discipline::DropTail,
        loss: 0.0,
        feedback: FeedbackKind::OnRequest,
        clock_ahead: TimeDelta::ZERO,
    };
    let size = "640x360".parse().unwrap();
    let fault = fault.map(|(kind, strength)| Fault {
        kind,
        person: 0,
        at: BEGINS,
        lasts: LASTS,
        strength,
        rate: Rate::ZERO,
        size,
    });
    let plan = Plan {
        duration: TimeDelta::from_secs(seconds),
        interval: TimeDelta::from_secs(1.0) / FPS,
        size,
        adapts_detail: true,
        has_sound: false,
        controller: "mimosa",
        protection: ProtectionKind::Retransmission,
        has_repairs: true,
        persons: vec![person],
        faults: fault.into_iter().collect(),
        ..Plan::draw(1, TransportKind::Plain)
    };
    run(&plan).unwrap_or_else(|violation| panic!("{violation}"))
}

#[test]
fn a_session_whose_encoder_and_viewer_keep_up_has_every_picture() {
    let summary = played(14.0, None);
    assert!(summary.shown >= 14 * 60 - 20, "{summary:?}");
    assert!(summary.slowest < TimeDelta::from_millis(10), "{summary:?}");
}

/// Frames take five times as long, 30 ms in the mean.
#[test]
fn an_encoder_that_is_too_slow_gets_smaller_pictures_and_all_again() {
    let slow = Some((FaultKind::SlowEncoder, 5.0));
    let [during, whole] = [8.0, 14.0].map(|seconds| played(seconds, slow));
    // Two seconds of all pictures, one of a half, five of nearly all; at full size the encoder could make
    // no more than 320.
    let shown = during.shown;
    assert!((380..=460).contains(&shown), "{shown} in 8 s");
    let after = whole.shown - during.shown;
    assert!((320..=362).contains(&after), "{after} in 6 s after it");
}

/// The viewer decodes a frame in 25 ms, whatever is in it.
#[test]
fn a_viewer_that_is_too_slow_gets_fewer_pictures() {
    let slow = Some((FaultKind::SlowDecoder, 7.0));
    let [during, whole] = [8.0, 14.0].map(|seconds| played(seconds, slow));
    let shown = during.shown;
    assert!((220..=420).contains(&shown), "{shown} in 8 s");
    // Without an answer, a third of all frames would wait: two seconds in the end.
    assert!(during.slowest < TimeDelta::from_millis(700), "{during:?}");
    assert!(during.slowest > TimeDelta::from_millis(50), "{during:?}");
    let after = whole.shown - during.shown;
    assert!(after > 150, "{after} in 6 s after it");
}
