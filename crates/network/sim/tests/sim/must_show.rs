//! What Pudica has to show over simulated networks, for seeds 1 to 16: each
//! bound has two sides, delay and use of the link.

use crate::common::{Log, file, part, window};
use mimosa_facts::Cause;
use mimosa_figures::RunFigures;
use mimosa_units::{Time, TimeDelta};

const SEEDS: std::ops::RangeInclusive<u64> = 1..=16;

/// Asserts with the line that replays the run.
macro_rules! check {
    ($holds:expr, $file:expr, $seed:expr, $($what:tt)*) => {
        assert!(
            $holds,
            "{}\nreplay: cargo run --release -p mimosa-cli -- sim scenarios/{}.toml --seeds {}",
            format!($($what)*), $file, $seed
        );
    };
}

fn used(outcome: &RunFigures) -> f64 {
    outcome.link.utilization.unwrap()
}

#[test]
fn a_constant_link_is_used_and_its_queue_is_not() {
    for name in ["constant-8", "constant-20", "constant-45"] {
        let scenario = file(name);
        for seed in SEEDS {
            let outcome = part(&scenario, seed, window(3_000, 30_000));
            let p99 = outcome.flows[0].frame_delay_ms.unwrap().p99;
            let used = used(&outcome);
            check!((0.90..=1.0).contains(&used), name, seed, "used {used}");
            check!((20.0..=39.0).contains(&p99), name, seed, "p99 {p99} ms");
            check!(outcome.link.dropped == 0, name, seed, "dropped packets");
        }
    }
}

#[test]
fn a_fall_is_answered_and_a_rise_taken() {
    let scenario = file("steps");
    let fall = Time::from_secs(10);
    for seed in SEEDS {
        let log = Log::of(&scenario, seed);
        let slow = TimeDelta::from_millis(50);
        let after = log.frames.iter().map(|(_, life)| life).filter(|life| {
            life.handed_over >= fall - TimeDelta::from_millis(100)
                && life.handed_over < Time::from_secs(20)
        });
        let mut peak = TimeDelta::ZERO;
        let mut last_slow = fall;
        let mut drained = false;
        for life in after {
            let delay = life.delay().unwrap();
            peak = peak.max(delay);
            if delay > slow {
                last_slow = life.handed_over + delay;
            }
            drained |= life.decision.cause == Cause::Drain;
        }
        let calm = last_slow.since(fall);
        check!(
            peak <= TimeDelta::from_millis(350),
            "steps",
            seed,
            "peak {peak}"
        );
        check!(
            calm <= TimeDelta::from_millis(700),
            "steps",
            seed,
            "slow for {calm}"
        );
        check!(
            drained,
            "steps",
            seed,
            "no drain: something else emptied the queue"
        );
        let rise = used(&part(&scenario, seed, window(20_000, 22_000)));
        check!(
            (0.75..=1.0).contains(&rise),
            "steps",
            seed,
            "used {rise} after the rise"
        );
    }
}

#[test]
fn three_streams_share_without_a_queue() {
    let scenario = file("three-flows");
    let mut jains = Vec::new();
    for seed in SEEDS {
        let outcome = part(&scenario, seed, window(45_000, 80_000));
        for flow in &outcome.flows {
            let p99 = flow.frame_delay_ms.unwrap().p99;
            check!(
                p99 <= 45.0,
                "three-flows",
                seed,
                "{}: p99 {p99} ms",
                flow.name
            );
        }
        let used = used(&outcome);
        check!(
            (0.92..=1.0).contains(&used),
            "three-flows",
            seed,
            "used {used}"
        );
        jains.push(outcome.jain.unwrap());
    }
    let mean = jains.iter().sum::<f64>() / jains.len() as f64;
    assert!(
        (0.95..=1.0).contains(&mean),
        "mean Jain index {mean} of {jains:?}"
    );
}

#[test]
fn jitter_is_no_reason_to_give_up_the_link() {
    let scenario = file("jitter");
    let mut lates = Vec::new();
    for seed in SEEDS {
        let outcome = part(&scenario, seed, window(3_000, 30_000));
        let flow = &outcome.flows[0];
        let (late, stalled) = (flow.stall_50ms.unwrap(), flow.stall_100ms.unwrap());
        // Two frames in thirty, or one: the frames' phase to the blocks decides.
        let once_or_twice = (0.03..=0.0667).contains(&late);
        check!(
            once_or_twice,
            "jitter",
            seed,
            "{late} of the frames above 50 ms"
        );
        lates.push(late);
        check!(stalled == 0.0, "jitter", seed, "{stalled} above 100 ms");
        let used = used(&outcome);
        check!((0.85..=1.0).contains(&used), "jitter", seed, "used {used}");
    }
    let mean = lates.iter().sum::<f64>() / lates.len() as f64;
    assert!(mean <= 0.06, "{mean} of the frames above 50 ms");
}
