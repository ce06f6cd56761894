//! Frames that leave in parts while the encoder works on the rest.

use mimosa_facts::FrameEnd;
use mimosa_figures::RunFigures;
use mimosa_scenario::Scenario;
use mimosa_units::{Time, nearest_rank};

use crate::common::{Log, part, scenario, window};

/// Time for which a frame is encoded, in ms.
const ENCODING: f64 = 9.0;

fn over_20_mbps(controller: &str, parts: u32) -> Scenario {
    scenario(&format!(
        "duration = \"14s\"\n[link]\nrate = \"20Mbit/s\"\none_way_delay = \"10ms\"\n\
         queue = {{ kind = \"droptail\", limit = \"500kB\" }}\n\
         [[flow]]\nname = \"game\"\ncontroller = \"{controller}\"\nencode_time = \"{ENCODING}ms\"\n\
         parts = {parts}\n"
    ))
}

/// The 50th and the 95th percentile of the time from when a frame is due until it is acknowledged, in
/// ms, after four seconds.
fn delays(scenario: &Scenario, seed: u64) -> [f64; 2] {
    let log = Log::of(scenario, seed);
    let frames = log.frames.iter().map(|(_, life)| life);
    let frames = frames.filter(|life| life.due > Time::from_secs(4));
    let mut delays: Vec<f64> = frames
        .filter_map(|life| match life.end? {
            FrameEnd::Acknowledged(at) => Some(at.since(life.due).as_millis()),
            FrameEnd::GivenUp => None,
        })
        .collect();
    delays.sort_by(f64::total_cmp);
    [0.5, 0.95].map(|share| nearest_rank(&delays, share).unwrap())
}

fn used(scenario: &Scenario, seed: u64) -> f64 {
    let figures: RunFigures = part(scenario, seed, window(4_000, 14_000));
    figures.link.utilization.unwrap()
}

/// Eight parts are out after 0.3, 0.4 and so on of the time: all but 0.3 of it is hidden behind the
/// sending of the parts before.
#[test]
fn a_frame_arrives_earlier_by_most_of_its_encoding_and_uses_the_link_as_well() {
    for seed in 1..=4 {
        let [whole, in_parts] = [1, 8].map(|parts| over_20_mbps("mimosa", parts));
        let [used, used_whole] = [used(&in_parts, seed), used(&whole, seed)];
        let [[p50, p95], [p50_whole, p95_whole]] = [delays(&in_parts, seed), delays(&whole, seed)];
        println!(
            "seed {seed}: {p50:.1} {p95:.1} for {p50_whole:.1} {p95_whole:.1} ms, {used:.3} for {used_whole:.3}"
        );
        let saved = [p50_whole - p50, p95_whole - p95].map(|saved| saved / ENCODING);
        for saved in saved {
            assert!(
                (0.5..0.75).contains(&saved),
                "seed {seed}: {saved:.2} of the encoding"
            );
        }
        assert!(
            (used - used_whole).abs() < 0.01,
            "seed {seed}: {used:.3}, {used_whole:.3}"
        );
    }
}

#[test]
fn every_controller_bears_parts() {
    for controller in mimosa_cc::NAMES {
        let [whole, in_parts] = [1, 8].map(|parts| over_20_mbps(controller, parts));
        let [used, used_whole] = [used(&in_parts, 1), used(&whole, 1)];
        let [[p50, _], [p50_whole, _]] = [delays(&in_parts, 1), delays(&whole, 1)];
        println!("{controller}: {p50:.1} for {p50_whole:.1} ms, {used:.3} for {used_whole:.3}");
        let case =
            format!("{controller}: {p50:.1} for {p50_whole:.1} ms, {used:.3} for {used_whole:.3}");
        assert!(used > 0.9 * used_whole, "{case}");
        // Those that fill the queue until a packet is lost differ from run to run.
        assert!(p50 < 1.2 * p50_whole, "{case}");
    }
}
