//! A page of matrices: each controller beside each rival, and each one alone.

use std::collections::{BTreeMap, BTreeSet};

use mimosa_plot::{Heat, Part, Shaded, Table};
use mimosa_scenario::FlowKind;
use mimosa_units::{Rate, Time, TimeDelta};

use crate::numbers::mean;
use crate::page::{heading, table};
use crate::record::{FlowRecord, Record};
use crate::rivals::Beside;
use crate::suite::{Body, Case, Setting, Suite};
use crate::table::{ALONE, without_empty};

/// Time beyond the path and a frame interval at which a frame delay has its full colour. Our
/// choice: the bound of the middle one of the three kinds of stalls.
const FULL: TimeDelta = TimeDelta::from_millis(100);

/// The row's side of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    /// Part of what both flows carried, from 0 to 1.
    pub(crate) share: f64,
    /// Part of what the link could have served, from 0 to 1.
    pub(crate) of_link: Option<f64>,
    /// 95th percentile of the frame delay in milliseconds.
    pub(crate) frame_p95: Option<f64>,
    /// Whether the row's flow began first.
    pub(crate) is_first: bool,
}

/// The mean of a figure over runs, with the least and the most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) mean: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl Spread {
    /// The spread of these values; `None` without values.
    pub(crate) fn of(values: impl Iterator<Item = f64> + Clone) -> Option<Self> {
        Some(Self {
            mean: mean(values.clone())?,
            least: values.clone().reduce(f64::min)?,
            most: values.reduce(f64::max)?,
        })
    }

    /// The numbers times `scale`, rounded: the mean, and in brackets least and most.
    fn text(self, scale: f64) -> String {
        let [mean, least, most] = [self.mean, self.least, self.most].map(|value| value * scale);
        format!("{mean:.0} ({least:.0}..{most:.0})")
    }
}

/// A figure of a sample, if the sample has it.
pub(crate) type Figure = fn(&Sample) -> Option<f64>;

/// The figures of cells, by the names that they have as numbers: the shares of what both flows
/// carried and of the link, and the frame delay.
pub(crate) const FIGURES: [(&str, Figure); 3] = [
    ("share", |sample| Some(sample.share)),
    ("of link", |sample| sample.of_link),
    ("frame p95", |sample| sample.frame_p95),
];

/// A column of a matrix: a rival, in one variant of the case.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Column {
    /// The rival's name: a controller, or `TCP` and a congestion control.
    pub(crate) rival: String,
    /// The variant, if the case has several.
    pub(crate) variant: Option<String>,
    /// What a frame that fills its interval takes on the path without a queue.
    unqueued: TimeDelta,
}

impl Column {
    fn label(&self) -> String {
        match &self.variant {
            Some(variant) => format!("{}, {variant}", self.rival),
            None => self.rival.clone(),
        }
    }
}

/// The runs of a case, by row and column.
#[derive(Debug)]
pub(crate) struct Matrix {
    /// The columns: a rival after the other, and of each the variants.
    pub(crate) columns: Vec<Column>,
    /// The rows: all controllers of streams, in the order of their names.
    pub(crate) rows: Vec<String>,
    /// The samples of each cell, by the number of its row and of its column.
    samples: BTreeMap<(usize, usize), Vec<Sample>>,
}

