//! Plays with every controller over WebRTC, without faults.

#![allow(clippy::unwrap_used, reason = "a test may")]

use mimosa_protocol::control::{FeedbackKind, Role};
use mimosa_units::{Rate, TimeDelta};
use mimosa_world::{Discipline, PersonPlan, Plan, Summary, TransportKind, run};

/// Longer than a period of C3G, and than the slowest of the others takes to fill 2 Mbit/s.
const DURATION: TimeDelta = TimeDelta::from_millis(12_000);
/// Frames per second of the source.
const FPS: u32 = 60;

/// Plays over a link of this rate to one person.
fn played(controller: &'static str, mbps: f64) -> Summary {
    let person = PersonPlan {
        role: Role::Player,
        rate: Rate::from_mbps(mbps),
        delay: TimeDelta::from_millis(5),
        queue: TimeDelta::from_millis(200),
        discipline: Discipline::DropTail,
        loss: 0.0,
        feedback: FeedbackKind::OnRequest,
        clock_ahead: TimeDelta::ZERO,
    };
    let plan = Plan {
        duration: DURATION,
        interval: TimeDelta::from_secs(1.0) / FPS,
        controller,
        persons: vec![person],
        faults: Vec::new(),
        ..Plan::draw(1, TransportKind::WebRtc)
    };
    run(&plan).unwrap_or_else(|violation| panic!("{controller} at {mbps} Mbit/s: {violation}"))
}

#[test]
fn every_controller_streams_and_follows_the_link() {
    for &controller in mimosa_cc::NAMES {
        // A host has no oracle: nobody tells it the link's rate.
        if controller == "oracle" {
            continue;
        }
        // `fixed` sends pictures at 2 Mbit/s whatever the link is, and sound besides.
        let slowest = if controller == "fixed" { 2.5 } else { 2.0 };
        let [slow, fast] = [slowest, 8.0].map(|mbps| played(controller, mbps));
        let seconds = DURATION.as_secs();
        let frames = f64::from(FPS) * seconds;
        for summary in [&slow, &fast] {
            let shown = summary.shown as f64;
            assert!(
                shown > 0.5 * frames && shown <= frames,
                "{controller}: {summary:?}"
            );
        }
        let ratio = fast.bytes as f64 / slow.bytes as f64;
        assert!(
            ratio > 1.2 || controller == "fixed",
            "{controller}: {ratio}"
        );
    }
}
