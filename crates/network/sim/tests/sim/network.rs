//! The network against what can be worked out by hand.

use crate::common::{Log, part, scenario, whole, window};
use mimosa_facts::{Fate, Passage, StreamPacket};
use mimosa_units::{Bytes, TimeDelta};

const CBR: &str = r#"
duration = "10s"
[link]
rate = "10Mbit/s"
one_way_delay = "10ms"
queue = { kind = "droptail", limit = "30kB" }
[[flow]]
kind = "cbr"
"#;

fn close(a: f64, b: f64, by: f64) -> bool {
    (a - b).abs() <= by
}

#[test]
fn half_a_load_waits_for_nothing() {
    let outcome = whole(&scenario(&format!("{CBR}rate = \"5Mbit/s\"")), 1);
    assert!(close(outcome.link.utilization.unwrap(), 0.5, 1e-3));
    assert!(outcome.link.queue_delay_ms.unwrap().max <= 0.0);
    assert_eq!(outcome.link.dropped, 0);
}

#[test]
fn twice_the_load_fills_the_queue_and_loses_half() {
    let outcome = whole(&scenario(&format!("{CBR}rate = \"20Mbit/s\"")), 1);
    assert!(close(outcome.link.utilization.unwrap(), 1.0, 1e-3));
    assert!(close(outcome.flows[0].loss_rate.unwrap(), 0.5, 0.01));
    // 30 kB take 24 ms at 10 Mbit/s; the packet that fits last waits for 23.
    let worst = outcome.link.queue_delay_ms.unwrap().max;
    assert!((22.0..=24.0).contains(&worst), "{worst}");
}

#[test]
fn propagation_fills_no_queue() {
    // 600 ms at 10 Mbit/s are 750 kB in the air; the queue holds 30 kB.
    let far = CBR.replace("10ms", "600ms") + "rate = \"9.9Mbit/s\"";
    let outcome = whole(&scenario(&far), 1);
    assert_eq!(outcome.link.dropped, 0);
    assert!(outcome.link.utilization.unwrap() > 0.98);
    assert!(outcome.link.left > 600, "{} in the air", outcome.link.left);
}

/// A stream that the controller cannot move: all its limits are one.
const FIXED: &str = r#"
duration = "5s"
[link]
rate = "20Mbit/s"
one_way_delay = "10ms"
[[flow]]
fps = 50
min_bitrate = "8Mbit/s"
start_bitrate = "8Mbit/s"
max_bitrate = "8Mbit/s"
params = { fallback = false, drain = false, probes = 0, frame_timeout = 1e6 }
"#;

#[test]
fn frame_delay_is_serialisation_and_one_round_trip() {
    // 20 kB at 20 Mbit/s are 8 ms; there and back are 20 ms.
    let log = Log::of(&scenario(&format!("{FIXED}pacer = \"burst\"")), 1);
    for (_, life) in &log.frames {
        assert_eq!(life.size, Bytes::new(20_000));
        if let Some(delay) = life.delay() {
            let error = delay - TimeDelta::from_millis(28);
            assert!(error.as_nanos().abs() < 100, "{delay}");
        }
    }
    assert!(log.frames.len() > 240);
}

#[test]
fn a_slower_pacer_takes_the_place_of_the_queue() {
    // At 1.25 times the bitrate the last of 17 packets leaves after 15.06 ms.
    let log = Log::of(&scenario(&format!("{FIXED}pacer = \"1.25x\"")), 1);
    let delays: Vec<_> = log
        .frames
        .iter()
        .filter_map(|(_, life)| life.delay())
        .collect();
    for delay in &delays[10..] {
        let millis = delay.as_millis();
        assert!(close(millis, 20.0 + 15.06 + 0.47, 0.1), "{millis}");
    }
    let waited = |packet: &Passage<StreamPacket>| packet.started.unwrap().since(packet.offered);
    let worst = log.packets.iter().map(waited).max().unwrap();
    assert!(worst < TimeDelta::from_micros(10), "{worst} in the queue");
}

