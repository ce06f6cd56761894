//! Media beside records made with ns-3 and beside published figures: the tables of
//! `docs/how-it-works/media.md`.
//!
//! `cargo test -p mimosa-net --test media -- --nocapture` prints the tables, and fails when the page
//! has others, or when a figure is farther from its record than the page says.

#![allow(clippy::unwrap_used, reason = "a test may")]

mod published;

use std::fmt::Write;

use mimosa_facts::Header;
use mimosa_net::medium::{
    CellConfig, Load, MediumConfig, Neighbour, Port, Signal, Standard, WifiConfig,
};
use mimosa_net::queue::{DropTailConfig, Limit, QueueConfig};
use mimosa_net::{Channel, Packet, Served};
use mimosa_units::{Bytes, Ecn, Rate, Time, TimeDelta, nearest_rank};

/// The page with the table.
const PAGE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../../docs/how-it-works/media.md"
);
/// Figures within this part of the record's count as the same.
const NEAR: f64 = 0.2;
/// Times within this many milliseconds of each other count as the same: a back-off.
const NEAR_MS: f64 = 0.15;
/// Length of a run, as the records have it.
const SECONDS: u64 = 20;
const SEEDS: std::ops::RangeInclusive<u64> = 1..=4;

/// A packet of a frame, or a report about one.
#[derive(Clone, Copy, Debug)]
struct Sent {
    frame: u64,
    index: u64,
    /// Number of packets of the frame; zero for a report.
    of: u64,
    size: u64,
    /// When the server sent it.
    at: Time,
}

impl Packet for Sent {
    fn size(&self) -> Bytes {
        Bytes::new(self.size)
    }

    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }

    fn mark(&mut self) {}

    fn header(&self) -> Header {
        let header = Header::of_flow(0, Header::UDP, 0);
        if self.of > 0 {
            return header;
        }
        Header {
            source: header.destination,
            destination: header.source,
            ..header
        }
    }
}

/// How a frame's packets leave.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Pattern {
    /// Four packets together, and the others over 10 ms.
    Train,
    /// All packets together.
    Burst,
    /// All packets over 10 ms.
    Spread,
}

/// The figures of a run or a record, in this order: three quantiles of the packets' delay above
/// the least, in ms; time from a frame's first departure to its last arrival, less that least
/// delay; median rate of trains of four, in Mbit/s; packets in a transmission; two quantiles of the
/// time that a report needs.
type Figures = [f64; 8];

const NAMES: [&str; 8] = [
    "p50",
    "p95",
    "p99",
    "frame p99",
    "train",
    "together",
    "report p50",
    "report p95",
];

/// A setting, and what ns-3 has for it.
struct Setting {
    name: &'static str,
    standard: Standard,
    uploads: usize,
    packets: u64,
    pattern: Pattern,
    signal: Signal,
    /// Whether a station draws a back-off for each report.
    draws: bool,
    /// Stations beside the stream's in a cell of LTE; `None` for Wi-Fi.
    cell: Option<usize>,
    record: Figures,
    /// Figures that differ by more than `NEAR`; the page says why.
    differ: &'static [&'static str],
}

const fn setting(
    name: &'static str,
    (standard, uploads): (Standard, usize),
    (packets, pattern): (u64, Pattern),
    record: Figures,
    differ: &'static [&'static str],
) -> Setting {
    Setting {
        name,
        standard,
        uploads,
        packets,
        pattern,
        signal: Signal {
            rates: Vec::new(),
            hold: TimeDelta::from_millis(100),
            failed: 0.0,
            lost: 0.0,
        },
        draws: false,
        cell: None,
        record,
        differ,
    }
}

