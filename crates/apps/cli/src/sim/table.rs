//! The figures as tables: means over the seeds, and the greatest of maxima.

use std::fmt::Write;

use mimosa_figures::{FlowFigures, FrameDelays, PageFigures, QueueDelays, RunFigures};
use mimosa_plot::Table;
use mimosa_scenario::Scenario;

use super::Run;

/// One table of the flows and one of the link, and one of web pages where a flow loads any.
pub(crate) fn tables(variants: &[(Option<&str>, &Scenario)], runs: &[Run]) -> Vec<Table> {
    let seeds = match (runs.first(), runs.last()) {
        (Some(first), Some(last)) if first.seed != last.seed => {
            let (first, last) = (first.seed, last.seed);
            format!("mean of seeds {first} to {last}, max the worst of all")
        }
        (Some(only), _) => format!("seed {}", only.seed),
        _ => String::new(),
    };
    let mut flows = table(
        format!("Frame delay in ms ({seeds})"),
        &[
            "variant", "flow", "frames", "mean", "p50", "p95", "p99", "max", ">50ms", ">100ms",
            ">200ms", "Mbit/s", "valid", "loss",
        ],
    );
    let mut links = table(
        "Link (queueing delay in ms)".to_owned(),
        &[
            "variant",
            "used",
            "queue mean",
            "p95",
            "p99",
            "max",
            "offered",
            "dropped",
            "Jain",
        ],
    );
    let mut pages = table(
        "Web pages (times in ms)".to_owned(),
        &["variant", "flow", "pages", "mean", "p50", "p95"],
    );
    for &(name, scenario) in variants {
        let own: Vec<_> = runs
            .iter()
            .filter(|run| run.variant == name)
            .map(|run| &run.figures)
            .collect();
        let variant = name.unwrap_or_default();
        let of = |index: usize| own.iter().filter_map(move |run| run.flows.get(index));
        let (videos, others): (Vec<_>, Vec<_>) = (0..scenario.flows.len())
            .partition(|&index| scenario.flows[index].kind_name() == "video");
        // Variants are compared, so that each has one line.
        let together = name.is_some() && videos.len() > 1;
        if together {
            let all: Vec<_> = videos.iter().flat_map(|&index| of(index)).collect();
            let label = format!("all {}", videos.len());
            flows.rows.extend(flow_row(variant, &label, &all));
        }
        let alone = if together {
            others
        } else {
            (0..scenario.flows.len()).collect()
        };
        for index in alone {
            let label = &scenario.flows[index].name;
            let flow: Vec<_> = of(index).collect();
            flows.rows.extend(flow_row(variant, label, &flow));
            pages.rows.extend(page_row(variant, label, &flow));
        }
        links.rows.push(link_row(variant, &own));
    }
    let shown = [flows, links, pages].into_iter();
    let shown = shown.filter(|table| !table.rows.is_empty());
    shown.map(without_empty_variants).collect()
}

fn table(title: String, headers: &[&str]) -> Table {
    Table {
        title,
        headers: headers.iter().map(|&text| text.to_owned()).collect(),
        rows: Vec::new(),
    }
}

pub(crate) fn without_empty_variants(mut table: Table) -> Table {
    if table.rows.iter().all(|row| row[0].is_empty()) {
        for row in std::iter::once(&mut table.headers).chain(&mut table.rows) {
            row.remove(0);
        }
    }
    table
}

/// The tables one after the other, as text or as Markdown.
pub(crate) fn text(tables: &[Table], markdown: bool) -> String {
    let mut text = String::new();
    for table in tables {
        let table = if markdown {
            table.to_markdown()
        } else {
            table.to_text()
        };
        let _ = writeln!(text, "{table}");
    }
    text
}

/// `None` without runs.
fn flow_row(variant: &str, name: &str, flows: &[&FlowFigures]) -> Option<Vec<String>> {
    flows.first()?;
    let of =
        |figure: &dyn Fn(&FlowFigures) -> Option<f64>| mean(flows.iter().map(|flow| figure(flow)));
    let delay = |figure: fn(&FrameDelays) -> f64| {
        number(of(&|flow| flow.frame_delay_ms.as_ref().map(figure)), 1)
    };
    let worst = flows
        .iter()
        .filter_map(|flow| flow.frame_delay_ms.as_ref().map(|d| d.max))
        .reduce(f64::max);
    let bitrate = |flow: &FlowFigures| flow.bitrate_mbps.or(Some(flow.throughput_mbps));
    Some(vec![
        variant.to_owned(),
        name.to_owned(),
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
    ])
}

/// `None` where no page was loaded.
fn page_row(variant: &str, name: &str, flows: &[&FlowFigures]) -> Option<Vec<String>> {
    let loaded: Vec<_> = flows.iter().filter_map(|flow| flow.pages).collect();
    loaded.first()?;
    let of = |figure: fn(&PageFigures) -> f64| mean(loaded.iter().map(|all| Some(figure(all))));
    Some(vec![
        variant.to_owned(),
        name.to_owned(),
        number(of(|all| all.loaded as f64), 1),
        number(of(|all| all.mean_ms), 0),
        number(of(|all| all.p50_ms), 0),
        number(of(|all| all.p95_ms), 0),
    ])
}

fn link_row(variant: &str, runs: &[&RunFigures]) -> Vec<String> {
    let of = |figure: &dyn Fn(&RunFigures) -> Option<f64>| mean(runs.iter().map(|run| figure(run)));
    let queue =
        |figure: fn(&QueueDelays) -> f64| of(&|run| run.link.queue_delay_ms.as_ref().map(figure));
    let worst = runs
        .iter()
        .filter_map(|run| run.link.queue_delay_ms.as_ref().map(|q| q.max))
        .reduce(f64::max);
    vec![
        variant.to_owned(),
        percent(of(&|run| run.link.utilization)),
        number(queue(|q| q.mean), 1),
        number(queue(|q| q.p95), 1),
        number(queue(|q| q.p99), 1),
        number(worst, 1),
        number(of(&|run| Some(run.link.offered as f64)), 0),
        number(of(&|run| Some(run.link.dropped as f64)), 0),
        number(of(&|run| run.jain), 3),
    ]
}

pub(crate) fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
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
