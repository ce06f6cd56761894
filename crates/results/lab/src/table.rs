//! The columns of tables of figures.

use crate::numbers::mean;
use crate::record::{Converged, Delays, FlowRecord, Record};

/// Share of stalls that the reference has to exceed for a ratio of stalls to count.
const LEAST_STALLS: f64 = 0.01;

/// A figure of runs, and its form in a table.
pub(crate) struct Column {
    pub(crate) header: &'static str,
    form: Form,
    /// The figure of one run: a mean over the video flows.
    figure: fn(&Record) -> Option<f64>,
    /// How the seeds are combined: by the mean, or by the worst.
    over: Over,
}

#[derive(Clone, Copy)]
enum Form {
    Number(usize),
    Percent,
}

#[derive(Clone, Copy)]
enum Over {
    Mean,
    Worst,
}

impl Column {
    const fn new(header: &'static str, form: Form, figure: fn(&Record) -> Option<f64>) -> Self {
        Self {
            header,
            form,
            figure,
            over: Over::Mean,
        }
    }

    /// The figure over these runs; `None` if none of them has it.
    pub(crate) fn of(&self, runs: &[&Record]) -> Option<f64> {
        let figures = runs.iter().filter_map(|run| (self.figure)(run));
        match self.over {
            Over::Mean => mean(figures),
            Over::Worst => figures.reduce(f64::max),
        }
    }

    /// The ratio of `value` to the reference's; `None` if the reference's is so small that the
    /// ratio means nothing.
    pub(crate) fn ratio(&self, value: Option<f64>, reference: Option<f64>) -> Option<f64> {
        let least = if self.is_stall() { LEAST_STALLS } else { 0.0 };
        Some(value? / reference.filter(|reference| *reference > least)?)
    }

    fn is_stall(&self) -> bool {
        self.header.starts_with('>')
    }

    pub(crate) fn text(&self, value: Option<f64>) -> String {
        match (value, self.form) {
            (None, _) => "-".to_owned(),
            (Some(value), Form::Number(decimals)) => format!("{value:.decimals$}"),
            (Some(value), Form::Percent) => format!("{:.2}%", value * 100.0),
        }
    }
}

fn flows(record: &Record, figure: impl Fn(&FlowRecord) -> Option<f64>) -> Option<f64> {
    mean(record.flows.iter().filter_map(figure))
}

fn frames(record: &Record, figure: fn(&Delays) -> f64) -> Option<f64> {
    flows(record, |flow| flow.frame_delay_ms.as_ref().map(figure))
}

fn packets(record: &Record, figure: fn(&Delays) -> f64) -> Option<f64> {
    flows(record, |flow| flow.packet_delay_ms.as_ref().map(figure))
}

fn queue(record: &Record, figure: fn(&Delays) -> f64) -> Option<f64> {
    record.link.queue_delay_ms.as_ref().map(figure)
}

/// Share of the changes after which the flows converged before the next change.
fn reached(record: &Record, time: fn(&Converged) -> Option<f64>) -> Option<f64> {
    mean(
        record
            .converged
            .iter()
            .map(|change| f64::from(u8::from(time(change).is_some()))),
    )
}

/// The record, if it has several flows.
fn several(record: &Record) -> Option<&Record> {
    (record.flows.len() > 1).then_some(record)
}

const FRAME_MEAN: Column = Column::new("frame mean", Form::Number(1), |run| {
    frames(run, |delays| delays.mean)
});
const FRAME_P95: Column = Column::new("p95", Form::Number(1), |run| {
    frames(run, |delays| delays.p95)
});
const FRAME_P99: Column = Column::new("p99", Form::Number(1), |run| {
    frames(run, |delays| delays.p99)
});
const STALL_50: Column = Column::new(">50ms", Form::Percent, |run| {
    flows(run, |flow| flow.stall_50ms)
});
const STALL_100: Column = Column::new(">100ms", Form::Percent, |run| {
    flows(run, |flow| flow.stall_100ms)
});
const STALL_200: Column = Column::new(">200ms", Form::Percent, |run| {
    flows(run, |flow| flow.stall_200ms)
});
const BITRATE: Column = Column::new("Mbit/s", Form::Number(2), |run| {
    flows(run, |flow| flow.bitrate_mbps)
});
const VALID: Column = Column::new("valid", Form::Number(2), |run| {
    flows(run, |flow| flow.valid_bitrate_mbps)
});
const USED: Column = Column::new("used", Form::Percent, |run| run.link.utilization);
const LATE: Column = Column::new("late", Form::Percent, |run| flows(run, |flow| flow.late));
const BESIDE_TCP: Column = Column::new("beside TCP", Form::Percent, |run| {
    let video: f64 = run.flows.iter().map(|flow| flow.throughput_mbps).sum();
    let all = video + run.tcp?.throughput_mbps;
    (all > 0.0).then(|| video / all)
});
const JAIN: Column = Column::new("Jain", Form::Number(3), |run| several(run)?.jain);
const EVEN: Column = Column::new("even after s", Form::Number(1), |run| {
    mean(
        several(run)?
            .converged
            .iter()
            .filter_map(|change| change.even_s),
    )
});
const LOSS: Column = Column::new("loss", Form::Percent, |run| {
    flows(run, |flow| flow.loss_rate)
});

