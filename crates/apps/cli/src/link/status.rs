//! `mimosa link status`: the status of links, as a table or as JSON.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use mimosa_link::Tally;
use mimosa_net::{Delays, Lane};
use mimosa_plot::Table;
use mimosa_units::TimeDelta;
use serde::{Deserialize, Serialize};

use super::args::StatusArgs;
use super::control::{Reply, Request, Shared, ask};
use super::error::CliError;
use super::place;
use crate::output::Output;
use crate::terminal::{print, print_anew, say};

/// The status of a link.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Status {
    pub(super) name: String,
    pub(super) path: String,
    pub(super) process: u32,
    /// Seconds since the link began.
    pub(super) seconds: f64,
    /// The status of the direction there, and of the direction back.
    pub(super) ways: Vec<WayStatus>,
}

/// The status of one direction.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct WayStatus {
    pub(super) link_mbps: f64,
    pub(super) backlog_bytes: u64,
    pub(super) offered: u64,
    pub(super) delivered: u64,
    pub(super) dropped: u64,
    pub(super) lost: u64,
    pub(super) marked: u64,
    pub(super) inside: u64,
    /// Number of packets that were not IP.
    pub(super) not_ip: u64,
    /// Number of packets that the receiving host did not accept.
    pub(super) unwritten: u64,
    /// How late packets left, in microseconds; null before the first packet.
    pub(super) late_us: Option<Quantiles>,
    pub(super) queues: Vec<QueueStatus>,
}

/// The status of one queue of a direction.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct QueueStatus {
    pub(super) name: String,
    pub(super) passed: u64,
    pub(super) bytes: u64,
    pub(super) dropped: u64,
    pub(super) lost: u64,
    pub(super) marked: u64,
    /// Rate in the last whole second, in Mbit/s.
    pub(super) mbps: f64,
    /// Time in the queue during the last whole second, in milliseconds; null if nothing passed.
    pub(super) delay_ms: Option<Quantiles>,
    /// Time in the queue since the link began, in milliseconds.
    pub(super) whole_delay_ms: Option<Quantiles>,
}

/// Quantiles of a quantity.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct Quantiles {
    pub(super) p50: f64,
    pub(super) p95: f64,
    pub(super) p99: f64,
    pub(super) p999: f64,
    pub(super) max: f64,
}

fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

fn quantiles(at: impl Fn(f64) -> Option<TimeDelta>, per_unit: f64) -> Option<Quantiles> {
    let value = |share| Some(rounded(at(share)?.as_secs() * per_unit));
    Some(Quantiles {
        p50: value(0.5)?,
        p95: value(0.95)?,
        p99: value(0.99)?,
        p999: value(0.999)?,
        max: value(1.0)?,
    })
}

impl From<Delays> for Quantiles {
    fn from(delays: Delays) -> Self {
        let millis = |delay: TimeDelta| rounded(delay.as_millis());
        Self {
            p50: millis(delays.p50),
            p95: millis(delays.p95),
            p99: millis(delays.p99),
            p999: millis(delays.p999),
            max: millis(delays.most),
        }
    }
}

impl Status {
    pub(super) fn of(shared: &Shared, tallies: &[Tally]) -> Self {
        Self::new(&shared.name, &shared.path, &shared.lanes, tallies)
    }

    pub(super) fn new(name: &str, path: &str, lanes: &[Vec<String>; 2], tallies: &[Tally]) -> Self {
        let ways = tallies.iter().zip(lanes);
        Self {
            name: name.to_owned(),
            path: path.to_owned(),
            process: std::process::id(),
            seconds: tallies
                .first()
                .map_or(0.0, |tally| rounded(tally.at.as_secs())),
            ways: ways
                .map(|(tally, lanes)| WayStatus::of(tally, lanes))
                .collect(),
        }
    }

    /// Writes the status as JSON.
    pub(super) fn write(&self, mut output: Output) -> Result<(), CliError> {
        let mut text = serde_json::to_string(self)?;
        text.push('\n');
        output.put(text.as_bytes())?;
        Ok(output.finish()?)
    }

    /// The status as a table of the queues, followed by the link's punctuality.
    pub(super) fn text(&self) -> String {
        let headers = [
            "way",
            "queue",
            "link Mbit/s",
            "Mbit/s",
            "waits ms p50",
            "p99",
            "max",
            "waiting kB",
            "passed",
            "dropped",
            "marked",
            "lost",
        ];
        let mut table = Table {
            title: format!("{} ({}, {:.0} s)", self.name, self.path, self.seconds),
            headers: headers.map(str::to_owned).to_vec(),
            rows: Vec::new(),
        };
        for (name, way) in ["there", "back"].iter().zip(&self.ways) {
            table.rows.extend(way.rows(name));
        }
        let mut text = table.to_text();
        for (name, way) in ["there", "back"].iter().zip(&self.ways) {
            if let Some(late) = way.late_us {
                let Quantiles { p50, p99, max, .. } = late;
                let _ = writeln!(
                    text,
                    "{name}: packets left {p50:.1} us late (p50), {p99:.1} (p99), {max:.0} (max)"
                );
            }
            for (count, what) in [
                (way.not_ip, "were no IP packets"),
                (way.unwritten, "were not taken by the far host"),
            ] {
                if count > 0 {
                    let _ = writeln!(text, "{name}: {count} {what}");
                }
            }
        }
        text
    }
}

