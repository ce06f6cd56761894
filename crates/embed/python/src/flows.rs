//! The table of the flows' figures.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, StringArray, UInt64Array};
use mimosa_figures::{FlowFigures, RunFigures};
use pyo3::prelude::*;
use serde::Serialize;

use self::Read::{Count, Number};
use crate::table::{Made, Table};

/// The figures of a run, and of which run they are, under the names of `mimosa sim --json`.
#[derive(Serialize)]
pub(crate) struct Measured {
    pub(crate) seed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) variant: Option<String>,
    #[serde(flatten)]
    pub(crate) figures: RunFigures,
}

/// How a number is read of a flow and its run.
enum Read {
    Number(fn(&FlowFigures, &RunFigures) -> Option<f64>),
    Count(fn(&FlowFigures, &RunFigures) -> Option<u64>),
}

/// The numbers of a flow. Their names are those of the program's JSON, joined as
/// `mimosa_lab.Records` joins them.
const NUMBERS: [(&str, Read); 34] = [
    ("frames", Count(|flow, _| Some(flow.frames))),
    ("completed", Count(|flow, _| Some(flow.completed))),
    (
        "frame_delay_mean_ms",
        Number(|flow, _| Some(flow.frame_delay_ms?.mean)),
    ),
    (
        "frame_delay_p50_ms",
        Number(|flow, _| Some(flow.frame_delay_ms?.p50)),
    ),
    (
        "frame_delay_p95_ms",
        Number(|flow, _| Some(flow.frame_delay_ms?.p95)),
    ),
    (
        "frame_delay_p99_ms",
        Number(|flow, _| Some(flow.frame_delay_ms?.p99)),
    ),
    (
        "frame_delay_max_ms",
        Number(|flow, _| Some(flow.frame_delay_ms?.max)),
    ),
    ("stall_50ms", Number(|flow, _| flow.stall_50ms)),
    ("stall_100ms", Number(|flow, _| flow.stall_100ms)),
    ("stall_200ms", Number(|flow, _| flow.stall_200ms)),
    ("bitrate_mbps", Number(|flow, _| flow.bitrate_mbps)),
    (
        "valid_bitrate_mbps",
        Number(|flow, _| flow.valid_bitrate_mbps),
    ),
    (
        "throughput_mbps",
        Number(|flow, _| Some(flow.throughput_mbps)),
    ),
    ("loss_rate", Number(|flow, _| flow.loss_rate)),
    (
        "feedback_datagrams",
        Count(|flow, _| Some(flow.feedback?.datagrams)),
    ),
    (
        "feedback_bytes",
        Count(|flow, _| Some(flow.feedback?.bytes)),
    ),
    ("pages_loaded", Count(|flow, _| Some(flow.pages?.loaded))),
    ("pages_mean_ms", Number(|flow, _| Some(flow.pages?.mean_ms))),
    ("pages_p50_ms", Number(|flow, _| Some(flow.pages?.p50_ms))),
    ("pages_p95_ms", Number(|flow, _| Some(flow.pages?.p95_ms))),
    (
        "recovery_deadline_ms",
        Number(|flow, _| Some(flow.recovery?.deadline_ms)),
    ),
    ("recovery_late", Number(|flow, _| flow.recovery?.late)),
    (
        "recovery_repaired",
        Number(|flow, _| flow.recovery?.repaired),
    ),
    (
        "recovery_overhead",
        Number(|flow, _| flow.recovery?.overhead),
    ),
    ("link_utilization", Number(|_, run| run.link.utilization)),
    (
        "link_queue_delay_mean_ms",
        Number(|_, run| Some(run.link.queue_delay_ms?.mean)),
    ),
    (
        "link_queue_delay_p95_ms",
        Number(|_, run| Some(run.link.queue_delay_ms?.p95)),
    ),
    (
        "link_queue_delay_p99_ms",
        Number(|_, run| Some(run.link.queue_delay_ms?.p99)),
    ),
    (
        "link_queue_delay_max_ms",
        Number(|_, run| Some(run.link.queue_delay_ms?.max)),
    ),
    ("link_offered", Count(|_, run| Some(run.link.offered))),
    ("link_delivered", Count(|_, run| Some(run.link.delivered))),
    ("link_dropped", Count(|_, run| Some(run.link.dropped))),
    ("link_left", Count(|_, run| Some(run.link.left))),
    ("jain", Number(|_, run| run.jain)),
];

/// One row for each flow of each run.
pub(crate) fn table(runs: &[Measured]) -> PyResult<Table> {
    let rows = || {
        runs.iter()
            .flat_map(|run| run.figures.flows.iter().map(move |flow| (run, flow)))
    };
    let texts = |read: fn(&Measured, &FlowFigures) -> Option<String>| {
        Arc::new(
            rows()
                .map(|(run, flow)| read(run, flow))
                .collect::<StringArray>(),
        )
    };
    let seeds = rows().map(|(run, _)| run.seed).collect::<Vec<_>>();
    let mut columns = vec![
        Made::new("seed", Arc::new(UInt64Array::from(seeds))),
        Made::new("variant", texts(|run, _| run.variant.clone())),
        Made::new("flow", texts(|_, flow| Some(flow.name.clone()))),
        Made::new("kind", texts(|_, flow| Some(flow.kind.to_owned()))),
        Made::new("controller", texts(|_, flow| flow.controller.clone())),
    ];
    for (name, read) in NUMBERS {
        let values: ArrayRef = match read {
            Number(read) => {
                let values = rows().map(|(run, flow)| read(flow, &run.figures));
                Arc::new(values.collect::<Float64Array>())
            }
            Count(read) => {
                let values = rows().map(|(run, flow)| read(flow, &run.figures));
                Arc::new(values.collect::<UInt64Array>())
            }
        };
        columns.push(Made::new(name, values));
    }
    Table::of(columns)
}