/// The columns for each case of an overview.
pub(crate) const OVERVIEW: &[Column] = &[
    USED,
    BITRATE,
    VALID,
    FRAME_MEAN,
    Column::new("p50", Form::Number(1), |run| {
        flows(run, |flow| flow.frame_delay_p50_ms)
    }),
    FRAME_P95,
    FRAME_P99,
    LATE,
    JAIN,
    BESIDE_TCP,
    LOSS,
];

/// The columns side by side in an overview's first table.
pub(crate) const GLANCE: &[Column] = &[USED, FRAME_P95, LATE];
/// Further columns there, for cases that have these figures.
pub(crate) const SHARES: &[Column] = &[JAIN, BESIDE_TCP];

/// The columns of the scoreboard.
pub(crate) const SCOREBOARD: &[Column] = &[
    FRAME_MEAN, FRAME_P95, FRAME_P99, STALL_50, STALL_100, STALL_200, BITRATE, VALID, USED, JAIN,
    EVEN,
];

/// The columns of a case without rivals on a page of pairs.
pub(crate) const ALONE: &[Column] = &[
    USED,
    BITRATE,
    Column::new("ECT(1)", Form::Percent, |run| {
        flows(run, |flow| Some(flow.queue?.l4s))
    }),
    Column::new("queue p50", Form::Number(2), |run| {
        flows(run, |flow| Some(flow.queue?.p50_ms))
    }),
    Column::new("queue p99", Form::Number(2), |run| {
        flows(run, |flow| Some(flow.queue?.p99_ms))
    }),
    Column::new("frame p95", Form::Number(1), |run| {
        frames(run, |delays| delays.p95)
    }),
    JAIN,
];

/// The columns of a case's video flows: RFC 8867, section 4.1, 1.
pub(crate) const FLOWS: &[Column] = &[
    FRAME_MEAN,
    FRAME_P95,
    FRAME_P99,
    Column::new("packet mean", Form::Number(1), |run| {
        packets(run, |delays| delays.mean)
    }),
    Column::new("p95", Form::Number(1), |run| {
        packets(run, |delays| delays.p95)
    }),
    BITRATE,
    Column::new("variation", Form::Number(2), |run| {
        flows(run, |flow| flow.rate_variation)
    }),
    Column::new("turns/min", Form::Number(1), |run| {
        flows(run, |flow| flow.turns_per_minute)
    }),
    Column::new("swing", Form::Number(2), |run| {
        flows(run, |flow| flow.swing)
    }),
    LOSS,
    Column::new("past deadline", Form::Percent, |run| {
        flows(run, |flow| flow.past_deadline)
    }),
    Column::new("overhead", Form::Percent, |run| {
        flows(run, |flow| flow.overhead)
    }),
    JAIN,
];

/// The columns of a case's link, convergence and TCP flows: RFC 8867, section 4.1, 1.E and 2, and
/// section 5.6.
pub(crate) const LINK: &[Column] = &[
    USED,
    Column::new("queue mean", Form::Number(1), |run| {
        queue(run, |delays| delays.mean)
    }),
    Column::new("p95", Form::Number(1), |run| {
        queue(run, |delays| delays.p95)
    }),
    Column {
        header: "max",
        form: Form::Number(1),
        figure: |run| queue(run, |delays| delays.max),
        over: Over::Worst,
    },
    Column::new("share after s", Form::Number(1), |run| {
        mean(run.converged.iter().filter_map(|change| change.share_s))
    }),
    Column::new("reached", Form::Percent, |run| {
        reached(run, |change| change.share_s)
    }),
    EVEN,
    Column::new("TCP Mbit/s", Form::Number(2), |run| {
        run.tcp.map(|tcp| tcp.throughput_mbps)
    }),
    Column::new("TCP variation", Form::Number(2), |run| {
        run.tcp?.rate_variation
    }),
    Column::new("TCP loss", Form::Percent, |run| run.tcp?.loss_rate),
];

/// Removes the columns that are empty in all rows.
pub(crate) fn without_empty(table: &mut mimosa_plot::Table) {
    let empty: Vec<_> = (0..table.headers.len())
        .map(|column| {
            let mut cells = table.rows.iter().filter_map(|row| row.get(column));
            cells.all(|cell| cell.is_empty() || cell.starts_with('-'))
        })
        .collect();
    for row in std::iter::once(&mut table.headers).chain(&mut table.rows) {
        let mut column = empty.iter();
        row.retain(|_| column.next() != Some(&true));
    }
}
