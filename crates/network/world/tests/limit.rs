//! Whole sessions whose player asks for less than the link carries.

#![allow(clippy::unwrap_used, reason = "a test may")]

use mimosa_protocol::control::{FeedbackKind, Role};
use mimosa_stream::ProtectionKind;
use mimosa_units::{Rate, Time, TimeDelta};
use mimosa_world::{Discipline, Fault, FaultKind, PersonPlan, Plan, Summary, TransportKind, run};

const FPS: u32 = 60;
/// The limit holds from here for this long.
const BEGINS: Time = Time::from_secs(4);
const LASTS: TimeDelta = TimeDelta::from_millis(6_000);

/// Plays for this long over a link of 10 Mbit/s with this limit in kbit/s, or without one.
fn played(seconds: f64, limit: Option<u64>, has_sound: bool) -> Summary {
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
    let fault = limit.map(|kbps| Fault {
        kind: FaultKind::Limit,
        person: 0,
        at: BEGINS,
        lasts: LASTS,
        strength: 0.0,
        rate: Rate::from_kbps(kbps),
        size,
    });
    let plan = Plan {
        duration: TimeDelta::from_secs(seconds),
        interval: TimeDelta::from_secs(1.0) / FPS,
        size,
        adapts_detail: false,
        has_sound,
        controller: "mimosa",
        protection: ProtectionKind::Retransmission,
        has_repairs: true,
        persons: vec![person],
        faults: fault.into_iter().collect(),
        ..Plan::draw(1, TransportKind::Plain)
    };
    run(&plan).unwrap_or_else(|violation| panic!("{violation}"))
}

/// Bitrate in Mbit/s of the coded frames between two ends of a run.
fn between(runs: [f64; 2], limit: Option<u64>, has_sound: bool) -> f64 {
    let [early, late] = runs.map(|seconds| played(seconds, limit, has_sound).bytes);
    (late - early) as f64 * 8.0 / (runs[1] - runs[0]) / 1e6
}

#[test]
fn a_stream_keeps_to_what_its_viewer_asked_for_and_fills_it() {
    // Headers take 5 % of packets of this size, so that the coded bytes are below the limit.
    for (kbps, least, most) in [(4_000, 3.4, 3.9), (1_500, 1.2, 1.45)] {
        let bitrate = between([5.0, 9.5], Some(kbps), false);
        assert!((least..most).contains(&bitrate), "{bitrate} of {kbps}");
    }
    let without = between([5.0, 9.5], None, false);
    assert!((7.0..10.0).contains(&without), "{without}");
}

#[test]
fn sound_is_part_of_the_limit() {
    let [silent, heard] = [false, true].map(|sound| between([5.0, 9.5], Some(1_500), sound));
    let less = silent - heard;
    assert!((0.05..0.3).contains(&less), "{silent} {heard}");
}

#[test]
fn every_picture_is_shown_within_a_limit_and_all_comes_back_after_it() {
    let limited = played(14.0, Some(1_000), false);
    assert!(limited.shown >= 14 * 60 - 20, "{limited:?}");
    let after = between([12.0, 14.0], Some(1_000), false);
    assert!(after > 7.0, "{after}");
}

#[test]
fn a_limit_of_nothing_leaves_a_picture() {
    let bitrate = between([5.0, 9.5], Some(0), false);
    assert!((0.1..0.31).contains(&bitrate), "{bitrate}");
}
