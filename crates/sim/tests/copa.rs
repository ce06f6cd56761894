//! Copa over simulated networks: the queue that its paper derives, falls and rises, and
//! two flows. Each bound has two sides, delay and use of the link.

#![allow(clippy::unwrap_used, reason = "a test may")]

mod common;

use common::{part, scenario, window};
use mimosa_control::Cause;
use mimosa_sim::Scenario;
use mimosa_units::Time;

const SEEDS: std::ops::RangeInclusive<u64> = 1..=8;
/// Time in milliseconds that a packet of 1200 B takes at 20 Mbit/s.
const PACKET_MS: f64 = 0.48;

fn on(link: &str, flows: &str) -> Scenario {
    scenario(&format!(
        "duration = \"40s\"\n[link]\n{link}\none_way_delay = \"10ms\"\n\
         queue = {{ kind = \"droptail\", limit = \"500kB\" }}\n{flows}"
    ))
}

fn flow(name: &str, rest: &str) -> String {
    format!("[[flow]]\nname = \"{name}\"\ncontroller = \"copa\"\n{rest}\n")
}

/// Section 3: from nothing to 2.5 / delta packets, 1.25 / delta on average.
#[test]
fn the_queue_is_that_of_the_paper_and_the_link_is_used() {
    for (delta, p99s) in [(0.5, 30.0..=45.0), (0.1, 35.0..=55.0)] {
        let params = format!("params = {{ delta = {delta:?} }}");
        let scenario = on("rate = \"20Mbit/s\"", &flow("game", &params));
        for seed in SEEDS {
            let outcome = part(&scenario, seed, window(3_000, 40_000));
            let used = outcome.link.utilization.unwrap();
            let queue = outcome.link.queue_delay_ms.unwrap();
            let p99 = outcome.flows[0].frame_delay_ms.unwrap().p99;
            let packets = queue.mean / PACKET_MS * delta;
            let at = format!("delta {delta}, seed {seed}");
            assert!((0.96..=1.0).contains(&used), "{at}: used {used}");
            assert!(
                (0.8..=1.7).contains(&packets),
                "{at}: {packets} / delta packets"
            );
            let most = queue.max / PACKET_MS * delta;
            assert!(most <= 4.0, "{at}: at most {most} / delta packets");
            assert!(p99s.contains(&p99), "{at}: p99 {p99} ms");
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
        assert!(
            (50.0..=150.0).contains(&peak),
            "seed {seed}: peak {peak} ms"
        );
        let after = part(&scenario, seed, window(11_000, 20_000));
        let p99 = after.flows[0].frame_delay_ms.unwrap().p99;
        assert!(
            (30.0..=50.0).contains(&p99),
            "seed {seed}: p99 {p99} ms a second later"
        );
        let rise = part(&scenario, seed, window(21_000, 40_000));
        let used = rise.link.utilization.unwrap();
        assert!(
            (0.95..=1.0).contains(&used),
            "seed {seed}: used {used} after the rise"
        );
    }
}

#[test]
fn two_flows_share_with_a_queue_for_each() {
    let flows = flow("first", "") + &flow("second", "start = \"10s\"");
    let scenario = on("rate = \"20Mbit/s\"", &flows);
    for seed in SEEDS {
        let outcome = part(&scenario, seed, window(15_000, 40_000));
        let (jain, used) = (outcome.jain.unwrap(), outcome.link.utilization.unwrap());
        assert!((0.97..=1.0).contains(&jain), "seed {seed}: Jain {jain}");
        assert!((0.97..=1.0).contains(&used), "seed {seed}: used {used}");
        for flow in &outcome.flows {
            let p99 = flow.frame_delay_ms.unwrap().p99;
            assert!(
                (30.0..=60.0).contains(&p99),
                "seed {seed}: {} p99 {p99} ms",
                flow.name
            );
        }
    }
}

/// A round trip that ends with a report holds the age of the report, which counts as a
/// queue: with a report for each frame a third of the link is used, with one each 50 ms next
/// to nothing.
#[test]
fn feedback_has_to_come_for_each_packet() {
    for (feedback, uses) in [("frame", 0.25..=0.45), ("50ms", 0.02..=0.1)] {
        let rest = format!("feedback = \"{feedback}\"");
        let scenario = on("rate = \"20Mbit/s\"", &flow("game", &rest));
        for seed in SEEDS {
            let outcome = part(&scenario, seed, window(3_000, 40_000));
            let used = outcome.link.utilization.unwrap();
            let p99 = outcome.flows[0].frame_delay_ms.unwrap().p99;
            let at = format!("{feedback}, seed {seed}");
            assert!(uses.contains(&used), "{at}: used {used}");
            assert!((30.0..=120.0).contains(&p99), "{at}: p99 {p99} ms");
        }
    }
}

/// The silence of an outage is answered, and the link is used again afterwards.
#[test]
fn an_outage_is_noticed_and_survived() {
    let steps = "steps = [{ at = \"0s\", rate = \"20Mbit/s\" }, \
        { at = \"10s\", rate = \"0Mbit/s\" }, { at = \"12s\", rate = \"20Mbit/s\" }]";
    let scenario = on(steps, &flow("game", ""));
    for seed in SEEDS {
        let log = common::Log::of(&scenario, seed);
        let timed_out = log.frames.iter().any(|(_, life)| {
            life.decision.cause == Cause::FeedbackTimeout && life.due > Time::from_secs(10)
        });
        assert!(timed_out, "seed {seed}: nothing answered the silence");
        let after = part(&scenario, seed, window(20_000, 40_000));
        let used = after.link.utilization.unwrap();
        assert!(
            (0.95..=1.0).contains(&used),
            "seed {seed}: used {used} afterwards"
        );
    }
}
