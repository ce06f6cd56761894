//! SCReAM v2 over simulated networks, for seeds 1 to 4: delay and use together, and what
//! acted.

use crate::common::{Log, part, scenario, window};
use mimosa_facts::{Cause, FrameLife};
use mimosa_scenario::Scenario;
use mimosa_units::{Time, TimeDelta};

const SEEDS: std::ops::RangeInclusive<u64> = 1..=4;

/// Streams one after the other, ten seconds apart, of 60 fps and up to `max`.
fn streams(duration: u64, link: &str, flows: u64, max: u64, flow: &str) -> Scenario {
    let link = format!("duration = \"{duration}s\"\n[link]\n{link}\n");
    let flow = |index| {
        format!(
            "[[flow]]\nkind = \"video\"\ncontroller = \"scream\"\nfps = 60\n\
             start = \"{}s\"\nstart_bitrate = \"5Mbit/s\"\nmax_bitrate = \"{max}Mbit/s\"\n{flow}\n",
            10 * index
        )
    };
    let flows: Vec<_> = (0..flows).map(flow).collect();
    scenario(&(link + &flows.concat()))
}

const DROP_TAIL: &str =
    "one_way_delay = \"10ms\"\nqueue = { kind = \"droptail\", limit = \"500kB\" }\n";

#[test]
fn a_constant_link_is_full_and_its_queue_at_half_of_the_delay_target() {
    let link = format!("rate = \"20Mbit/s\"\n{DROP_TAIL}");
    let scenario = streams(30, &link, 1, 50, "");
    for seed in SEEDS {
        let outcome = part(&scenario, seed, window(3_000, 30_000));
        let used = outcome.link.utilization.unwrap();
        let queue = outcome.link.queue_delay_ms.unwrap().mean;
        let p99 = outcome.flows[0].frame_delay_ms.unwrap().p99;
        assert!((0.97..=1.001).contains(&used), "seed {seed}: used {used}");
        assert!((24.0..=34.0).contains(&queue), "seed {seed}: queue {queue}");
        assert!((55.0..=80.0).contains(&p99), "seed {seed}: p99 {p99}");
        assert_eq!(outcome.link.dropped, 0, "seed {seed}");
    }
}

/// The two seconds after the fall: some seconds later the clock drift rule takes the
/// standing queue for a wrong base delay, and its pause costs a few frames 100 ms.
#[test]
fn a_fall_is_answered_and_a_rise_taken() {
    let link = format!(
        "steps = [{{ at = \"0s\", rate = \"30Mbit/s\" }}, {{ at = \"10s\", rate = \"10Mbit/s\" }}, \
         {{ at = \"20s\", rate = \"30Mbit/s\" }}]\n{DROP_TAIL}"
    );
    let scenario = streams(30, &link, 1, 50, "");
    let fall = Time::from_secs(10);
    for seed in SEEDS {
        let log = Log::of(&scenario, seed);
        let (mut peak, mut slow, mut reduced) = (TimeDelta::ZERO, fall, false);
        for (_, life) in &log.frames {
            let between = fall - TimeDelta::from_millis(100)..Time::from_secs(12);
            if !between.contains(&life.handed_over) {
                continue;
            }
            let delay = life.delay().unwrap();
            peak = peak.max(delay);
            if delay > TimeDelta::from_millis(100) {
                slow = life.handed_over + delay;
            }
            reduced |= life.decision.cause == Cause::QueueDelay;
        }
        let calm = slow.since(fall);
        assert!(peak <= TimeDelta::from_millis(320), "seed {seed}: {peak}");
        assert!(calm <= TimeDelta::from_millis(1_000), "seed {seed}: {calm}");
        assert!(reduced, "seed {seed}: something else answered the fall");
        let rise = part(&scenario, seed, window(20_000, 22_000));
        let used = rise.link.utilization.unwrap();
        assert!((0.8..=1.001).contains(&used), "seed {seed}: used {used}");
    }
}

