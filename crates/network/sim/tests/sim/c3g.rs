//! C3G over simulated networks, held to the claims of its paper: section VI of A. Alós et al.,
//! IEEE Access 7, 2019. The suite `c3g` of the lab has a period of a third of a second beside the
//! default.

use crate::common::{Log, part, scenario, window};
use mimosa_facts::Cause;
use mimosa_figures::RunFigures;
use mimosa_scenario::Scenario;
use mimosa_units::{Rate, Time};

/// Section VI-B: 30 fps, a queue of 100 ms, here with a propagation of 10 ms each way.
fn fall(from_kbps: u64, to_kbps: u64) -> Scenario {
    scenario(&format!(
        r#"duration = "70s"
[link]
steps = [{{ at = "0s", rate = "{from_kbps}kbit/s" }}, {{ at = "10s", rate = "{to_kbps}kbit/s" }}]
one_way_delay = "10ms"
queue = {{ kind = "droptail", limit = "100ms" }}
[[flow]]
name = "game"
controller = "c3g"
fps = 30
start_bitrate = "{}kbit/s"
"#,
        from_kbps / 100 * 99
    ))
}

fn constant(flow: &str) -> Scenario {
    scenario(&format!(
        r#"duration = "120s"
[link]
rate = "20Mbit/s"
one_way_delay = "10ms"
queue = {{ kind = "droptail", limit = "250kB" }}
[[flow]]
name = "game"
controller = "c3g"
start_bitrate = "18Mbit/s"
{flow}"#
    ))
}

/// Use of the link, mean and largest frame delay.
fn figures(outcome: &RunFigures) -> (f64, f64, f64) {
    let delay = outcome.flows[0].frame_delay_ms.unwrap();
    (outcome.link.utilization.unwrap(), delay.mean, delay.max)
}

#[test]
fn a_fall_below_42_percent_loses_nothing_and_is_over_within_800_ms() {
    for to in [5_000, 7_000, 9_000] {
        for (factor, peak) in [(125, 150.0), (150, 150.0)] {
            for seed in 1..=4 {
                let scenario = fall(to * factor / 100, to);
                let log = Log::of(&scenario, seed);
                let after = log.frames.iter().map(|(_, life)| life);
                let after = after.filter(|life| life.due > Time::from_millis(9_900));
                let mut over = Time::from_secs(10);
                let mut largest = 0.0_f64;
                let mut is_drained = false;
                for life in after {
                    let run = format!("{to} kbit/s, {factor} %, seed {seed}, {}", life.due);
                    assert_eq!(life.lost, 0, "{run}");
                    is_drained |= life.decision.cause == Cause::Drain;
                    let Some(delay) = life.delay() else {
                        continue;
                    };
                    largest = largest.max(delay.as_millis());
                    if delay.as_millis() > 100.0 {
                        over = life.due + delay;
                    }
                }
                let period = over.since(Time::from_secs(10)).as_millis();
                let run = format!("{to} kbit/s, {factor} %, seed {seed}");
                assert!((100.0..=800.0).contains(&period), "{run}: {period} ms");
                assert!((100.0..=peak).contains(&largest), "{run}: {largest} ms");
                assert!(is_drained, "{run}");
            }
        }
    }
}

#[test]
fn a_deeper_fall_loses_less_than_ten_frames() {
    for to in [5_000, 7_000, 9_000] {
        for factor in [175, 200, 250] {
            for seed in 1..=4 {
                let log = Log::of(&fall(to * factor / 100, to), seed);
                let lossy = log.frames.iter().filter(|(_, life)| life.lost > 0).count();
                let run = format!("{to} kbit/s, {factor} %, seed {seed}");
                assert!((1..10).contains(&lossy), "{run}: {lossy} frames");
            }
        }
    }
}

#[test]
fn what_is_left_after_a_fall_is_used_below_the_threshold() {
    let mut shares = Vec::new();
    for to in [5_000, 7_000, 9_000] {
        for factor in [125, 150, 175, 200, 250] {
            for seed in 1..=4 {
                let scenario = fall(to * factor / 100, to);
                let outcome = part(&scenario, seed, window(12_000, 70_000));
                let (used, _, largest) = figures(&outcome);
                let run = format!("{to} kbit/s, {factor} %, seed {seed}");
                assert!((0.8..=1.0).contains(&used), "{run}: {used}");
                assert!((40.0..=100.0).contains(&largest), "{run}: {largest} ms");
                assert_eq!(outcome.link.dropped, 0, "{run}");
                shares.push(used);
            }
        }
    }
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    // The paper has 93 to 96 %.
    assert!((0.93..=1.0).contains(&mean), "{mean}");
}

