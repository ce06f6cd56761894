//! Prague under a video over simulated networks: the step of an L4S queue, falls and rises,
//! two flows, beside a classic TCP, and without marks. Where a bound is one of regression,
//! set after the figure was seen, it says so.

use crate::common::{Log, part, scenario, window};
use mimosa_facts::Cause;
use mimosa_scenario::Scenario;
use mimosa_units::Time;

const SEEDS: std::ops::RangeInclusive<u64> = 1..=4;
const DUALPI2: &str = "kind = \"dualpi2\"";
const CONSTANT: &str = "rate = \"20Mbit/s\"";

fn on(link: &str, queue: &str, flows: &str) -> Scenario {
    scenario(&format!(
        "duration = \"40s\"\n[link]\n{link}\none_way_delay = \"10ms\"\n\
         queue = {{ {queue} }}\n{flows}"
    ))
}

fn flow(rest: &str) -> String {
    format!("[[flow]]\ncontroller = \"prague\"\necn = \"ect1\"\n{rest}\n")
}

/// Marks begin at 0.8 ms and are certain at 1.2 ms; a packet takes 0.48 ms, and a round trip
/// passes before the answer, in which the window grows by less than a packet. With 2 % of
/// marks, where growth and reduction meet, a reduction takes 1 % of the window.
#[test]
fn an_l4s_queue_stays_at_its_step_and_the_link_is_used() {
    let scenario = on(CONSTANT, DUALPI2, &flow(""));
    for seed in SEEDS {
        let outcome = part(&scenario, seed, window(3_000, 40_000));
        let used = outcome.link.utilization.unwrap();
        assert!((0.95..=1.0).contains(&used), "seed {seed}: used {used}");
        let queue = outcome.link.queue_delay_ms.unwrap();
        assert!((0.1..=1.2).contains(&queue.mean), "seed {seed}: {queue:?}");
        assert!((0.8..=2.5).contains(&queue.p99), "seed {seed}: {queue:?}");
        // A frame takes its interval and a round trip, and what is queued.
        let p99 = outcome.flows[0].frame_delay_ms.unwrap().p99;
        assert!((36.7..=40.0).contains(&p99), "seed {seed}: p99 {p99} ms");
        assert_eq!(outcome.link.dropped, 0, "seed {seed}");
        let log = Log::of(&scenario, seed);
        let causes = log.frames.iter().map(|(_, life)| life.decision.cause);
        let marked = causes.filter(|cause| *cause == Cause::Marked).count();
        assert!(marked > 100, "seed {seed}: {marked} frames under a mark");
    }
}

#[test]
fn a_video_uses_and_queues_what_a_transfer_does() {
    let flows = ["kind = \"tcp\"", "kind = \"video\""];
    let [tcp, video] = flows.map(|kind| {
        let link = part(
            &on(CONSTANT, DUALPI2, &flow(kind)),
            1,
            window(3_000, 40_000),
        )
        .link;
        (link.utilization.unwrap(), link.queue_delay_ms.unwrap().mean)
    });
    assert!((tcp.0 - video.0).abs() < 0.02, "{tcp:?} {video:?}");
    assert!((tcp.1 - video.1).abs() < 0.3, "{tcp:?} {video:?}");
}

/// A flight of 30 Mbit/s is 75 kB and 60 ms at 10 Mbit/s, of which 40 ms are a queue; a frame
/// made before the fall takes 50 ms to leave. The bound of the rise's first two seconds is
/// one of regression.
#[test]
fn a_fall_is_answered_and_a_rise_taken() {
    let steps = "steps = [{ at = \"0s\", rate = \"30Mbit/s\" }, \
        { at = \"10s\", rate = \"10Mbit/s\" }, { at = \"20s\", rate = \"30Mbit/s\" }]";
    let scenario = on(steps, DUALPI2, &flow(""));
    for seed in SEEDS {
        let fall = part(&scenario, seed, window(9_900, 20_000));
        let peak = fall.flows[0].frame_delay_ms.unwrap().max;
        assert!(
            (60.0..=140.0).contains(&peak),
            "seed {seed}: peak {peak} ms"
        );
        let after = part(&scenario, seed, window(11_000, 20_000));
        let p99 = after.flows[0].frame_delay_ms.unwrap().p99;
        assert!((36.7..=42.0).contains(&p99), "seed {seed}: p99 {p99} ms");
        let used = after.link.utilization.unwrap();
        assert!((0.93..=1.0).contains(&used), "seed {seed}: used {used}");
        for (from, to, least) in [(20_000, 22_000, 0.75), (22_000, 40_000, 0.95)] {
            let rise = part(&scenario, seed, window(from, to));
            let used = rise.link.utilization.unwrap();
            assert!((least..=1.0).contains(&used), "seed {seed}: used {used}");
        }
    }
}