#[rustfmt::skip]
fn settings() -> Vec<Setting> {
    use Pattern::{Burst, Spread, Train};
    use Standard::{Ac, Ax, N};
    let far = Signal {
        rates: [270, 351, 351, 390, 390, 390, 390, 390, 390, 390]
            .map(|mbps: u64| Rate::from_kbps(1_000 * mbps))
            .to_vec(),
        hold: TimeDelta::from_millis(5),
        failed: 0.16,
        lost: 0.05,
    };
    vec![
        setting("n, alone, 20, train", (N, 0), (35, Train),
            [0.007, 0.376, 0.706, 10.4, 71.6, 1.10, 0.139, 0.139], &["p99"]),
        setting("n, alone, 20, burst", (N, 0), (35, Burst),
            [1.405, 2.707, 2.878, 4.13, 72.9, 12.0, 0.143, 0.143], &[]),
        setting("n, alone, 20, spread", (N, 0), (35, Spread),
            [0.028, 0.165, 0.711, 10.4, 0.0, 1.02, 0.139, 0.139], &["p99"]),
        setting("ac, alone, 20, train", (Ac, 0), (35, Train),
            [0.005, 0.217, 0.279, 9.70, 125.4, 1.06, 0.132, 0.132], &[]),
        setting("ac, alone, 20, burst", (Ac, 0), (35, Burst),
            [0.424, 0.810, 0.872, 0.93, 130.8, 11.7, 0.136, 0.136], &[]),
        setting("ax, alone, 20, train", (Ax, 0), (35, Train),
            [0.005, 0.226, 0.284, 9.73, 128.6, 1.06, 0.154, 0.154], &[]),
        Setting {
            signal: far,
            ..setting("ac, far, 20, train", (Ac, 0), (35, Train),
                [0.106, 0.911, 1.769, 11.2, 104.8, 1.31, 0.136, 0.414], &["p95"])
        },
        setting("n, 1 upload, 5, train", (N, 1), (9, Train),
            [4.404, 14.91, 20.25, 29.2, 139.4, 4.85, 0.143, 7.18], &["report p95"]),
        setting("n, 4 uploads, 5, train", (N, 4), (9, Train),
            [6.964, 25.15, 42.89, 47.6, 139.4, 6.84, 5.356, 23.98], &["report p50", "report p95"]),
        Setting {
            draws: true,
            ..setting("n, 4 uploads, 5, train, back-off", (N, 4), (9, Train),
                [6.964, 25.15, 42.89, 47.6, 139.4, 6.84, 5.356, 23.98],
                &["p50", "p95", "p99", "frame p99", "report p50", "report p95"])
        },
        setting("n, 4 uploads, 5, burst", (N, 4), (9, Burst),
            [7.559, 24.42, 32.00, 32.2, 139.4, 10.2, 0.154, 18.14], &["p99", "frame p99", "report p50", "report p95"]),
        setting("n, 8 uploads, 5, train", (N, 8), (9, Train),
            [8.772, 33.62, 65.41, 70.4, 139.4, 8.47, 5.958, 39.52], &["p99", "report p50", "report p95"]),
        setting("ac, 4 uploads, 20, train", (Ac, 4), (35, Train),
            [3.016, 10.57, 15.49, 24.5, 836.7, 10.75, 0.136, 7.37], &["report p95"]),
        Setting {
            cell: Some(0),
            ..setting("LTE, alone, 20, train", (N, 0), (35, Train),
                [3.438, 9.25, 11.93, 22.3, 29.5, 3.92, 11.93, 145.5],
                &["p50", "p99", "report p95"])
        },
        Setting {
            cell: Some(0),
            ..setting("LTE, alone, 20, burst", (N, 0), (35, Burst),
                [7.667, 16.0, 18.33, 22.0, 29.5, 4.36, 11.93, 137.9], &["report p95"])
        },
        Setting {
            cell: Some(4),
            ..setting("LTE, 4 downloads, 5, train", (N, 0), (9, Train),
                [4.667, 12.0, 15.67, 24.7, 14.7, 3.65, 11.93, 43.0],
                &["p50", "p95", "p99", "frame p99", "report p95"])
        },
    ]
}

impl Setting {
    fn network(&self, seed: u64) -> Channel<Sent> {
        let unlimited = QueueConfig::DropTail(DropTailConfig {
            limit: Limit::Unlimited,
        });
        if let Some(count) = self.cell {
            let mut cell = CellConfig::lte();
            cell.others.count = count;
            return MediumConfig::Cell(cell).build(&unlimited, &unlimited, seed);
        }
        let mut wifi = WifiConfig::new(self.standard);
        wifi.at_once = false;
        wifi.answers_at_once = !self.draws;
        wifi.signal = self.signal.clone();
        // More than the air carries, as in the records.
        let of_all = match self.standard {
            Standard::N => 70_000,
            Standard::Ac | Standard::Ax => 250_000,
        };
        for _ in 0..self.uploads {
            let each = of_all / self.uploads as u64;
            wifi.neighbours.push(Neighbour {
                load: Load::Constant(Rate::from_kbps(each)),
                rate: None,
            });
        }
        MediumConfig::Wifi(wifi).build(&unlimited, &unlimited, seed)
    }

