//! The C3G paper's BBR at the application layer, over simulated networks.

use crate::common::{Log, part, scenario, window};
use mimosa_facts::Cause;
use mimosa_units::Time;

/// One stream over `link`.
fn stream(controller: &str, link: &str) -> mimosa_scenario::Scenario {
    scenario(&format!(
        r#"duration = "60s"
[link]
{link}
one_way_delay = "10ms"
queue = {{ kind = "droptail", limit = "250kB" }}
[[flow]]
name = "game"
controller = "{controller}"
start_bitrate = "5Mbit/s"
"#
    ))
}

const CONSTANT: &str = "rate = \"20Mbit/s\"";

#[test]
fn a_constant_link_is_used_in_cycles() {
    for seed in 1..=4 {
        let scenario = stream("bbr-app", CONSTANT);
        let outcome = part(&scenario, seed, window(5_000, 60_000));
        let used = outcome.link.utilization.unwrap();
        let delay = outcome.flows[0].frame_delay_ms.unwrap();
        assert!((0.8..=0.97).contains(&used), "seed {seed}: {used}");
        assert!(
            (30.0..=45.0).contains(&delay.mean),
            "seed {seed}: {} ms",
            delay.mean
        );
        assert!(
            (40.0..=100.0).contains(&delay.max),
            "seed {seed}: {} ms",
            delay.max
        );
        let log = Log::of(&scenario, seed);
        for cause in [
            Cause::MultiplicativeIncrease,
            Cause::MultiplicativeDecrease,
            Cause::Hold,
        ] {
            let has = log
                .frames
                .iter()
                .any(|(_, life)| life.decision.cause == cause);
            assert!(has, "seed {seed}: {cause} never decided");
        }
    }
}

#[test]
fn a_rise_is_taken_faster_than_by_c3g() {
    let link = r#"steps = [{ at = "0s", rate = "5.5Mbit/s" }, { at = "10s", rate = "20Mbit/s" }]"#;
    for seed in 1..=4 {
        let reached = |controller| {
            let log = Log::of(&stream(controller, link), seed);
            let frames = log.frames.iter().map(|(_, life)| life);
            let mut frames = frames.filter(|life| life.due > Time::from_secs(10));
            frames
                .find(|life| life.decision.target.as_mbps() >= 15.0)
                .map(|life| life.due)
        };
        let bbr = reached("bbr-app").unwrap();
        assert!(bbr < Time::from_secs(20), "seed {seed}: {bbr}");
        assert_eq!(reached("c3g"), None, "seed {seed}");
    }
}
