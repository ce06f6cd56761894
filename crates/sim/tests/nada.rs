//! NADA over simulated networks, for seeds 1 to 4: where equations 5 to 7 come to rest,
//! and how they get there.

#![allow(clippy::unwrap_used, reason = "a test may")]

mod common;

use common::{Log, part, scenario, window};
use mimosa_control::Cause;
use mimosa_sim::{Outcome, Scenario};
use mimosa_units::{Time, TimeDelta};

const SEEDS: std::ops::RangeInclusive<u64> = 1..=4;

/// A queue that loses nothing, so that delay alone speaks.
const DEEP: &str = "one_way_delay = \"10ms\"\nqueue = { kind = \"droptail\", limit = \"5MB\" }\n";

/// Streams one after the other, ten seconds apart, of 60 fps and up to 50 Mbit/s.
fn streams(duration: u64, link: &str, flows: u64, flow: &str) -> Scenario {
    let link = format!("duration = \"{duration}s\"\n[link]\n{link}\n{DEEP}");
    let flow = |index| {
        format!(
            "[[flow]]\nkind = \"video\"\ncontroller = \"nada\"\nfps = 60\nstart = \"{}s\"\n\
             max_bitrate = \"50Mbit/s\"\n{flow}\n",
            10 * index
        )
    };
    let flows: Vec<_> = (0..flows).map(flow).collect();
    scenario(&(link + &flows.concat()))
}

fn used(outcome: &Outcome) -> f64 {
    outcome.link.utilization.unwrap()
}

fn queue(outcome: &Outcome) -> f64 {
    outcome.link.queue_delay_ms.unwrap().mean
}

/// `PRIO XREF RMAX / rate`: 10 ms x 50 / 20.
#[test]
fn on_a_constant_link_the_queue_is_the_one_of_the_equilibrium() {
    let scenario = streams(30, "rate = \"20Mbit/s\"", 1, "");
    for seed in SEEDS {
        let outcome = part(&scenario, seed, window(8_000, 30_000));
        let (used, queue) = (used(&outcome), queue(&outcome));
        let p99 = outcome.flows[0].frame_delay_ms.unwrap().p99;
        assert!((0.97..=1.001).contains(&used), "seed {seed}: used {used}");
        assert!((23.0..=27.0).contains(&queue), "seed {seed}: queue {queue}");
        assert!((45.0..=70.0).contains(&p99), "seed {seed}: p99 {p99}");
    }
}

/// At the RFC's own `RMAX`: 10 ms x 1.5 / 1.
#[test]
fn at_the_rates_of_the_rfc_too() {
    let text = format!(
        "duration = \"60s\"\n[link]\nrate = \"1Mbit/s\"\n{DEEP}[[flow]]\nkind = \"video\"\n\
         controller = \"nada\"\nfps = 30\nmin_bitrate = \"150kbit/s\"\n\
         start_bitrate = \"150kbit/s\"\nmax_bitrate = \"1500kbit/s\"\npacket_size = \"500B\"\n"
    );
    let scenario = scenario(&text);
    for seed in SEEDS {
        let outcome = part(&scenario, seed, window(20_000, 60_000));
        let (used, queue) = (used(&outcome), queue(&outcome));
        assert!((0.95..=1.001).contains(&used), "seed {seed}: used {used}");
        assert!((12.0..=22.0).contains(&queue), "seed {seed}: queue {queue}");
    }
}