#[test]
fn a_frame_that_comes_late_is_worth_nothing() {
    for (delay, valid) in [("10ms", 8.0), ("40ms", 0.0)] {
        let text = FIXED.replace("10ms", delay) + "pacer = \"burst\"";
        let flow = whole(&scenario(&text), 1).flows.remove(0);
        assert!(close(flow.bitrate_mbps.unwrap(), 8.0, 0.05), "{flow:?}");
        assert!(
            close(flow.valid_bitrate_mbps.unwrap(), valid, 0.05),
            "{delay}"
        );
        let late = if valid > 0.0 { 0.0 } else { 1.0 };
        assert!(close(flow.stall_50ms.unwrap(), late, 1e-9), "{delay}");
    }
}

#[test]
fn a_timed_report_leaves_when_its_time_has_come() {
    // Frames of one packet, every 20 ms: there in 30.4 ms, reported 10 ms later,
    // though the next packet is through the link by then and arrives later.
    let text = FIXED
        .replace("10ms", "30ms")
        .replace("8Mbit/s", "400kbit/s")
        + "pacer = \"burst\"\nfeedback = \"10ms\"";
    let log = Log::of(&scenario(&text), 1);
    let delays = log.frames.iter().filter_map(|(_, life)| life.delay());
    for delay in delays {
        assert!(close(delay.as_millis(), 70.4, 1e-3), "{delay}");
    }
}

#[test]
fn lost_packets_are_sent_again_and_complete_their_frames() {
    let lossy = FIXED.replace("[[flow]]", "loss = 0.02\n[[flow]]");
    let outcome = whole(&scenario(&lossy), 1);
    let flow = &outcome.flows[0];
    assert!(close(flow.loss_rate.unwrap(), 0.02, 0.01));
    assert!(flow.stall_200ms.unwrap() <= 0.0, "all complete in time");
    let never = whole(
        &scenario(&format!("{lossy}retransmission_deadline = \"0s\"")),
        1,
    );
    // With 17 packets a frame, 29 % of the frames lose one.
    let stalled = never.flows[0].stall_200ms.unwrap();
    assert!((0.2..0.4).contains(&stalled), "{stalled}");
}

#[test]
fn every_packet_has_one_fate() {
    let lossy = CBR.replace("[[flow]]", "loss = 0.1\n[[flow]]") + "rate = \"12Mbit/s\"";
    let scenario = scenario(&lossy);
    let (log, outcome) = (Log::of(&scenario, 1), whole(&scenario, 1));
    let count = |fate: fn(&Fate) -> bool| {
        log.packets
            .iter()
            .filter(|packet| fate(&packet.fate))
            .count() as u64
    };
    let arrived = count(|fate| matches!(fate, Fate::Arrived(_)));
    let dropped = count(|fate| matches!(fate, Fate::Dropped));
    let lost = count(|fate| matches!(fate, Fate::Lost));
    assert_eq!(dropped + lost, outcome.link.dropped);
    assert!(dropped > 500 && lost > 500, "{dropped}, {lost}");
    // Recorded when they leave the link; some arrive after the end.
    assert!(arrived >= outcome.link.delivered);
    assert_eq!(
        outcome.link.offered,
        outcome.link.delivered + outcome.link.dropped + outcome.link.left
    );
}

#[test]
fn a_window_counts_what_falls_into_it() {
    let scenario = scenario(&format!("{CBR}rate = \"5Mbit/s\"\nstart = \"5s\""));
    let before = part(&scenario, 1, window(0, 5_000));
    assert_eq!(before.link.offered, 0);
    assert_eq!(before.link.utilization, Some(0.0));
    let after = part(&scenario, 1, window(6_000, 8_000));
    assert!(close(after.flows[0].throughput_mbps, 5.0, 0.01));
}
