//! The table of the flows' figures.

use std::sync::Arc;

use arrow_array::{Float64Array, StringArray, UInt64Array};
use mimosa_figures::{FlowFigures, FrameDelays, RunFigures};
use pyo3::prelude::*;

use crate::table::{Made, Table};

/// The figures of a run, and of which run they are.
pub(crate) struct Measured {
    pub(crate) seed: u64,
    pub(crate) variant: Option<String>,
    pub(crate) figures: RunFigures,
}

/// How a number is read of a flow and its run.
type Number = fn(&FlowFigures, &RunFigures) -> Option<f64>;

/// The numbers of a flow: name, and how it is read.
const NUMBERS: [(&str, Number); 16] = [
    ("delay_mean_ms", |flow, _| delay(flow, |it| it.mean)),
    ("delay_p50_ms", |flow, _| delay(flow, |it| it.p50)),
    ("delay_p95_ms", |flow, _| delay(flow, |it| it.p95)),
    ("delay_p99_ms", |flow, _| delay(flow, |it| it.p99)),
    ("delay_max_ms", |flow, _| delay(flow, |it| it.max)),
    ("stall_50ms", |flow, _| flow.stall_50ms),
    ("stall_100ms", |flow, _| flow.stall_100ms),
    ("stall_200ms", |flow, _| flow.stall_200ms),
    ("bitrate_mbps", |flow, _| flow.bitrate_mbps),
    ("valid_bitrate_mbps", |flow, _| flow.valid_bitrate_mbps),
    ("throughput_mbps", |flow, _| Some(flow.throughput_mbps)),
    ("loss_rate", |flow, _| flow.loss_rate),
    ("link_utilization", |_, run| run.link.utilization),
    ("queue_delay_mean_ms", |_, run| {
        Some(run.link.queue_delay_ms?.mean)
    }),
    ("queue_delay_p95_ms", |_, run| {
        Some(run.link.queue_delay_ms?.p95)
    }),
    ("jain", |_, run| run.jain),
];

fn delay(flow: &FlowFigures, read: fn(&FrameDelays) -> f64) -> Option<f64> {
    flow.frame_delay_ms.as_ref().map(read)
}

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
    let frames = rows().map(|(_, flow)| flow.frames).collect::<Vec<_>>();
    let mut columns = vec![
        Made::new("seed", Arc::new(UInt64Array::from(seeds))),
        Made::new("variant", texts(|run, _| run.variant.clone())),
        Made::new("flow", texts(|_, flow| Some(flow.name.clone()))),
        Made::new("kind", texts(|_, flow| Some(flow.kind.to_owned()))),
        Made::new("controller", texts(|_, flow| flow.controller.clone())),
        Made::new("frames", Arc::new(UInt64Array::from(frames))),
    ];
    for (name, read) in NUMBERS {
        let values = rows().map(|(run, flow)| read(flow, &run.figures));
        columns.push(Made::new(name, Arc::new(values.collect::<Float64Array>())));
    }
    Table::of(columns)
}