#[test]
fn a_fall_is_answered_and_a_rise_taken() {
    let steps = "steps = [{ at = \"0s\", rate = \"30Mbit/s\" }, { at = \"10s\", rate = \"10Mbit/s\" }, \
                 { at = \"20s\", rate = \"30Mbit/s\" }]";
    let scenario = streams(30, steps, 1, "");
    let fall = Time::from_secs(10);
    for seed in SEEDS {
        let log = Log::of(&scenario, seed);
        let (mut peak, mut slow, mut answered) = (TimeDelta::ZERO, fall, false);
        for (_, life) in &log.frames {
            let between = fall - TimeDelta::from_millis(100)..Time::from_secs(18);
            if !between.contains(&life.handed_over) {
                continue;
            }
            let delay = life.delay().unwrap();
            peak = peak.max(delay);
            if delay > TimeDelta::from_millis(150) {
                slow = life.handed_over + delay;
            }
            answered |= life.decision.cause == Cause::GradualUpdate;
        }
        let calm = slow.since(fall);
        assert!(peak <= TimeDelta::from_millis(900), "seed {seed}: {peak}");
        assert!(calm <= TimeDelta::from_millis(2_500), "seed {seed}: {calm}");
        assert!(answered, "seed {seed}: something else answered the fall");
        // 10 ms x 50 / 10, and 10 ms x 50 / 30.
        for (from, queue_at_rest) in [(16_000, 50.0), (26_000, 16.7)] {
            let rest = part(&scenario, seed, window(from, from + 4_000));
            let queue = queue(&rest);
            let share = queue / queue_at_rest;
            assert!((0.9..=1.1).contains(&share), "seed {seed}: queue {queue}");
        }
        let rise = used(&part(&scenario, seed, window(22_000, 24_000)));
        assert!((0.9..=1.001).contains(&rise), "seed {seed}: used {rise}");
    }
}

/// The second stream measures its base delay on the first one's queue of 25 ms (section
/// 6.1). With Q the queue, the rates 500 / Q and 500 / (Q - 25) add up to 20 Mbit/s at Q
/// = 66 ms: 7.6 and 12.4 Mbit/s.
#[test]
fn two_streams_share_as_their_base_delays_have_it() {
    let scenario = streams(80, "rate = \"20Mbit/s\"", 2, "");
    for seed in SEEDS {
        let outcome = part(&scenario, seed, window(60_000, 80_000));
        let (used, queue) = (used(&outcome), queue(&outcome));
        let rates = [0, 1].map(|flow| outcome.flows[flow].bitrate_mbps.unwrap());
        assert!((0.97..=1.001).contains(&used), "seed {seed}: used {used}");
        assert!((62.0..=70.0).contains(&queue), "seed {seed}: queue {queue}");
        assert!((7.1..=8.1).contains(&rates[0]), "seed {seed}: {rates:?}");
        assert!((11.9..=12.9).contains(&rates[1]), "seed {seed}: {rates:?}");
    }
}

/// `1 + gamma` above what arrives (equation 4).
#[test]
fn an_encoder_with_little_to_show_does_not_raise_the_target() {
    let flow = "start_bitrate = \"1Mbit/s\"\ncontent_bitrate = \"3Mbit/s\"";
    let scenario = streams(20, "rate = \"20Mbit/s\"", 1, flow);
    let log = Log::of(&scenario, 1);
    let targets = log.frames.iter().map(|(_, life)| life.decision.target);
    let highest = targets.max().unwrap().as_mbps();
    assert!((3.0..=3.7).contains(&highest), "{highest} Mbit/s");
}

#[test]
fn after_an_outage_the_stream_comes_back() {
    let steps = "steps = [{ at = \"0s\", rate = \"20Mbit/s\" }, { at = \"8s\", rate = \"0Mbit/s\" }, \
                 { at = \"12s\", rate = \"20Mbit/s\" }]";
    let scenario = streams(40, steps, 1, "");
    for seed in SEEDS {
        let log = Log::of(&scenario, seed);
        let silent = |life: &&(usize, mimosa_session::FrameLife)| {
            life.1.decision.cause == Cause::FeedbackTimeout
        };
        assert!(log.frames.iter().any(|life| silent(&life)), "seed {seed}");
        let outcome = part(&scenario, seed, window(30_000, 40_000));
        let (used, queue) = (used(&outcome), queue(&outcome));
        assert!((0.9..=1.001).contains(&used), "seed {seed}: used {used}");
        assert!((10.0..=40.0).contains(&queue), "seed {seed}: queue {queue}");
    }
}