impl Matrix {
    /// The matrix of a case; `None` for one without rivals, and without runs.
    ///
    /// A run of two streams that differ in their controllers alone is in two cells: in that of the
    /// one beside the other, and in that of the other beside the one. A run of a controller beside
    /// itself is in its cell twice, with the side of either flow.
    pub(crate) fn of(case: &Case, records: &[Record]) -> Option<Self> {
        let Body::Carried(settings) = &case.body else {
            return None;
        };
        let columns = columns(settings);
        let mut cells: BTreeMap<(&str, usize), Vec<Sample>> = BTreeMap::new();
        for record in records.iter().filter(|record| record.key.case == case.name) {
            let setting = settings.iter().find(|setting| setting.has(&record.key));
            let Some((setting, beside)) = setting.and_then(|it| Some((it, it.beside.as_ref()?)))
            else {
                continue;
            };
            let Some((stream, other)) = sides(record, setting, beside) else {
                continue;
            };
            let column = |rival: &str| {
                let is_own = |column: &Column| {
                    let variant = column.variant.as_ref();
                    let is_variant = variant.is_none() || variant == setting.variant.as_ref();
                    column.rival == rival && is_variant
                };
                columns.iter().position(is_own)
            };
            let controller = record.key.controller.as_str();
            let rival = beside.rival.controller.as_str();
            if let Some(column) = column(&beside.label()) {
                cells.entry((controller, column)).or_default().push(stream);
            }
            let mirrored = other.filter(|_| beside.is_mirror);
            if let Some((sample, column)) = mirrored.zip(column(controller)) {
                cells.entry((rival, column)).or_default().push(sample);
            }
        }
        let rows: BTreeSet<&str> = cells.keys().map(|(row, _)| *row).collect();
        let rows: Vec<_> = rows.into_iter().collect();
        let number = |name: &str| rows.iter().position(|row| *row == name).unwrap_or_default();
        let samples: BTreeMap<_, _> = cells
            .iter()
            .map(|((row, column), own)| ((number(row), *column), own.clone()))
            .collect();
        (!samples.is_empty()).then(|| Self {
            columns,
            rows: rows.iter().map(|name| (*name).to_owned()).collect(),
            samples,
        })
    }

    /// The samples of a cell.
    pub(crate) fn cell(&self, row: usize, column: usize) -> &[Sample] {
        let samples = self.samples.get(&(row, column));
        samples.map_or(&[], Vec::as_slice)
    }

    /// A figure of a cell; `None` where no run has it.
    pub(crate) fn spread(&self, row: usize, column: usize, figure: Figure) -> Option<Spread> {
        Spread::of(self.cell(row, column).iter().filter_map(figure))
    }

    /// A table of a figure: mean, least and most of each cell.
    fn table(&self, title: &str, figure: Figure, scale: f64) -> Table {
        let columns = self.columns.iter().map(Column::label);
        let row = |(number, name): (usize, &String)| {
            let cells = (0..self.columns.len()).map(|column| {
                let spread = self.spread(number, column, figure);
                spread.map_or_else(|| "-".to_owned(), |spread| spread.text(scale))
            });
            std::iter::once(name.clone()).chain(cells).collect()
        };
        Table {
            title: format!("{title}; in brackets the least and the most of the runs"),
            headers: std::iter::once("stream".to_owned())
                .chain(columns)
                .collect(),
            rows: self.rows.iter().enumerate().map(row).collect(),
        }
    }

    /// A coloured matrix of the means of a figure.
    fn heat(
        &self,
        (title, subtitle): (String, &str),
        (figure, scale): (Figure, f64),
        shade: impl Fn(&Column, f64) -> f64,
    ) -> Heat {
        let row = |number: usize| {
            let cells = self.columns.iter().enumerate().map(|(column, about)| {
                let mean = self.spread(number, column, figure)?.mean;
                Some(Shaded {
                    text: format!("{:.0}", mean * scale),
                    shade: shade(about, mean),
                })
            });
            cells.collect()
        };
        Heat {
            title,
            subtitle: subtitle.to_owned(),
            rows: self.rows.clone(),
            columns: self.columns.iter().map(Column::label).collect(),
            cells: (0..self.rows.len()).map(row).collect(),
        }
    }
}

/// The columns of these settings.
fn columns(settings: &[Setting]) -> Vec<Column> {
    let mut variants: Vec<_> = settings.iter().map(|setting| &setting.variant).collect();
    variants.dedup();
    let has_several = variants.len() > 1;
    let mut columns: Vec<Column> = Vec::new();
    for setting in settings {
        let Some(beside) = &setting.beside else {
            continue;
        };
        let column = Column {
            rival: beside.label(),
            variant: setting.variant.clone().filter(|_| has_several),
            unqueued: unqueued(setting),
        };
        // Each rival stands before the next one, with its variants in their order.
        let own = columns
            .iter()
            .rposition(|other| other.rival == column.rival);
        if !columns.contains(&column) {
            columns.insert(own.map_or(columns.len(), |last| last + 1), column);
        }
    }
    columns
}