#[test]
fn a_constant_link_is_explored_with_a_delay_below_the_threshold() {
    for seed in 1..=4 {
        let log = Log::of(&constant(""), seed);
        let drained = log
            .frames
            .iter()
            .filter(|(_, life)| life.decision.cause == Cause::Drain);
        assert!(drained.count() > 0, "seed {seed}: the link was never met");
        let (used, mean, largest) = figures(&part(&constant(""), seed, window(2_000, 120_000)));
        assert!((0.9..=1.0).contains(&used), "seed {seed}: {used}");
        assert!((30.0..=45.0).contains(&mean), "seed {seed}: {mean} ms");
        assert!(
            (40.0..=100.0).contains(&largest),
            "seed {seed}: {largest} ms"
        );
    }
}

#[test]
fn a_rise_is_taken_slowly() {
    let text = r#"duration = "200s"
[link]
steps = [{ at = "0s", rate = "10Mbit/s" }, { at = "10s", rate = "30Mbit/s" }]
one_way_delay = "10ms"
[[flow]]
name = "game"
controller = "c3g"
start_bitrate = "9Mbit/s"
"#;
    let log = Log::of(&scenario(text), 1);
    let target = |second: u64| {
        let until = log.frames.iter().rev().map(|(_, life)| life);
        let mut until = until.filter(|life| life.due < Time::from_secs(second));
        until.next().unwrap().decision.target.as_mbps()
    };
    // Gains of 1 to 50: 12.75 Mbit/s in 127.5 s, then 0.5 Mbit/s in each 100 ms.
    let (early, late) = (target(60), target(140));
    assert!((9.4..=11.0).contains(&early), "{early}");
    assert!((20.0..=30.5).contains(&late), "{late}");
}

#[test]
fn two_streams_use_the_link_and_are_not_made_equal() {
    let flow = r#"
[[flow]]
name = "other"
controller = "c3g"
start_bitrate = "5Mbit/s"
"#;
    let text = format!(
        "{}{flow}",
        r#"duration = "120s"
[link]
rate = "20Mbit/s"
one_way_delay = "10ms"
[[flow]]
name = "game"
controller = "c3g"
start_bitrate = "13Mbit/s"
"#
    );
    for seed in 1..=4 {
        let outcome = part(&scenario(&text), seed, window(60_000, 120_000));
        let used = outcome.link.utilization.unwrap();
        assert!((0.9..=1.0).contains(&used), "seed {seed}: {used}");
        for flow in &outcome.flows {
            // The threshold, and a round trip: a drain is heard of no sooner.
            let delay = flow.frame_delay_ms.unwrap().p99;
            assert!((30.0..=120.0).contains(&delay), "seed {seed}: {delay} ms");
        }
        let jain = outcome.jain.unwrap();
        assert!((0.8..=0.99).contains(&jain), "seed {seed}: {jain}");
    }
}

#[test]
fn less_feedback_costs_use_and_not_the_threshold() {
    for (flow, least, largest) in [
        ("feedback = \"frame\"", 0.85, 100.0),
        ("feedback = \"50ms\"", 0.75, 150.0),
    ] {
        for seed in 1..=4 {
            let outcome = part(&constant(flow), seed, window(2_000, 120_000));
            let (used, _, slowest) = figures(&outcome);
            assert!((least..=1.0).contains(&used), "{flow}, seed {seed}: {used}");
            assert!(
                (30.0..=largest).contains(&slowest),
                "{flow}, seed {seed}: {slowest} ms"
            );
        }
    }
}

#[test]
fn a_picture_that_needs_little_does_not_raise_the_target() {
    let log = Log::of(&constant("content_bitrate = \"2Mbit/s\""), 1);
    let targets = log.frames.iter().map(|(_, life)| life.decision.target);
    assert_eq!(targets.max(), Some(Rate::from_kbps(18_000)));
}

#[test]
fn an_encoder_with_noise_stays_below_the_threshold_in_the_mean() {
    for seed in 1..=4 {
        let scenario = constant("encoder = \"rfc8593\"");
        let (used, mean, _) = figures(&part(&scenario, seed, window(2_000, 120_000)));
        assert!((0.85..=1.0).contains(&used), "seed {seed}: {used}");
        assert!((30.0..=100.0).contains(&mean), "seed {seed}: {mean} ms");
    }
}