/// The origin's `test-record.md`: DualPI2 of 100 Mbit/s, alone, RTT 25 ms: 78 Mbit/s.
#[test]
fn an_l4s_queue_stays_short_at_the_use_that_the_origin_reports() {
    let link = "rate = \"100Mbit/s\"\none_way_delay = \"12500us\"\nqueue = { kind = \"dualpi2\" }";
    let scenario = streams(30, link, 1, 200, "ecn = \"ect1\"");
    for seed in SEEDS {
        let outcome = part(&scenario, seed, window(10_000, 30_000));
        let used = outcome.link.utilization.unwrap();
        let queue = outcome.link.queue_delay_ms.unwrap().p99;
        assert!((0.68..=0.88).contains(&used), "seed {seed}: used {used}");
        assert!((0.1..=1.5).contains(&queue), "seed {seed}: queue {queue}");
        let log = Log::of(&scenario, seed);
        let marked = |life: &&(usize, FrameLife)| life.1.decision.cause == Cause::Marked;
        assert!(log.frames.iter().filter(marked).count() > 100, "no marks");
    }
}

#[test]
fn two_l4s_streams_share() {
    let link = "rate = \"40Mbit/s\"\nqueue = { kind = \"dualpi2\" }";
    let scenario = streams(60, link, 2, 50, "ecn = \"ect1\"");
    for seed in SEEDS {
        let outcome = part(&scenario, seed, window(30_000, 60_000));
        let (used, jain) = (outcome.link.utilization.unwrap(), outcome.jain.unwrap());
        let queue = outcome.link.queue_delay_ms.unwrap().p99;
        assert!((0.66..=0.95).contains(&used), "seed {seed}: used {used}");
        assert!((0.95..=1.0).contains(&jain), "seed {seed}: Jain {jain}");
        assert!((0.1..=2.0).contains(&queue), "seed {seed}: queue {queue}");
    }
}

#[test]
fn two_streams_without_marks_fill_the_link_below_the_delay_target() {
    let link = format!("rate = \"20Mbit/s\"\n{DROP_TAIL}");
    let scenario = streams(80, &link, 2, 50, "");
    for seed in SEEDS {
        let outcome = part(&scenario, seed, window(30_000, 80_000));
        let (used, jain) = (outcome.link.utilization.unwrap(), outcome.jain.unwrap());
        let queue = outcome.link.queue_delay_ms.unwrap().mean;
        assert!((0.97..=1.001).contains(&used), "seed {seed}: used {used}");
        assert!((24.0..=60.0).contains(&queue), "seed {seed}: queue {queue}");
        assert!((0.7..=1.0).contains(&jain), "seed {seed}: Jain {jain}");
    }
}

/// Growth ends at 1.5 times what was in flight, and that is what the pace of 1.5 times
/// the target lets out.
#[test]
fn an_encoder_with_little_to_show_does_not_raise_the_target() {
    let link = format!("rate = \"20Mbit/s\"\n{DROP_TAIL}");
    let scenario = streams(20, &link, 1, 50, "content_bitrate = \"3Mbit/s\"");
    let log = Log::of(&scenario, 1);
    let targets = log.frames.iter().map(|(_, life)| life.decision.target);
    let highest = targets.max().unwrap().as_mbps();
    assert!((3.0..=9.0).contains(&highest), "{highest} Mbit/s");
    let limited = |life: &&(usize, FrameLife)| life.1.decision.cause == Cause::ApplicationLimited;
    assert!(log.frames.iter().filter(limited).count() > 1_000);
}

#[test]
fn after_an_outage_the_stream_comes_back() {
    let link = format!(
        "steps = [{{ at = \"0s\", rate = \"20Mbit/s\" }}, {{ at = \"8s\", rate = \"0Mbit/s\" }}, \
         {{ at = \"12s\", rate = \"20Mbit/s\" }}]\n{DROP_TAIL}"
    );
    let scenario = streams(30, &link, 1, 50, "");
    for seed in SEEDS {
        let outcome = part(&scenario, seed, window(16_000, 20_000));
        let used = outcome.link.utilization.unwrap();
        let p99 = outcome.flows[0].frame_delay_ms.unwrap().p99;
        assert!((0.8..=1.001).contains(&used), "seed {seed}: used {used}");
        assert!((20.0..=120.0).contains(&p99), "seed {seed}: p99 {p99}");
    }
}
