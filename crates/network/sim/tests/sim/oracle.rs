//! The bound that others are measured against, on links whose best use is known.

use crate::common::{part, scenario, window};

const FLOW: &str = "[[flow]]\ncontroller = \"oracle\"\nfps = 60\nmax_bitrate = \"100Mbit/s\"\n";

fn file(link: &str, flows: &str) -> String {
    format!("duration = \"30s\"\n[link]\none_way_delay = \"10ms\"\n{link}\n{flows}")
}

#[test]
fn on_a_constant_link_it_uses_all_and_waits_for_nothing() {
    for mbps in [4, 20, 45] {
        let text = file(&format!("rate = \"{mbps}Mbit/s\""), FLOW);
        let outcome = part(&scenario(&text), 1, window(2_000, 30_000));
        let used = outcome.link.utilization.unwrap();
        assert!(used > 0.97, "{mbps}: {used}");
        // A frame takes its interval, and a round trip.
        let delay = outcome.flows[0].frame_delay_ms.unwrap();
        assert!(delay.p99 < 20.0 + 17.5, "{mbps}: {delay:?}");
        assert!(outcome.link.queue_delay_ms.unwrap().p99 < 1.0, "{mbps}");
    }
}

#[test]
fn after_a_fall_only_what_could_not_be_known_waits() {
    let steps = "steps = [{ at = \"0s\", rate = \"30Mbit/s\" }, { at = \"10s\", rate = \"10Mbit/s\" }, { at = \"20s\", rate = \"40Mbit/s\" }]";
    let outcome = part(&scenario(&file(steps, FLOW)), 1, window(2_000, 30_000));
    // Told 20 ms late, and by then with one frame more on its way: less than 40 ms of
    // twice the new rate too much.
    let queue = outcome.link.queue_delay_ms.unwrap();
    assert!(queue.max < 90.0, "{queue:?}");
    assert!(queue.p95 < 2.0, "{queue:?}");
    assert!(outcome.link.utilization.unwrap() > 0.96, "{outcome:?}");
}

#[test]
fn several_share_what_cross_traffic_leaves() {
    let others = "[[flow]]\nkind = \"cbr\"\nrate = \"6Mbit/s\"\n";
    let text = file("rate = \"30Mbit/s\"", &[FLOW, FLOW, FLOW, others].concat());
    let outcome = part(&scenario(&text), 3, window(2_000, 30_000));
    assert!(outcome.jain.unwrap() > 0.999, "{:?}", outcome.jain);
    for flow in &outcome.flows[..3] {
        let got = flow.throughput_mbps;
        assert!((7.7..8.1).contains(&got), "{got}");
    }
}