impl WayStatus {
    pub(super) fn of(tally: &Tally, names: &[String]) -> Self {
        let lanes = tally.monitor.lanes().iter().zip(names);
        Self {
            link_mbps: rounded(tally.rate.as_mbps()),
            backlog_bytes: tally.backlog.get(),
            offered: tally.counts.offered,
            delivered: tally.counts.released,
            dropped: tally.counts.dropped,
            lost: tally.counts.lost,
            marked: tally.counts.marked,
            inside: tally.inside,
            not_ip: tally.not_ip,
            unwritten: tally.unwritten,
            late_us: quantiles(|share| tally.lateness.at(share), 1e6),
            queues: lanes
                .map(|(lane, name)| QueueStatus::of(lane, name))
                .collect(),
        }
    }

    /// The rows of a direction: one for each queue, but only for used ones if there are several.
    fn rows(&self, way: &str) -> Vec<Vec<String>> {
        let is_used = |queue: &&QueueStatus| queue.passed + queue.dropped > 0;
        let mut used: Vec<_> = self.queues.iter().filter(is_used).collect();
        if used.is_empty() {
            used.extend(self.queues.first());
        }
        let link = if self.link_mbps > 1e6 {
            "unlimited".to_owned()
        } else {
            format!("{:.3}", self.link_mbps)
        };
        let row = |(index, queue): (usize, &&QueueStatus)| {
            let delay = |value: fn(&Quantiles) -> f64| {
                let delays = queue.delay_ms.as_ref();
                delays.map_or_else(|| "-".to_owned(), |delays| format!("{:.2}", value(delays)))
            };
            let of_way = |text: String| if index == 0 { text } else { String::new() };
            vec![
                of_way(way.to_owned()),
                queue.name.clone(),
                of_way(link.clone()),
                format!("{:.3}", queue.mbps),
                delay(|delays| delays.p50),
                delay(|delays| delays.p99),
                delay(|delays| delays.max),
                of_way(format!("{:.1}", self.backlog_bytes as f64 / 1e3)),
                queue.passed.to_string(),
                queue.dropped.to_string(),
                queue.marked.to_string(),
                queue.lost.to_string(),
            ]
        };
        used.iter().enumerate().map(row).collect()
    }
}

impl QueueStatus {
    fn of(lane: &Lane, name: &str) -> Self {
        Self {
            name: name.to_owned(),
            passed: lane.passed,
            bytes: lane.bytes.get(),
            dropped: lane.dropped,
            lost: lane.lost,
            marked: lane.marked,
            mbps: rounded(lane.rate.as_mbps()),
            delay_ms: lane.delays.map(Quantiles::from),
            whole_delay_ms: quantiles(|share| lane.waits.at(share), 1e3),
        }
    }
}

/// The table of a link that has ended, over its whole time.
pub(super) fn summary(name: &str, lanes: &[Vec<String>; 2], tallies: &[Tally]) -> String {
    let seconds = tallies.first().map_or(0.0, |tally| tally.at.as_secs());
    let headers = [
        "way",
        "queue",
        "Mbit/s",
        "waits ms p50",
        "p99",
        "max",
        "offered",
        "passed",
        "dropped",
        "marked",
        "lost",
    ];
    let mut table = Table {
        title: format!("{name} ({seconds:.1} s)"),
        headers: headers.map(str::to_owned).to_vec(),
        rows: Vec::new(),
    };
    let mut late = String::new();
    for ((way, tally), names) in ["there", "back"].iter().zip(tallies).zip(lanes) {
        let status = WayStatus::of(tally, names);
        let seconds = tally.at.as_secs().max(1e-9);
        let used = status
            .queues
            .iter()
            .filter(|queue| queue.passed + queue.dropped > 0);
        for (index, queue) in used.enumerate() {
            let delay = |value: fn(&Quantiles) -> f64| {
                let delays = queue.whole_delay_ms.as_ref();
                delays.map_or_else(|| "-".to_owned(), |delays| format!("{:.2}", value(delays)))
            };
            let of_way = |text: String| if index == 0 { text } else { String::new() };
            table.rows.push(vec![
                of_way((*way).to_owned()),
                queue.name.clone(),
                format!("{:.3}", queue.bytes as f64 * 8e-6 / seconds),
                delay(|delays| delays.p50),
                delay(|delays| delays.p99),
                delay(|delays| delays.max),
                of_way(status.offered.to_string()),
                queue.passed.to_string(),
                queue.dropped.to_string(),
                queue.marked.to_string(),
                queue.lost.to_string(),
            ]);
        }
        if let Some(Quantiles { p50, p99, max, .. }) = status.late_us {
            let _ = writeln!(
                late,
                "{way}: packets left {p50:.1} us late (p50), {p99:.1} (p99), {max:.0} (max)"
            );
        }
    }
    table.to_text() + &late
}

/// `mimosa link status`.
pub(super) fn run(args: &StatusArgs) -> Result<ExitCode, CliError> {
    loop {
        let names = match &args.name {
            Some(name) => vec![place::chosen(Some(name))?],
            None => place::names()?,
        };
        if names.is_empty() {
            say("there is no link");
            return Ok(ExitCode::SUCCESS);
        }
        let mut text = String::new();
        for name in &names {
            let Reply::Status(status) = ask(name, &Request::Status)? else {
                continue;
            };
            if args.json {
                text += &(serde_json::to_string(&status)? + "\n");
            } else {
                text += &(status.text() + "\n");
            }
        }
        if !args.watch {
            print(&text)?;
            return Ok(ExitCode::SUCCESS);
        }
        if !print_anew(&text)? {
            return Ok(ExitCode::SUCCESS);
        }
        std::thread::park_timeout(Duration::from_secs(1));
    }
}
