//! Salsify's frame size control over simulated networks: a link alone, falls and rises,
//! and two flows. Each bound has two sides, delay and use.

use crate::common::{Log, part, scenario, window};
use mimosa_facts::Cause;
use mimosa_scenario::Scenario;
use mimosa_units::Time;

const SEEDS: std::ops::RangeInclusive<u64> = 1..=8;

fn on(link: &str, flows: &str) -> Scenario {
    scenario(&format!(
        "duration = \"40s\"\n[link]\n{link}\none_way_delay = \"10ms\"\n\
         queue = {{ kind = \"droptail\", limit = \"500kB\" }}\n{flows}"
    ))
}

fn flow(name: &str, rest: &str) -> String {
    format!("[[flow]]\nname = \"{name}\"\ncontroller = \"salsify\"\n{rest}\n")
}

/// A frame has to be there and acknowledged within one interval and one round trip, 36.7 ms;
/// with the 100 ms of alfalfa, within those.
#[test]
fn the_budget_is_kept_and_the_link_used() {
    for (params, delays) in [
        ("", 30.0..=45.0),
        ("params = { budget = \"100ms\" }", 60.0..=110.0),
    ] {
        let scenario = on("rate = \"20Mbit/s\"", &flow("game", params));
        for seed in SEEDS {
            let outcome = part(&scenario, seed, window(3_000, 40_000));
            let used = outcome.link.utilization.unwrap();
            let p99 = outcome.flows[0].frame_delay_ms.unwrap().p99;
            assert!((0.9..=1.001).contains(&used), "seed {seed}: used {used}");
            assert!(delays.contains(&p99), "seed {seed}: p99 {p99} ms");
        }
    }
}

#[test]
fn a_fall_is_answered_and_a_rise_taken() {
    let steps = "steps = [{ at = \"0s\", rate = \"30Mbit/s\" }, \
        { at = \"10s\", rate = \"10Mbit/s\" }, { at = \"20s\", rate = \"30Mbit/s\" }]";
    let scenario = on(steps, &flow("game", ""));
    for seed in SEEDS {
        let fall = part(&scenario, seed, window(9_900, 20_000));
        let peak = fall.flows[0].frame_delay_ms.unwrap().max;
        let after = part(&scenario, seed, window(11_000, 20_000));
        let p99 = after.flows[0].frame_delay_ms.unwrap().p99;
        let rise = part(&scenario, seed, window(20_000, 22_000));
        let used = rise.link.utilization.unwrap();
        assert!(
            (50.0..=150.0).contains(&peak),
            "seed {seed}: peak {peak} ms"
        );
        assert!(
            (30.0..=50.0).contains(&p99),
            "seed {seed}: p99 {p99} ms a second later"
        );
        assert!(
            (0.85..=1.001).contains(&used),
            "seed {seed}: used {used} after the rise"
        );
    }
}

/// Each flow takes what it measures for its own: they share evenly, and each adds its own
/// budget to the queue.
#[test]
fn two_flows_share_with_a_queue_of_two_budgets() {
    let flows = flow("first", "") + &flow("second", "start = \"10s\"");
    let scenario = on("rate = \"20Mbit/s\"", &flows);
    for seed in SEEDS {
        let outcome = part(&scenario, seed, window(15_000, 40_000));
        let (jain, used) = (outcome.jain.unwrap(), outcome.link.utilization.unwrap());
        for flow in &outcome.flows {
            let p99 = flow.frame_delay_ms.unwrap().p99;
            assert!(
                (60.0..=110.0).contains(&p99),
                "seed {seed}: {} p99 {p99} ms",
                flow.name
            );
        }
        assert!((0.95..=1.0).contains(&jain), "seed {seed}: Jain {jain}");
        assert!((0.97..=1.001).contains(&used), "seed {seed}: used {used}");
    }
}

/// With a smallest round trip of the last 10 s the budget holds the queue that the flows
/// themselves made, and grows with it, until packets are lost; how soon depends on the phases.
#[test]
fn a_short_memory_lets_two_flows_fill_the_queue() {
    let params = "params = { min_rtt_window = \"10s\" }\n";
    let second = flow("second", &(params.to_owned() + "start = \"10s\""));
    let scenario = on("rate = \"20Mbit/s\"", &(flow("first", params) + &second));
    for seed in SEEDS {
        let outcome = part(&scenario, seed, window(30_000, 40_000));
        let p99 = outcome.flows[0].frame_delay_ms.unwrap().p99;
        assert!((90.0..=300.0).contains(&p99), "seed {seed}: p99 {p99} ms");
    }
}

#[test]
fn seldom_feedback_costs_use_and_delay() {
    for (feedback, uses) in [("frame", 0.45..=0.7), ("50ms", 0.45..=0.7)] {
        let rest = format!("feedback = \"{feedback}\"");
        let scenario = on("rate = \"20Mbit/s\"", &flow("game", &rest));
        for seed in SEEDS {
            let outcome = part(&scenario, seed, window(3_000, 40_000));
            let used = outcome.link.utilization.unwrap();
            let p99 = outcome.flows[0].frame_delay_ms.unwrap().p99;
            assert!(uses.contains(&used), "{feedback}, seed {seed}: used {used}");
            assert!(
                (35.0..=90.0).contains(&p99),
                "{feedback}, seed {seed}: p99 {p99} ms"
            );
        }
    }
}

#[test]
fn an_outage_is_noticed_and_survived() {
    let steps = "steps = [{ at = \"0s\", rate = \"20Mbit/s\" }, \
        { at = \"10s\", rate = \"0Mbit/s\" }, { at = \"12s\", rate = \"20Mbit/s\" }]";
    let scenario = on(steps, &flow("game", ""));
    for seed in SEEDS {
        let log = Log::of(&scenario, seed);
        let timed_out = log.frames.iter().any(|(_, life)| {
            life.decision.cause == Cause::FeedbackTimeout && life.due > Time::from_secs(10)
        });
        assert!(timed_out, "seed {seed}: nothing answered the silence");
        let after = part(&scenario, seed, window(20_000, 40_000));
        let used = after.link.utilization.unwrap();
        assert!(
            (0.9..=1.001).contains(&used),
            "seed {seed}: used {used} afterwards"
        );
    }
}