    /// The packets of all frames: at 60 frames a second, over a server's link of 1 Gbit/s.
    fn packets(&self) -> Vec<(Time, Sent)> {
        let wire = Rate::from_kbps(1_000_000).transmit_time(Bytes::new(1_228));
        let mut free = Time::ZERO;
        let mut packets = Vec::new();
        for frame in 0..60 * SECONDS {
            let begin = Time::from_nanos(frame * 1_000_000_000 / 60);
            for index in 0..self.packets {
                let (before, over) = match self.pattern {
                    Pattern::Burst => (0, 1),
                    Pattern::Spread => (index, self.packets),
                    Pattern::Train => (index.saturating_sub(3), self.packets - 3),
                };
                let wait = TimeDelta::from_millis(10).scale(before as f64 / over as f64);
                let at = begin + wait;
                free = free.max(at) + wire;
                let packet = Sent {
                    frame,
                    index,
                    of: self.packets,
                    size: 1_228,
                    at,
                };
                packets.push((free, packet));
            }
        }
        packets
    }

    fn run(&self, seed: u64) -> Figures {
        let mut network = self.network(seed);
        let (mut dropped, mut there, mut reports) = (Vec::new(), Vec::new(), Vec::new());
        let mut packets = self.packets().into_iter().peekable();
        let end = Time::from_secs(SECONDS + 1);
        loop {
            let due = network.deadline();
            if let Some((at, packet)) = packets.next_if(|(at, _)| *at < due) {
                network.offer(at, Port::There, packet, &mut dropped);
                continue;
            }
            if due > end {
                break;
            }
            while let Some((port, served)) = network.poll(due, &mut dropped) {
                if port == Port::Back {
                    let took = served.finished.since(served.offered);
                    reports.push(took.as_millis());
                    continue;
                }
                // A report leaves with the arrival of each frame's last packet.
                if served.packet.index + 1 == served.packet.of {
                    let report = Sent {
                        of: 0,
                        size: 128,
                        ..served.packet
                    };
                    network.offer(due, Port::Back, report, &mut dropped);
                }
                there.push(served);
            }
        }
        assert!(dropped.len() < there.len() / 1_000, "{}", self.name);
        figures(&there, reports, self.cell.is_some())
    }

    /// The means over the seeds.
    fn mean(&self) -> Figures {
        let runs: Vec<_> = SEEDS.map(|seed| self.run(seed)).collect();
        let mut mean = [0.0; 8];
        for (index, value) in mean.iter_mut().enumerate() {
            *value = runs.iter().map(|run| run[index]).sum::<f64>() / runs.len() as f64;
        }
        mean
    }
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    nearest_rank(sorted, share).unwrap_or_default()
}

fn figures(there: &[Served<Sent>], mut reports: Vec<f64>, is_cell: bool) -> Figures {
    let took = |served: &Served<Sent>| served.finished.since(served.packet.at).as_millis();
    let mut delays: Vec<f64> = there.iter().map(took).collect();
    let shortest = delays.iter().copied().fold(f64::INFINITY, f64::min);
    for delay in &mut delays {
        *delay -= shortest;
    }
    delays.sort_by(f64::total_cmp);
    let (mut frames, mut trains) = (Vec::new(), Vec::new());
    for frame in there.chunk_by(|one, next| one.packet.frame == next.packet.frame) {
        let (Some(first), Some(last)) = (frame.first(), frame.last()) else {
            continue;
        };
        frames.push(last.finished.since(first.packet.at).as_millis() - shortest);
        if let [first, .., last] = &frame[..frame.len().min(4)]
            && last.packet.at == first.packet.at
        {
            let span = last.finished.since(first.finished);
            // A train that arrives at once has no rate.
            if span == TimeDelta::ZERO {
                continue;
            }
            trains.push(Rate::of(Bytes::new(3 * 1_228), span).as_mbps());
        }
    }
    // Packets of a Wi-Fi transmission begin together, and those of a cell's slot end together.
    let bunch = |served: &Served<Sent>| {
        if is_cell {
            served.finished
        } else {
            served.started
        }
    };
    let mut begins: Vec<_> = there.iter().map(bunch).collect();
    begins.dedup();
    for values in [&mut frames, &mut trains, &mut reports] {
        values.sort_by(f64::total_cmp);
    }
    [
        quantile(&delays, 0.5),
        quantile(&delays, 0.95),
        quantile(&delays, 0.99),
        quantile(&frames, 0.99),
        quantile(&trains, 0.5),
        there.len() as f64 / begins.len() as f64,
        quantile(&reports, 0.5),
        quantile(&reports, 0.95),
    ]
}

