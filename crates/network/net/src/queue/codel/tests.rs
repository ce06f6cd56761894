//! Tests of CoDel with loads for which the drops and marks are known.

use mimosa_units::Ecn;

use super::*;
use crate::packet::TestPacket;

const MS: TimeDelta = TimeDelta::from_millis(1);

/// Runs a queue for `until` milliseconds. In each it is offered as many packets
/// as `offered` tells, and serves one. Returns the times of all drops and marks
/// in milliseconds.
fn run(config: CodelConfig, ecn: Ecn, until: u64, offered: impl Fn(u64) -> usize) -> Vec<u64> {
    let mut queue = Codel::new(config);
    let mut acted = Vec::new();
    let mut number = 0;
    for ms in 0..until {
        let now = Time::from_millis(ms);
        let mut dropped = Vec::new();
        for _ in 0..offered(ms) {
            number += 1;
            let packet = TestPacket {
                ecn,
                number,
                ..TestPacket::sized(1_000)
            };
            queue.enqueue(now, packet, &mut dropped);
        }
        let served = queue.dequeue(now, &mut dropped);
        let marked = served.is_some_and(|served| served.packet.ecn == Ecn::Ce);
        acted.extend(std::iter::repeat_n(ms, dropped.len() + usize::from(marked)));
    }
    acted
}

/// A load that leaves ten packets waiting after the first millisecond, then as
/// many packets as are served.
fn standing(ms: u64) -> usize {
    if ms == 0 { 11 } else { 1 }
}

#[test]
fn a_standing_queue_is_dropped_from_at_the_pace_of_the_control_law() {
    let drops = run(CodelConfig::default(), Ecn::NotEct, 1_000, standing);
    // Ten packets wait, and one leaves each millisecond: the wait is 5 ms at 5
    // ms, and has been at least 5 ms for an interval at 105 ms. The next drops
    // are 100/sqrt(1), 100/sqrt(2), ... later, until six drops have taken the
    // wait below the target: each takes 1 ms off it.
    assert_eq!(drops, [105, 205, 276, 334, 384, 429]);
}

#[test]
fn marks_take_the_place_of_drops_for_who_understands() {
    let marks = run(CodelConfig::default(), Ecn::Ect0, 600, standing);
    // The queue does not get shorter, so the control law goes on.
    let mut law = Vec::new();
    let mut at = 105.0;
    for count in 1..20 {
        at += 100.0 / f64::from(count).sqrt();
        // The first whole millisecond that is not before `at`.
        law.extend((0..600).find(|ms| *ms as f64 >= at));
    }
    assert_eq!(marks[0], 105);
    assert_eq!(marks[1..], law);
    let config = CodelConfig {
        ecn: false,
        ..CodelConfig::default()
    };
    assert_eq!(run(config, Ecn::Ect0, 600, standing).len(), 6);
}

#[test]
fn a_burst_that_drains_within_an_interval_loses_nothing() {
    let burst = |ms| if ms == 0 { 90 } else { 0 };
    let drops = run(CodelConfig::default(), Ecn::NotEct, 1_000, burst);
    assert_eq!(drops, []);
}

#[test]
fn the_drop_rate_is_remembered_for_sixteen_intervals() {
    // An overload of a tenth for 3 s, a rest without packets, and the same overload again.
    let again = |rest: u64| {
        move |ms: u64| match ms {
            _ if ms < 3_000 || ms >= 3_000 + rest => 1 + usize::from(ms.is_multiple_of(10)),
            _ => 0,
        }
    };
    let second = |rest: u64| {
        let drops = run(CodelConfig::default(), Ecn::NotEct, 8_000, again(rest));
        let after: Vec<_> = drops.into_iter().filter(|at| *at > 3_000 + rest).collect();
        after[1] - after[0]
    };
    assert!(second(500) < 60, "{}", second(500));
    assert_eq!(second(3_000), 100);
}

#[test]
fn a_threshold_marks_whatever_the_state() {
    let config = CodelConfig {
        ce_threshold: Some(MS),
        ..CodelConfig::default()
    };
    let marks = run(config, Ecn::Ect1, 50, standing);
    assert_eq!(marks, (2..50).collect::<Vec<_>>());
}

#[test]
fn a_last_packet_is_never_dropped_and_the_limit_holds() {
    let slow = |ms: u64| usize::from(ms.is_multiple_of(200));
    assert_eq!(run(CodelConfig::default(), Ecn::NotEct, 5_000, slow), []);
    let config = CodelConfig {
        limit: 5,
        ..CodelConfig::default()
    };
    let drops = run(config, Ecn::NotEct, 10, |ms| if ms == 0 { 9 } else { 0 });
    assert_eq!(drops, [0, 0, 0, 0]);
}
