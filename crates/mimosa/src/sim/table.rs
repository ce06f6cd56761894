//! The figures as a table to read: means over the seeds, the worst for maxima.

use std::fmt::Write;
use std::path::Path;

use mimosa_sim::{FlowOutcome, Loaded, Outcome};

use super::error::SimError;
use super::{Run, write};

/// Prints one table of the flows and one of the link.
pub(super) fn print(loaded: &Loaded, runs: &[Run], markdown: bool) -> Result<(), SimError> {
    let mut flows = Table::new(
        markdown,
        &[
            "variant", "flow", "frames", "mean", "p50", "p95", "p99", "max", ">50ms", ">100ms",
            ">200ms", "Mbit/s", "valid", "loss",
        ],
    );
    let mut links = Table::new(
        markdown,
        &[
            "variant", "used", "queue mean", "p95", "p99", "max", "offered", "dropped", "Jain",
        ],
    );
    for (name, scenario) in &loaded.variants {
        let outcomes: Vec<_> = runs
            .iter()
            .filter(|run| run.variant == name.as_deref())
            .map(|run| &run.outcome)
            .collect();
        let variant = name.clone().unwrap_or_default();
        for index in 0..scenario.flows.len() {
            let of: Vec<_> = outcomes.iter().filter_map(|o| o.flows.get(index)).collect();
            flows.row(flow_row(&variant, &of));
        }
        links.row(link_row(&variant, &outcomes));
    }
    let mut text = String::new();
    let seeds = match (runs.first(), runs.last()) {
        (Some(first), Some(last)) if first.seed != last.seed => {
            format!("mean of seeds {} to {}, max the worst of all", first.seed, last.seed)
        }
        (Some(only), _) => format!("seed {}", only.seed),
        _ => String::new(),
    };
    let _ = writeln!(text, "Frame delay in ms ({seeds}):\n\n{}", flows.text());
    let _ = writeln!(text, "Link (queueing delay in ms):\n\n{}", links.text());
    write(Path::new("-"), text.as_bytes())
}

fn flow_row(variant: &str, flows: &[&FlowOutcome]) -> Vec<String> {
    let Some(first) = flows.first() else {
        return Vec::new();
    };
    let of = |figure: &dyn Fn(&FlowOutcome) -> Option<f64>| {
        mean(flows.iter().map(|flow| figure(flow)))
    };
    let delay = |figure: fn(&mimosa_sim::FrameDelays) -> f64| {
        number(of(&|flow| flow.frame_delay_ms.as_ref().map(figure)), 1)
    };
    let worst = flows
        .iter()
        .filter_map(|flow| flow.frame_delay_ms.as_ref().map(|d| d.max))
        .reduce(f64::max);
    let bitrate = |flow: &FlowOutcome| flow.bitrate_mbps.or(Some(flow.throughput_mbps));
    vec![
        variant.to_owned(),
        first.name.clone(),
        number(of(&|flow| Some(flow.frames as f64)), 0),
        delay(|d| d.mean),
        delay(|d| d.p50),
        delay(|d| d.p95),
        delay(|d| d.p99),
        number(worst, 1),
        percent(of(&|flow| flow.stall_50ms)),
        percent(of(&|flow| flow.stall_100ms)),
        percent(of(&|flow| flow.stall_200ms)),
        number(of(&bitrate), 2),
        number(of(&|flow| flow.valid_bitrate_mbps), 2),
        percent(of(&|flow| flow.loss_rate)),
    ]
}

fn link_row(variant: &str, outcomes: &[&Outcome]) -> Vec<String> {
    let of = |figure: &dyn Fn(&Outcome) -> Option<f64>| mean(outcomes.iter().map(|o| figure(o)));
    let queue = |figure: fn(&mimosa_sim::QueueDelays) -> f64| {
        of(&|o| o.link.queue_delay_ms.as_ref().map(figure))
    };
    let worst = outcomes
        .iter()
        .filter_map(|o| o.link.queue_delay_ms.as_ref().map(|q| q.max))
        .reduce(f64::max);
    vec![
        variant.to_owned(),
        percent(of(&|o| o.link.utilization)),
        number(queue(|q| q.mean), 1),
        number(queue(|q| q.p95), 1),
        number(queue(|q| q.p99), 1),
        number(worst, 1),
        number(of(&|o| Some(o.link.offered as f64)), 0),
        number(of(&|o| Some(o.link.dropped as f64)), 0),
        number(of(&|o| o.jain), 3),
    ]
}

fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let (mut n, mut sum) = (0.0, 0.0);
    for value in values.flatten() {
        n += 1.0;
        sum += value;
    }
    (n > 0.0).then_some(sum / n)
}

fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.decimals$}"))
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.2}%", share * 100.0))
}

/// Rows of text under headings; a first column that is empty throughout is left
/// out.
struct Table {
    markdown: bool,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn new(markdown: bool, headings: &[&str]) -> Self {
        Self {
            markdown,
            rows: vec![headings.iter().map(|&text| text.to_owned()).collect()],
        }
    }

    fn row(&mut self, row: Vec<String>) {
        if !row.is_empty() {
            self.rows.push(row);
        }
    }

    fn text(mut self) -> String {
        if self.rows.iter().skip(1).all(|row| row[0].is_empty()) {
            for row in &mut self.rows {
                row.remove(0);
            }
        }
        let columns = self.rows.first().map_or(0, Vec::len);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<_> = (0..columns).map(width).collect();
        let mut text = String::new();
        for (index, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                let gap = if self.markdown { "| " } else { "" };
                // Names to the left, numbers to the right.
                let _ = if column == 0 || cell.starts_with(|c: char| c.is_alphabetic()) && index > 0
                {
                    write!(line, "{gap}{cell:<width$} ")
                } else {
                    write!(line, "{gap}{cell:>width$} ")
                };
                if !self.markdown {
                    line.push(' ');
                }
            }
            let line = line.trim_end();
            let _ = writeln!(text, "{line}{}", if self.markdown { " |" } else { "" });
            if index == 0 && self.markdown {
                let _ = writeln!(text, "|---{}", "|--:".repeat(columns - 1) + "|");
            }
        }
        text
    }
}
