//! Reports on made-up sessions.

#![allow(clippy::unwrap_used, reason = "a test may")]

mod synthetic;

use mimosa_facts::{Cause, Evidence, FrameEnd, InputTimes, SessionFrame};
use mimosa_record::Session;
use mimosa_report::Report;
use mimosa_units::{Bytes, Rate, TimeDelta};

fn report(frames: Vec<SessionFrame>) -> Report {
    let about = synthetic::ABOUT.to_owned();
    Report::new("evening.parquet", Session { about, frames })
}

/// A hundred frames in which everything takes a round time.
fn plain() -> Vec<SessionFrame> {
    let mut frames = synthetic::session(100).frames;
    let ms = TimeDelta::from_millis;
    for (number, frame) in (0..).zip(&mut frames) {
        let captured = frame.captured;
        frame.encode_begun = captured + ms(1);
        frame.encode_ended = captured + ms(5);
        frame.life.handed_over = captured + ms(5);
        frame.life.last_sent = Some(captured + ms(13));
        frame.received = Some(captured + ms(15));
        frame.decoded = Some(captured + ms(18));
        frame.shown = Some(captured + ms(20 + number % 10));
        frame.life.end = Some(FrameEnd::Acknowledged(captured + ms(16)));
        frame.life.decision.target = Rate::from_kbps(24_000);
        frame.life.decision.cause = Cause::AtMaximum;
        frame.life.decision.evidence = Evidence {
            utilization: Some(0.5),
            smoothed_utilization: Some(0.25),
            service_rate: Some(Rate::from_kbps(48_000)),
            backlog: Some(Bytes::new(1_500)),
            queue_delay: Some(ms(2)),
        };
        frame.life.size = Bytes::new(25_000);
        frame.life.packets = 20;
        (frame.life.lost, frame.life.retransmitted) = (0, 0);
        (frame.coded, frame.budget) = (Bytes::new(20_000), Bytes::new(40_000));
        (frame.is_keyframe, frame.attempts) = (number == 0, 1);
        frame.quantiser = Some(20.0);
        frame.inputs = u32::from(number % 10 == 9);
        frame.newest_input = (number % 10 == 9).then(|| InputTimes {
            made: Some(captured - ms(7)),
            received: captured - ms(5),
        });
    }
    frames
}

#[test]
fn the_numbers_are_those_of_the_frames() {
    let mut frames = plain();
    for frame in &mut frames[10..15] {
        frame.life.end = Some(FrameEnd::GivenUp);
        frame.life.decision.cause = Cause::Drain;
        frame.life.decision.target = Rate::MAX;
        (frame.life.lost, frame.life.retransmitted) = (8, 4);
        frame.coded = Bytes::new(60_000);
        (frame.attempts, frame.quantiser) = (2, None);
    }
    let late = &mut frames[20];
    let acknowledged = late.life.handed_over + TimeDelta::from_millis(101);
    late.life.end = Some(FrameEnd::Acknowledged(acknowledged));
    // Thirteen pictures are not seen: 14 intervals, 233 ms and a bit.
    for frame in &mut frames[40..53] {
        frame.shown = None;
    }
    let report = report(frames);
    let summary = report.summary();
    assert_eq!((summary.frames, summary.keyframes), (100, 1));
    assert_eq!((summary.stalls, summary.given_up), (6, 5));
    assert_eq!((summary.lost, summary.retransmitted), (40, 20));
    let near = |one: Option<f64>, other: f64| {
        let one = one.unwrap();
        assert!((one - other).abs() < 1e-3, "{one} instead of {other}");
    };
    near(Some(summary.seconds), 1.6667);
    near(summary.bitrate_mbps, 11.9998);
    near(summary.target_mbps, 24.0);
    near(summary.utilization, 0.5);
    near(summary.loss, 40.0 / 2_020.0);
    let delay = summary.frame_delay_ms.unwrap();
    near(Some(delay.p95), 11.0);
    near(Some(delay.max), 101.0);
    let freezes = summary.freezes.unwrap();
    assert_eq!(freezes.count, 1);
    near(Some(freezes.longest_gap_ms), 14.0 * 16.667 - 6.0);
    let encoder = summary.encoder.unwrap();
    near(Some(encoder.time_ms.p50), 4.0);
    assert_eq!(encoder.repeated, 5);
    near(encoder.quantiser, 20.0);
    let budget = summary.budget_use.unwrap();
    near(Some(budget.mean), 0.95 * 0.5 + 0.05 * 1.5);
    assert_eq!(budget.above, 5);
    near(summary.input_to_screen_ms.map(|spread| spread.p50), 29.0);
    near(summary.action_to_screen_ms.map(|spread| spread.p50), 36.0);
    let causes: Vec<_> = summary
        .causes
        .iter()
        .map(|cause| (cause.cause, cause.frames, cause.target_mbps.is_some()))
        .collect();
    assert_eq!(causes, [("at-maximum", 95, true), ("drain", 5, false)]);
}

