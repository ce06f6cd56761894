//! Web pages: how many come and how long they take, alone and beside streams.

use mimosa_facts::{Observer, PageLoad};
use mimosa_figures::{PageFigures, RunFigures, Window};
use mimosa_scenario::Scenario;

use crate::common::{scenario, watched, whole};

/// Pages of 1 MB over `rate`, with so many connections each, and `more`.
fn browser(rate: &str, connections: u32, more: &str) -> Scenario {
    scenario(&format!(
        r#"
        duration = "120s"
        [link]
        rate = "{rate}"
        one_way_delay = "20ms"
        queue = {{ kind = "droptail", limit = "100ms" }}
        [[flow]]
        name = "browser"
        kind = "tcp"
        overhead = "0B"
        pages = {{ every = "2s", size = "1MB", connections = {connections} }}
        {more}
        "#
    ))
}

fn pages(figures: &RunFigures) -> PageFigures {
    figures.flows[0].pages.unwrap()
}

#[derive(Default)]
struct Loads(Vec<PageLoad>);

impl Observer for Loads {
    fn page(&mut self, flow: usize, load: &PageLoad) {
        assert_eq!(flow, 0);
        self.0.push(*load);
    }
}

#[test]
fn a_page_takes_its_time_of_the_link_and_some_round_trips() {
    for seed in 1..=4 {
        let scenario = browser("20Mbit/s", 6, "");
        let mut loads = Loads::default();
        let figures = watched(&scenario, seed, Window::WHOLE, &mut loads);
        let link = mimosa_units::Rate::from_mbps(20.0);
        let mut before = None;
        for load in &loads.0 {
            let took = load.loaded.since(load.began).as_secs();
            let least = link.transmit_time(load.size).as_secs() + 0.04;
            // Slow start has the first packets one round trip after another.
            assert!(
                took > least - 1e-5 && took < 1.6 * least + 0.5,
                "{seed}: {load:?}"
            );
            assert!(
                before.is_none_or(|end| load.began > end),
                "one after another"
            );
            before = Some(load.loaded);
        }
        let count = loads.0.len();
        assert!((25..=70).contains(&count), "{seed}: {count} pages");
        assert_eq!(pages(&figures).loaded, count as u64);
        let size: u64 = loads.0.iter().map(|load| load.size.get()).sum();
        let arrived = figures.flows[0].throughput_mbps * 120e6 / 8.0;
        let part = size as f64 / arrived;
        // What is lost is sent again, and the last page may not have come.
        assert!((0.75..1.001).contains(&part), "{seed}: {part}");
    }
}

#[test]
fn runs_repeat_and_seeds_differ() {
    let scenario = browser("20Mbit/s", 6, "");
    let course = |seed| pages(&whole(&scenario, seed));
    assert_eq!(course(1), course(1));
    assert_ne!(course(1), course(2));
}

/// Many connections begin with many windows, and so need fewer round trips.
#[test]
fn more_connections_load_a_page_sooner() {
    let mean = |connections| {
        let runs = (1..=4).map(|seed| {
            let figures = whole(&browser("100Mbit/s", connections, ""), seed);
            pages(&figures).p50_ms
        });
        runs.sum::<f64>() / 4.0
    };
    let (one, six) = (mean(1), mean(6));
    assert!(six < 0.8 * one, "{six} {one}");
}

/// A stream and a browser share a link: the pages take longer, and the stream goes on.
#[test]
fn pages_load_beside_a_stream() {
    let stream = r#"
        [[flow]]
        name = "game"
        controller = "mimosa"
        feedback = "frame"
        max_bitrate = "15Mbit/s"
    "#;
    for seed in 1..=2 {
        let alone = pages(&whole(&browser("20Mbit/s", 6, ""), seed));
        let figures = whole(&browser("20Mbit/s", 6, stream), seed);
        let beside = pages(&figures);
        let game = &figures.flows[1];
        assert!(beside.p50_ms > alone.p50_ms, "{beside:?} {alone:?}");
        assert!(beside.p50_ms < 5.0 * alone.p50_ms, "{beside:?} {alone:?}");
        assert!(game.throughput_mbps > 5.0, "{}", game.throughput_mbps);
    }
}
