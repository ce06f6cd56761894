//! Tests of the line within whole sessions.

#![allow(clippy::unwrap_used, reason = "a test may")]

use mimosa_protocol::control::{FeedbackKind, Role};
use mimosa_units::{Rate, Time, TimeDelta};
use mimosa_video::Size;
use mimosa_world::{Discipline, Fault, FaultKind, PersonPlan, Plan, Summary, TransportKind, run};

/// A player on a link of this rate, who asks for a test at each of these times.
fn tested(transport: TransportKind, feedback: FeedbackKind, mbps: f64, seconds: &[u64]) -> Summary {
    let person = PersonPlan {
        role: Role::Player,
        rate: Rate::from_mbps(mbps),
        delay: TimeDelta::from_millis(8),
        queue: TimeDelta::from_millis(90),
        discipline: Discipline::DropTail,
        loss: 0.0,
        feedback,
        clock_ahead: TimeDelta::from_millis(700),
    };
    let test = |at: &u64| Fault {
        kind: FaultKind::LineTest,
        person: 0,
        at: Time::from_secs(*at),
        lasts: TimeDelta::from_millis(5_000),
        strength: 0.0,
        rate: Rate::ZERO,
        size: Size::SMALLEST,
    };
    let plan = Plan {
        duration: TimeDelta::from_millis(14_000),
        interval: TimeDelta::from_secs(1.0 / 60.0),
        controller: "mimosa",
        has_repairs: true,
        persons: vec![person],
        faults: seconds.iter().map(test).collect(),
        ..Plan::draw(1, transport)
    };
    run(&plan).unwrap_or_else(|violation| panic!("{transport:?}, {feedback:?}: {violation}"))
}

#[test]
fn a_session_tests_its_line_and_streams_on() {
    // The native client never reports in the old format over WebRTC.
    let ends = [
        (TransportKind::Plain, FeedbackKind::Periodic),
        (TransportKind::WebRtc, FeedbackKind::CongestionControl),
        (TransportKind::WebRtc, FeedbackKind::OnRequest),
    ];
    for (transport, feedback) in ends {
        let quiet = tested(transport, feedback, 12.0, &[]);
        let summary = tested(transport, feedback, 12.0, &[3]);
        let [rate] = summary.lines[..] else {
            panic!("{transport:?}, {feedback:?}: {:?}", summary.lines);
        };
        let ratio = rate.ratio(Rate::from_mbps(12.0));
        assert!(
            (0.9..=1.1).contains(&ratio),
            "{transport:?}, {feedback:?}: {rate}"
        );
        // The test takes less than four of fourteen seconds, and the stream goes on at its rate.
        let share = summary.shown as f64 / quiet.shown as f64;
        assert!(
            (0.7..0.95).contains(&share),
            "{transport:?}, {feedback:?}: {share}"
        );
        let share = summary.bytes as f64 / quiet.bytes as f64;
        assert!(
            (0.6..0.98).contains(&share),
            "{transport:?}, {feedback:?}: {share}"
        );
    }
}

#[test]
fn a_second_test_waits_for_the_first_and_none_comes_without_reports() {
    let summary = tested(TransportKind::Plain, FeedbackKind::OnRequest, 12.0, &[3, 4]);
    assert_eq!(summary.lines.len(), 1, "one at a time");
    let summary = tested(TransportKind::Plain, FeedbackKind::None, 12.0, &[3]);
    assert_eq!(summary.lines, []);
}