/// Each cause with what it saw, and no column for what no controller gave.
#[test]
fn causes_have_the_evidence_for_them() {
    let mut frames = plain();
    for frame in &mut frames {
        frame.life.decision.evidence = Evidence {
            utilization: Some(0.5),
            queue_delay: Some(TimeDelta::from_millis(2)),
            ..Evidence::NONE
        };
    }
    for (number, frame) in (0..).zip(&mut frames[10..14]) {
        frame.life.decision.cause = Cause::Drain;
        frame.life.decision.evidence = Evidence {
            utilization: Some(1.5),
            backlog: (number % 2 == 0).then_some(Bytes::new(3_000)),
            ..Evidence::NONE
        };
    }
    let report = report(frames);
    let tables = report.tables();
    let table = tables.iter().find(|table| table.title == "Causes").unwrap();
    let headers = ["cause", "frames", "share", "mean target"];
    let headers = [&headers[..], &["busy %", "queue ms", "backlog kB"]].concat();
    assert_eq!(table.headers, headers);
    let hold = ["at-maximum", "96", "96.0%", "24.00", "50", "2.0", "-"];
    let drain = ["drain", "4", "4.0%", "24.00", "150", "-", "3.0"];
    assert_eq!(table.rows, [hold, drain]);
    let page = report.to_html().unwrap();
    assert!(page.contains(Cause::Drain.in_words()));
}

#[test]
fn stages_of_typical_and_slow_frames_add_up() {
    let report = report(synthetic::session(5_000).frames);
    let stages = report.summary().stages_ms.unwrap();
    for kind in [stages.typical, stages.slow] {
        let parts = kind.capture + kind.encode + kind.pace + kind.network;
        let sum = parts + kind.decode + kind.present;
        assert!((sum - kind.total).abs() < 1e-6, "{kind:?}");
    }
    assert!((stages.typical.total - stages.p50.total).abs() < 0.1);
    assert!((stages.slow.total - stages.p95.total).abs() < 0.5);
    let table = report
        .tables()
        .into_iter()
        .find(|table| table.title.contains("screen"));
    let rows = table.unwrap().rows;
    let column = |at: usize| rows.iter().map(move |row| row[at].parse::<f64>().unwrap());
    for at in [1, 3] {
        let parts: f64 = column(at).take(6).sum();
        let total = column(at).next_back().unwrap();
        assert!(
            (parts - total).abs() < 1e-9,
            "{parts} as printed, not {total}"
        );
    }
}

/// A game that stands still is no freeze, nor is what comes after it.
#[test]
fn pauses_of_the_source_are_no_freezes() {
    let mut frames = plain();
    frames.drain(40..80);
    let freezes = report(frames).summary().freezes.unwrap();
    assert_eq!(freezes.count, 0);
    assert!(freezes.longest_gap_ms > 600.0);
}