/// Whether two figures count as the same.
fn is_near(name: &str, value: f64, record: f64) -> bool {
    let is_time = !["train", "together"].contains(&name);
    let close = is_time && (value - record).abs() <= NEAR_MS;
    close || (value / record - 1.0).abs() <= NEAR
}

fn cell(value: f64) -> String {
    let digits = match value {
        _ if value >= 99.95 => 0,
        _ if value >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.digits$}")
}

#[test]
fn media_are_as_in_the_records() {
    let mut table = String::from("| setting |");
    for name in NAMES {
        write!(table, " {name} |").unwrap();
    }
    table.push_str("\n|---|");
    table.push_str(&"--:|".repeat(NAMES.len()));
    let mut wrong = Vec::new();
    for setting in settings() {
        let mean = setting.mean();
        write!(table, "\n| {} |", setting.name).unwrap();
        for ((name, value), record) in NAMES.into_iter().zip(mean).zip(setting.record) {
            if record == 0.0 {
                table.push_str(" - |");
                continue;
            }
            let differs = setting.differ.contains(&name);
            let mark = if differs { "*" } else { "" };
            write!(table, " {mark}{} / {}{mark} |", cell(value), cell(record)).unwrap();
            if is_near(name, value, record) == differs {
                wrong.push(format!(
                    "{}, {name}: {value:.3} for {record}, which the page says differs: {differs}",
                    setting.name
                ));
            }
        }
    }
    println!("{table}");
    assert!(wrong.is_empty(), "{wrong:#?}");
    on_the_page(&table);
}

fn on_the_page(table: &str) {
    let page = std::fs::read_to_string(PAGE).unwrap();
    assert!(
        page.contains(table),
        "{PAGE} has another table than the one printed above"
    );
}

/// The rate that a stream gets that wants more than there is, in Mbit/s, beside ns-3's.
#[test]
fn a_stream_that_wants_more_gets_as_much_as_in_the_records() {
    let mut table = String::from("| setting | a saturating stream gets, Mbit/s |\n|---|--:|");
    for (name, standard, uploads, mbps, record) in [
        ("n, alone", Standard::N, 0, 150, 125.0),
        ("n, 4 uploads", Standard::N, 4, 60, 44.3),
        ("ac, 4 uploads", Standard::Ac, 4, 200, 127.0),
    ] {
        // Packets of 1228 bytes, 1200 of them the stream's own.
        let frame = Rate::from_kbps(1_000 * mbps).as_bps() / 60;
        let packets = frame.div_ceil(8 * 1_200);
        let pattern = (packets, Pattern::Spread);
        let wanting = setting(name, (standard, uploads), pattern, [0.0; 8], &[]);
        let carried = SEEDS.map(|seed| wanting.carried(seed)).sum::<f64>() / 4.0;
        write!(table, "\n| {name} | {carried:.1} / {record} |").unwrap();
        let is_near = (carried / record - 1.0).abs() <= NEAR;
        assert!(is_near, "{name}: {carried} for {record}");
    }
    println!("{table}");
    on_the_page(&table);
}

impl Setting {
    /// The rate of the packets that arrive within the frames' time, in Mbit/s.
    fn carried(&self, seed: u64) -> f64 {
        let mut network = self.network(seed);
        let (mut dropped, mut bytes) = (Vec::new(), 0);
        let end = Time::from_secs(5);
        let mut packets = self.packets().into_iter().peekable();
        while let Some((at, packet)) = packets.next_if(|(at, _)| *at < end) {
            while network.deadline() <= at {
                let now = network.deadline();
                while network.poll(now, &mut dropped).is_some() {
                    bytes += 1_200;
                }
            }
            network.offer(at, Port::There, packet, &mut dropped);
        }
        f64::from(bytes) * 8.0 / 5e6
    }
}