#[test]
fn two_flows_share_below_the_step() {
    let scenario = on(CONSTANT, DUALPI2, &(flow("") + &flow("start = \"10s\"")));
    for seed in SEEDS {
        let outcome = part(&scenario, seed, window(15_000, 40_000));
        let (jain, used) = (outcome.jain.unwrap(), outcome.link.utilization.unwrap());
        assert!((0.95..=1.0).contains(&jain), "seed {seed}: Jain {jain}");
        assert!((0.93..=1.0).contains(&used), "seed {seed}: used {used}");
        let queue = outcome.link.queue_delay_ms.unwrap();
        assert!((0.5..=3.0).contains(&queue.p99), "seed {seed}: {queue:?}");
    }
}

/// RFC 9332, section 2.1: the coupling gives both about the same rate. The classic queue
/// holds what waits.
#[test]
fn beside_a_classic_transfer_it_has_its_half_and_no_queue() {
    let cubic = "[[flow]]\nkind = \"tcp\"\ncontroller = \"cubic\"\n";
    let scenario = on(CONSTANT, DUALPI2, &(flow("") + cubic));
    for seed in SEEDS {
        let outcome = part(&scenario, seed, window(5_000, 40_000));
        let [video, cubic] = [0, 1].map(|index| outcome.flows[index].throughput_mbps);
        let ratio = video / cubic;
        assert!(
            (0.5..=2.0).contains(&ratio),
            "seed {seed}: {video}, {cubic}"
        );
        assert!(outcome.link.utilization.unwrap() > 0.97, "seed {seed}");
        let queue = outcome.link.queue_delay_ms.unwrap().mean;
        assert!(
            queue > 4.0,
            "seed {seed}: the classic queue is empty, {queue}"
        );
        let p99 = outcome.flows[0].frame_delay_ms.unwrap().p99;
        assert!((36.7..=42.0).contains(&p99), "seed {seed}: p99 {p99} ms");
    }
}

/// A drop-tail queue of twice the flight is full before the first loss, and half full after
/// each.
#[test]
fn without_marks_it_fills_the_queue_as_reno_does() {
    let queue = "kind = \"droptail\", limit = \"100kB\"";
    let scenario = on(CONSTANT, queue, &flow(""));
    for seed in SEEDS {
        let outcome = part(&scenario, seed, window(10_000, 40_000));
        let queue = outcome.link.queue_delay_ms.unwrap();
        assert!(
            (15.0..=38.0).contains(&queue.mean),
            "seed {seed}: {queue:?}"
        );
        assert!((38.0..=40.1).contains(&queue.max), "seed {seed}: {queue:?}");
        let used = outcome.link.utilization.unwrap();
        assert!((0.97..=1.0).contains(&used), "seed {seed}: used {used}");
    }
}

#[test]
fn an_outage_of_ten_seconds_is_recovered_from() {
    let steps = "steps = [{ at = \"0s\", rate = \"20Mbit/s\" }, \
        { at = \"10s\", rate = \"0Mbit/s\" }, { at = \"20s\", rate = \"20Mbit/s\" }]";
    let scenario = on(steps, DUALPI2, &flow(""));
    for seed in SEEDS {
        let log = Log::of(&scenario, seed);
        let silent = Time::from_secs(11)..Time::from_secs(20);
        let timed_out = log.frames.iter().filter(|(_, life)| {
            silent.contains(&life.due) && life.decision.cause == Cause::FeedbackTimeout
        });
        assert!(timed_out.count() > 10, "seed {seed}: nothing answered");
        let after = part(&scenario, seed, window(23_000, 40_000));
        let used = after.link.utilization.unwrap();
        assert!((0.95..=1.0).contains(&used), "seed {seed}: used {used}");
        let p99 = after.flows[0].frame_delay_ms.unwrap().p99;
        assert!((36.7..=40.0).contains(&p99), "seed {seed}: p99 {p99} ms");
    }
}

/// The window holds what was sent and not yet reported: the age of a report is part of the
/// round trip. A stream with a window asks for eight reports in each: the oldest is an eighth
/// of a round trip old, a sixteenth on the mean. The bounds for 50 ms are those of regression.
#[test]
fn reports_that_come_seldom_cost_use() {
    for (feedback, uses) in [("frame", 0.93..=1.0), ("50ms", 0.42..=0.62)] {
        let rest = format!("feedback = \"{feedback}\"");
        let scenario = on(CONSTANT, DUALPI2, &flow(&rest));
        for seed in SEEDS {
            let outcome = part(&scenario, seed, window(3_000, 40_000));
            let used = outcome.link.utilization.unwrap();
            assert!(uses.contains(&used), "{feedback}, seed {seed}: used {used}");
        }
    }
}