#[test]
fn the_json_stays_as_it_is() {
    let frames = plain().into_iter().take(40).collect();
    let json = report(frames).to_json().unwrap();
    assert_eq!(json, include_str!("plain.json").trim_end());
}

/// A session gives one report, in whatever order its frames are.
#[test]
fn the_same_session_is_the_same_report() {
    let frames = synthetic::session(3_000).frames;
    let page = report(frames.clone()).to_html().unwrap();
    assert_eq!(
        report(frames.into_iter().rev().collect())
            .to_html()
            .unwrap(),
        page
    );
}

const HEADINGS: [&str; 10] = [
    "Bitrate",
    "Causes",
    "Frame delay",
    "Where the time goes",
    "Bandwidth utilisation",
    "Queue",
    "Frame size",
    "Encoding",
    "Pictures on the screen",
    "Capture to screen",
];

fn headings(page: &str) -> Vec<&str> {
    let parts = page.split("<h2>").skip(1);
    parts
        .map(|part| part.split_once("</h2>").unwrap().0)
        .collect()
}

#[test]
fn the_page_has_every_figure_and_nothing_from_elsewhere() {
    let page = report(synthetic::session(7_200).frames).to_html().unwrap();
    assert_eq!(headings(&page), HEADINGS);
    assert_eq!(page.matches("<svg").count(), HEADINGS.len());
    assert_eq!(
        page.matches("http").count(),
        HEADINGS.len(),
        "the SVGs' namespace"
    );
    assert!(!page.contains("no data") && !page.contains("NaN"));
    assert!(page.contains("<p>player; demo; 1280 × 720, 60 fps; libx264 0.164; pudica;"));
    for series in [
        "target",
        "drain",
        "given up",
        "p95 of all",
        "present",
        "keyframe",
        "freeze",
    ] {
        assert!(
            page.contains(&format!(">\n{series}")),
            "{series} is in a legend"
        );
    }
}

#[test]
fn figures_without_data_are_left_out() {
    let blind = |frame: SessionFrame| {
        let mut frame = frame;
        (frame.received, frame.decoded, frame.shown) = (None, None, None);
        frame.life.decision.evidence = Evidence::NONE;
        frame
    };
    let frames = plain().into_iter().map(blind).collect();
    let report = report(frames);
    let page = report.to_html().unwrap();
    let left = [0, 1, 2, 6, 7].map(|index| HEADINGS[index]);
    assert_eq!(headings(&page), left);
    assert_eq!(report.tables().len(), 4);
    assert!(report.summary().freezes.is_none());
}

#[test]
fn next_to_nothing_is_reported_as_well() {
    let one = synthetic::session(1).frames;
    assert!(headings(&report(one).to_html().unwrap()).contains(&"Bitrate"));
    let none = Report::new(
        "<b>",
        Session {
            about: "no JSON".to_owned(),
            frames: Vec::new(),
        },
    );
    let page = none.to_html().unwrap();
    assert!(headings(&page).is_empty() && !page.contains("<b>"));
    assert_eq!(none.tables().len(), 1);
    assert!(none.to_json().unwrap().contains("\"frames\": 0,"));
}

/// Times far apart, as a damaged recording may have them.
#[test]
fn extremes_are_drawn_somehow() {
    let mut frames = plain();
    frames[50].captured = mimosa_units::Time::MAX;
    frames[51].encode_ended = mimosa_units::Time::MAX;
    frames[52].life.decision.evidence.utilization = Some(f64::NAN);
    frames[53].life.interval = TimeDelta::MAX;
    frames[54].coded = Bytes::new(u64::MAX);
    assert!(report(frames).to_html().is_ok());
}

#[test]
fn half_an_hour_is_a_small_page() {
    let size = report(synthetic::session(108_000).frames)
        .to_html()
        .unwrap()
        .len();
    assert!(size < 500_000, "{size} bytes");
}
