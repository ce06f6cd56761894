//! What each reading of the Pudica paper is worth: the experiments behind a table of
//! `docs/algorithms/pudica.md`, with the cause switched off, for seeds 1 to 4.

use std::ops::RangeInclusive;

use crate::common::{part, window};
use mimosa_figures::RunFigures;
use mimosa_scenario::load;

const SEEDS: RangeInclusive<u64> = 1..=4;

/// The figures of two variants of an experiment, from `from` to `to` milliseconds, seed by seed.
fn beside(
    file: &str,
    variants: [&str; 2],
    seeds: RangeInclusive<u64>,
    from: u64,
    to: u64,
) -> Vec<(String, [RunFigures; 2])> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../experiments");
    let text = std::fs::read_to_string(format!("{root}/{file}.toml")).unwrap();
    let loaded = load(&text, file, &mut ()).unwrap_or_else(|error| panic!("{error}"));
    let scenarios = variants.map(|name| {
        let found = loaded
            .variants
            .iter()
            .find(|(each, _)| each.as_deref() == Some(name));
        &found
            .unwrap_or_else(|| panic!("{file} has no variant {name:?}"))
            .1
    });
    let runs = seeds.map(|seed| {
        let replay = format!("replay: mimosa sim experiments/{file}.toml --seeds {seed}");
        let figures = scenarios.map(|scenario| part(scenario, seed, window(from, to)));
        (replay, figures)
    });
    runs.collect()
}

fn used(run: &RunFigures) -> f64 {
    run.link.utilization.unwrap()
}

/// The p99 of frame delay, in ms: that of the slowest flow.
fn p99(run: &RunFigures) -> f64 {
    let delays = run.flows.iter().filter_map(|flow| flow.frame_delay_ms);
    delays.map(|delay| delay.p99).fold(0.0, f64::max)
}

fn bitrate(run: &RunFigures) -> f64 {
    run.flows[0].bitrate_mbps.unwrap()
}

/// After the third flow came. The frames' phases decide single seeds, so the mean of eight counts.
#[test]
fn steps_within_a_share_of_the_bitrate_leave_shares_less_even() {
    let names = ["as it is", "steps within 5 %"];
    let mut means = [0.0, 0.0];
    for (replay, runs) in beside("pudica-steps", names, 1..=8, 41_000, 46_000) {
        for (mean, run) in means.iter_mut().zip(&runs) {
            *mean += run.jain.unwrap() / 8.0;
            assert!(used(run) >= 0.95 && p99(run) <= 48.0, "{run:?}\n{replay}");
        }
    }
    assert!(means[0] >= 0.98 && means[0] > means[1] + 0.004, "{means:?}");
}

#[test]
fn a_step_at_each_frame_takes_a_rise_sooner() {
    let names = ["as it is", "steps wait for their feedback"];
    for (replay, [now, waits]) in beside("pudica-rise", names, SEEDS, 10_000, 12_000) {
        let used = [&now, &waits].map(used);
        assert!(used[0] > used[1] + 0.01, "{used:?}\n{replay}");
        assert!(p99(&now) <= 40.0, "{} ms\n{replay}", p99(&now));
    }
}

#[test]
fn a_step_above_full_use_builds_a_queue_on_a_slow_link() {
    let names = ["as it is", "a step above full use"];
    for (replay, [now, step]) in beside("pudica-slow", names, SEEDS, 3_000, 30_000) {
        assert!(used(&now) >= 0.9 && p99(&now) <= 60.0, "{now:?}\n{replay}");
        assert!(p99(&step) >= 1.3 * p99(&now), "{step:?}\n{replay}");
    }
}

#[test]
fn losses_lower_the_bitrate_if_the_arrived_size_counts() {
    let names = ["20 % lost, arrived size", "20 % lost, sent size"];
    for (replay, [arrived, sent]) in beside("pudica-loss", names, SEEDS, 3_000, 30_000) {
        let rates = [&arrived, &sent].map(bitrate);
        assert!(
            rates[0] < 0.97 * rates[1] && rates[0] > 15.0,
            "{rates:?}\n{replay}"
        );
    }
    let names = ["queue of 10 kB, arrived size", "queue of 10 kB, sent size"];
    for (replay, [arrived, sent]) in beside("pudica-loss", names, SEEDS, 3_000, 30_000) {
        let lost = [&arrived, &sent].map(|run| run.flows[0].loss_rate.unwrap());
        assert!(lost[0] < 0.9 * lost[1], "{lost:?}\n{replay}");
        assert!(used(&arrived) >= 0.9, "{arrived:?}\n{replay}");
    }
}

#[test]
fn a_noise_floor_gives_back_what_jitter_takes() {
    for (jitter, gain) in [("p99 2 ms", 0.002), ("p99 8 ms", 0.005)] {
        let names = ["floor", "no floor"].map(|floor| format!("{jitter}, {floor}"));
        let names = [names[0].as_str(), names[1].as_str()];
        for (replay, [floor, none]) in beside("pudica-noise", names, SEEDS, 3_000, 30_000) {
            let used = [&floor, &none].map(used);
            assert!(used[0] > used[1] + gain, "{used:?}\n{replay}");
            assert!(p99(&floor) <= 60.0, "{} ms\n{replay}", p99(&floor));
        }
    }
    let names = ["no noise, floor", "no noise, no floor"];
    for (replay, [floor, none]) in beside("pudica-noise", names, SEEDS, 3_000, 30_000) {
        assert_eq!(floor, none, "{replay}");
    }
}
