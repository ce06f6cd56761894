//! The Mimosa controller behind an L4S queue: beside TCP, beside its own kind and alone.

use std::fmt::Write;

use mimosa_facts::{Observer, Passage, StreamPacket};
use mimosa_units::{Ecn, Time, nearest_rank};

use crate::common::{scenario, watched, window};

/// How long packets with ECT(1) of the first flow waited, in ms, and how many of them were marked.
#[derive(Default)]
struct Waits {
    waits: Vec<f64>,
    marked: usize,
}

impl Observer for Waits {
    fn packet(&mut self, packet: &Passage<StreamPacket>) {
        let is_ours = packet.packet.flow == 0 && packet.offered >= Time::from_secs(20);
        let Some(started) = packet.started.filter(|_| is_ours) else {
            return;
        };
        if packet.sent_ecn == Ecn::Ect1 {
            self.waits.push(started.since(packet.offered).as_millis());
            self.marked += usize::from(packet.ecn == Ecn::Ce);
        }
    }
}

impl Waits {
    fn p99(&mut self) -> f64 {
        self.waits.sort_by(f64::total_cmp);
        nearest_rank(&self.waits, 0.99).unwrap()
    }

    fn share_marked(&self) -> f64 {
        self.marked as f64 / self.waits.len() as f64
    }
}

/// A scenario with streams of the Mimosa controller through DualPI2, and `more`.
fn behind_dualpi2(mbps: u32, round_trip: u32, streams: usize, params: &str, more: &str) -> String {
    let mut text = format!(
        r#"
        duration = "60s"
        [link]
        rate = "{mbps}Mbit/s"
        one_way_delay = "{}ms"
        queue = {{ kind = "dualpi2" }}
        "#,
        round_trip / 2
    );
    for number in 0..streams {
        write!(
            text,
            r#"
            [[flow]]
            name = "game{number}"
            controller = "mimosa"
            params = {{ {params} }}
            max_bitrate = "{}Mbit/s"
            ecn = "auto"
            feedback = "frame"
            start = "{}s"
            "#,
            mbps * 6 / 5,
            3 * number
        )
        .unwrap();
    }
    text + more
}

/// A stream's part of what it and one TCP connection carry, and the use of the link.
fn part_beside(tcp: &str, mbps: u32, round_trip: u32, params: &str, seed: u64) -> (f64, f64) {
    let rival = format!(
        "[[flow]]\nname = \"rival\"\nkind = \"tcp\"\ncontroller = \"{tcp}\"\nstart = \"4s\"\n"
    );
    let scenario = scenario(&behind_dualpi2(mbps, round_trip, 1, params, &rival));
    let figures = watched(&scenario, seed, window(20_000, 60_000), &mut ());
    let [game, rival] = [0, 1].map(|flow| figures.flows[flow].throughput_mbps);
    let used = figures.link.utilization.unwrap();
    (game / (game + rival), used)
}

#[test]
fn neither_the_stream_nor_tcp_is_starved_by_the_other() {
    for (mbps, round_trip) in [(30, 10), (30, 20), (30, 40), (30, 80), (100, 20), (100, 80)] {
        for tcp in ["prague", "cubic"] {
            for seed in 1..=2 {
                let (part, used) = part_beside(tcp, mbps, round_trip, "", seed);
                let which = format!("{tcp}, {mbps} Mbit/s, {round_trip} ms, seed {seed}");
                assert!((0.32..0.68).contains(&part), "{which}: {part}");
                assert!(used > 0.8, "{which}: {used}");
            }
        }
    }
}

/// The cause: a stream that rests at many more marks takes the link.
#[test]
fn without_its_answer_to_marks_the_stream_takes_the_link() {
    for seed in 1..=2 {
        let (with, _) = part_beside("prague", 30, 20, "", seed);
        let (without, _) = part_beside("prague", 30, 20, "marks_at_rest = 100.0", seed);
        assert!(
            with < 0.45 && without > 0.8,
            "seed {seed}: {with}, {without}"
        );
    }
}

#[test]
fn alone_the_stream_fills_the_link_without_a_queue() {
    for mbps in [30, 100] {
        for seed in 1..=4 {
            let scenario = scenario(&behind_dualpi2(mbps, 20, 1, "", ""));
            let mut waits = Waits::default();
            let figures = watched(&scenario, seed, window(20_000, 60_000), &mut waits);
            let used = figures.link.utilization.unwrap();
            assert!((0.93..=1.0).contains(&used), "{mbps}, seed {seed}: {used}");
            let p99 = waits.p99();
            assert!(p99 < 1.0, "{mbps}, seed {seed}: {p99} ms");
        }
    }
}

#[test]
fn three_streams_are_even_and_keep_the_queue_short() {
    for mbps in [30, 100] {
        for seed in 1..=4 {
            let scenario = scenario(&behind_dualpi2(mbps, 20, 3, "", ""));
            let mut waits = Waits::default();
            let figures = watched(&scenario, seed, window(30_000, 60_000), &mut waits);
            let used = figures.link.utilization.unwrap();
            let jain = figures.jain.unwrap();
            assert!(jain > 0.96, "{mbps}, seed {seed}: {jain}");
            assert!((0.85..=1.0).contains(&used), "{mbps}, seed {seed}: {used}");
            assert!(waits.p99() < 3.0, "{mbps}, seed {seed}: {}", waits.p99());
            let marked = waits.share_marked();
            assert!(
                (0.005..0.3).contains(&marked),
                "{mbps}, seed {seed}: {marked}"
            );
        }
    }
}