/// What a frame of the stream takes on the path if it fills its interval and meets no queue.
fn unqueued(setting: &Setting) -> TimeDelta {
    let stream = setting.open.first();
    let flow = stream.and_then(|stream| setting.scenario.flows.get(*stream));
    let Some((flow, FlowKind::Video(video))) = flow.map(|flow| (flow, &flow.kind)) else {
        return TimeDelta::ZERO;
    };
    let second = TimeDelta::from_millis(1_000);
    flow.forward.delay + video.reverse.delay + second.scale(1.0 / f64::from(video.fps))
}

/// Both flows of a run, each as the row's side; the second is `None` if it is TCP. `None` where
/// neither carried anything.
fn sides(record: &Record, setting: &Setting, beside: &Beside) -> Option<(Sample, Option<Sample>)> {
    let rival = &beside.rival;
    let stream = record.flows.iter().find(|flow| flow.name != rival.flow)?;
    let other = record.flows.iter().find(|flow| flow.name == rival.flow);
    let carried = if beside.is_tcp {
        record.tcp?.throughput_mbps
    } else {
        other?.throughput_mbps
    };
    let both = stream.throughput_mbps + carried;
    let capacity = capacity_mbps(setting);
    let sample = |flow: &FlowRecord, is_first| Sample {
        share: flow.throughput_mbps / both,
        of_link: capacity.map(|capacity| flow.throughput_mbps / capacity),
        frame_p95: flow.frame_delay_ms.map(|delays| delays.p95),
        is_first,
    };
    let other = other.map(|flow| sample(flow, rival.is_first));
    (both > 0.0).then(|| (sample(stream, !rival.is_first), other))
}

/// The mean rate of the link in the part that counts; `None` if it is zero.
fn capacity_mbps(setting: &Setting) -> Option<f64> {
    let scenario = &setting.scenario;
    let window = setting.parts.window;
    let end = window.to.min(Time::ZERO + scenario.duration);
    let amount = scenario.link.schedule.capacity(window.from, end);
    let rate = Rate::of(amount, end.since(window.from)).as_mbps();
    Some(rate).filter(|rate| *rate > 0.0)
}

/// Appends the matrices of each case with rivals, and a table of each other case.
pub(crate) fn parts(suite: &Suite, records: &[Record], parts: &mut Vec<Part>) {
    for case in &suite.cases {
        let settings = match &case.body {
            Body::Carried(settings) => settings,
            Body::NotCarried(why) => {
                heading(case, parts);
                parts.push(Part::Text(format!("Not carried. {why}")));
                continue;
            }
        };
        if let Some(matrix) = Matrix::of(case, records) {
            heading(case, parts);
            parts.extend(matrices(case, &matrix));
            continue;
        }
        let mut alone = table("Delays in ms", ALONE, case, settings, records);
        if !alone.rows.is_empty() {
            without_empty(&mut alone);
            heading(case, parts);
            parts.push(Part::Table(alone));
        }
    }
}

/// The matrices of a case: shares of what both carried and of the link, and frame delays.
fn matrices(case: &Case, matrix: &Matrix) -> [Part; 5] {
    let [share, of_link, frame_p95] = FIGURES.map(|(_, figure)| figure);
    let shares = matrix.heat(
        (
            format!("Shares, {}", case.title),
            "what the row's stream carried, in % of what it and the column's flow carried; a half \
             has no colour, more is warm and less is cold; means of all runs",
        ),
        (share, 100.0),
        |_, share| share * 2.0 - 1.0,
    );
    let delays = matrix.heat(
        (
            format!("Frame delays, {}", case.title),
            "95th percentile of the frame delay of the row's stream beside the column's flow, in \
             ms; a frame that fills its interval and meets no queue has no colour, 100 ms more have \
             all; means of all runs",
        ),
        (frame_p95, 1.0),
        |column, delay| (delay - column.unqueued.as_millis()) / FULL.as_millis(),
    );
    [
        Part::Heat(shares),
        Part::Table(matrix.table("Share of what both carried, in %", share, 100.0)),
        Part::Table(matrix.table("Share of the link, in %", of_link, 100.0)),
        Part::Heat(delays),
        Part::Table(matrix.table("95th percentile of the frame delay, in ms", frame_p95, 1.0)),
    ]
}
