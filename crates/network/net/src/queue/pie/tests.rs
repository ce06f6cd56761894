//! Tests of PIE with loads for which the result is known.

use mimosa_units::Ecn;

use super::*;
use crate::packet::TestPacket;

fn pie(config: PieConfig) -> Pie<TestPacket> {
    Pie::new(config, 1)
}

#[test]
fn the_probability_follows_the_equations() {
    let mut queue = pie(PieConfig::default());
    let ms = TimeDelta::from_millis;
    // The step is 0.125 * 0.015 + 1.25 * 0.030, divided by 2048 while the
    // probability is below one in a million.
    queue.update(ms(30));
    let first = (0.125 * 0.015 + 1.25 * 0.030) / 2_048.0;
    assert!((queue.probability - first).abs() < 1e-12);
    // The delay does not change. The probability, 1.9e-5, is below one in ten
    // thousand: the step is divided by 128.
    queue.update(ms(30));
    let second = first + 0.125 * 0.015 / 128.0;
    assert!((queue.probability - second).abs() < 1e-12);
    queue.probability = 0.05;
    queue.update(ms(20));
    let fallen = 0.05 + (0.125 * 0.005 - 1.25 * 0.010) / 2.0;
    assert!((queue.probability - fallen).abs() < 1e-12);
}

#[test]
fn steps_are_bounded_and_an_empty_queue_forgets() {
    let mut queue = pie(PieConfig::default());
    let ms = TimeDelta::from_millis;
    queue.probability = 0.5;
    queue.update(ms(200));
    assert!((queue.probability - 0.52).abs() < 1e-12, "0.02 at most");
    queue.probability = 0.000_000_1;
    queue.update(ms(251));
    assert!(
        (queue.probability - 0.020_000_1).abs() < 1e-12,
        "far too late"
    );
    queue.probability = 1.0;
    queue.update(ms(300));
    assert!(queue.probability <= 1.0);
    queue.probability = 0.01;
    queue.old_delay = TimeDelta::ZERO;
    queue.update(TimeDelta::ZERO);
    let expected = (0.01 - 0.125 * 0.015 / 2.0) * DECAY;
    assert!((queue.probability - expected).abs() < 1e-12);
}

#[test]
fn a_burst_within_the_allowance_passes() {
    let mut queue = pie(PieConfig::default());
    let mut dropped = Vec::new();
    for ms in 0..140 {
        for _ in 0..3 {
            queue.enqueue(
                Time::from_millis(ms),
                TestPacket::sized(1_000),
                &mut dropped,
            );
        }
        queue.dequeue(Time::from_millis(ms), &mut dropped);
    }
    assert!(dropped.is_empty());
    assert!(queue.probability > 0.0, "but it has been noticed");
}

/// Offers packets of 1000 bytes, from a source that does not react, at `load`
/// times the rate at which they are served, one each millisecond. Returns the
/// share dropped, the share marked, and the mean delay in milliseconds, all of
/// the last 20 s.
fn overloaded(config: PieConfig, ecn: Ecn, load: f64) -> (f64, f64, f64) {
    let mut queue = pie(config);
    let (mut offered, mut drops, mut marks, mut delay) = (0.0, 0, 0, TimeDelta::ZERO);
    let mut due = 0.0;
    for ms in 0..40_000 {
        let now = Time::from_millis(ms);
        let mut dropped = Vec::new();
        due += load;
        while due >= 1.0 {
            due -= 1.0;
            offered += if ms >= 20_000 { 1.0 } else { 0.0 };
            let packet = TestPacket {
                ecn,
                ..TestPacket::sized(1_000)
            };
            queue.enqueue(now, packet, &mut dropped);
        }
        let served = queue.dequeue(now, &mut dropped).unwrap();
        if ms >= 20_000 {
            drops += dropped.len();
            marks += usize::from(served.packet.ecn == Ecn::Ce);
            delay += now.since(served.since);
        }
    }
    (
        drops as f64 / offered,
        marks as f64 / offered,
        delay.as_millis() / 20_000.0,
    )
}

#[test]
fn what_does_not_answer_is_cut_to_the_links_rate_at_the_target() {
    for load in [1.05, 1.25, 2.0] {
        let (drops, marks, delay) = overloaded(PieConfig::default(), Ecn::NotEct, load);
        let excess = 1.0 - 1.0 / load;
        assert!((drops - excess).abs() < 0.01, "{load}: {drops}");
        assert!(marks < f64::EPSILON);
        assert!((12.0..18.0).contains(&delay), "{load}: {delay} ms");
    }
}

#[test]
fn marks_end_where_they_do_not_help() {
    let (drops, marks, _) = overloaded(PieConfig::default(), Ecn::Ect0, 1.25);
    assert!(drops > 0.15 && marks < 0.02, "{drops} {marks}");
    let config = PieConfig {
        ecn_threshold: 1.1,
        limit: 100,
        ..PieConfig::default()
    };
    let (drops, marks, delay) = overloaded(config, Ecn::Ect0, 1.25);
    assert!(
        drops > 0.15 && marks > 0.5 && delay > 90.0,
        "only the limit is left"
    );
}

#[test]
fn it_sleeps_until_a_third_is_full() {
    let config = PieConfig {
        sleeps: true,
        limit: 300,
        ..PieConfig::default()
    };
    let mut queue = pie(config);
    let mut dropped = Vec::new();
    for _ in 0..100 {
        queue.enqueue(Time::ZERO, TestPacket::sized(1_000), &mut dropped);
    }
    assert!(!queue.is_active);
    queue.enqueue(Time::ZERO, TestPacket::sized(1_000), &mut dropped);
    assert!(queue.is_active);
    while queue.dequeue(Time::from_millis(1), &mut dropped).is_some() {}
    queue.enqueue(Time::from_secs(5), TestPacket::sized(1_000), &mut dropped);
    assert!(!queue.is_active);
}
