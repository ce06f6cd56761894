//! Draws plots in the axes of the source.

use mimosa_plot::{Figure, Kind, Panel, Series};
use mimosa_units::Time;

use super::{Plot, Shown};
use crate::numbers::mean;
use crate::page::controllers;
use crate::record::Record;
use crate::suite::{Body, Case, Setting, Suite};
use crate::trace::{STEP, Trace};

/// Number of [`STEP`]s over which the shares of a plane are means.
const PLANE_STEPS: usize = 2;

/// The plot from the first seed that was run, or of estimates from all seeds; `None` without runs.
pub(crate) fn figure(suite: &Suite, plot: &Plot, records: &[Record]) -> Option<Figure> {
    let mut panels = Vec::new();
    let mut seed = None;
    for case in suite
        .cases
        .iter()
        .filter(|case| plot.cases.contains(&case.name))
    {
        let Body::Carried(settings) = &case.body else {
            continue;
        };
        if plot.shows == Shown::Estimates {
            panels.extend(estimates(case, settings, records));
            continue;
        }
        for setting in settings {
            for controller in controllers(records, case, setting) {
                let runs = crate::page::runs(records, case, setting, controller);
                let Some((run, trace)) = runs.first().and_then(|r| Some((r, r.trace.as_ref()?)))
                else {
                    continue;
                };
                seed = seed.or(Some(run.key.seed));
                let title = title(plot, case, setting, controller);
                panels.push(match plot.shows {
                    Shown::Delay => delays(title, plot, trace),
                    Shown::Plane => plane(title, trace),
                    Shown::Bitrate | Shown::Estimates => bitrates(title, plot, setting, trace),
                });
            }
        }
    }
    if panels.is_empty() {
        return None;
    }
    let subtitle = match (plot.shows, seed) {
        (Shown::Estimates, _) => {
            "seconds of all runs, of many in one place the lowest and the highest".to_owned()
        }
        (Shown::Plane, Some(seed)) => format!("means of 200 ms; seed {seed}"),
        (_, Some(seed)) => format!("each frame; seed {seed}"),
        (_, None) => String::new(),
    };
    let x_label = match plot.shows {
        Shown::Bitrate | Shown::Delay => "Time (s)",
        Shown::Plane => "Flow 1: share of the link",
        Shown::Estimates => "Actual share of the link in use",
    };
    Some(Figure {
        title: plot.title.clone(),
        subtitle,
        x_label: x_label.to_owned(),
        panels,
    })
}

/// The words that distinguish a panel from the others.
fn title(plot: &Plot, case: &Case, setting: &Setting, controller: &str) -> String {
    let mut title = controller.to_owned();
    if plot.cases.len() > 1 {
        title = format!("{title}, {}", case.title);
    }
    match &setting.variant {
        Some(variant) => format!("{title}, {variant}"),
        None => title,
    }
}

fn line(name: &str, kind: Kind, points: Vec<(f64, f64)>) -> Series {
    Series {
        name: name.to_owned(),
        points,
        kind,
    }
}

/// The marks of a plot, over the whole run.
fn marks(plot: &Plot, end: f64) -> impl Iterator<Item = Series> {
    plot.marks
        .iter()
        .map(move |(name, value)| line(name, Kind::Reference, vec![(0.0, *value), (end, *value)]))
}

/// Length of the run, in seconds.
fn end(trace: &Trace) -> f64 {
    trace.capacity_kbps.len() as f64 * STEP.as_secs()
}

/// A list with an entry for each [`STEP`], as points over time.
fn stepwise(rates: &[u64], end: f64) -> Vec<(f64, f64)> {
    let points = rates.iter().enumerate();
    let points = points.map(|(index, kbps)| (index as f64 * STEP.as_secs(), *kbps as f64 / 1e3));
    let last = rates.last().map(|kbps| (end, *kbps as f64 / 1e3));
    points.chain(last).collect()
}

fn bitrates(title: String, plot: &Plot, setting: &Setting, trace: &Trace) -> Panel {
    let end = end(trace);
    let mut series = vec![line(
        "link",
        Kind::Reference,
        stepwise(&trace.capacity_kbps, end),
    )];
    series.extend(marks(plot, end));
    for flow in &trace.flows {
        let points = flow.at_us.iter().zip(&flow.kbps);
        let points = points.map(|(at, kbps)| (*at as f64 / 1e6, *kbps as f64 / 1e3));
        series.push(line(&flow.name, Kind::Line, points.collect()));
    }
    let tcp = setting
        .scenario
        .flows
        .iter()
        .find(|flow| flow.kind_name() == "tcp");
    if let Some(flow) = tcp {
        let points = stepwise(&trace.tcp_kbps, end);
        series.push(line(&flow.name, Kind::Steps, points));
    }
    Panel {
        title,
        y_label: "Bitrate (Mbit/s)".to_owned(),
        y_range: plot.range,
        series,
    }
}

fn delays(title: String, plot: &Plot, trace: &Trace) -> Panel {
    let end = end(trace);
    let mut series = vec![line("", Kind::Reference, vec![(0.0, 0.0), (end, 0.0)])];
    series.extend(marks(plot, end));
    for flow in &trace.flows {
        let points = flow.at_us.iter().zip(&flow.delay_us);
        let points = points.map(|(at, delay)| {
            let delay = delay.map_or(f64::NAN, |us| us as f64 / 1e3);
            (*at as f64 / 1e6, delay)
        });
        series.push(line(&flow.name, Kind::Line, points.collect()));
    }
    Panel {
        title,
        y_label: "Frame delay (ms)".to_owned(),
        y_range: plot.range,
        series,
    }
}

/// The shares of the first two flows, as a path from when both are there.
fn plane(title: String, trace: &Trace) -> Panel {
    let share = |flow: usize, from: usize| {
        let flow = trace.flows.get(flow)?;
        let capacity = trace.capacity_kbps.get(from..from + PLANE_STEPS)?;
        let capacity: f64 = capacity.iter().map(|kbps| *kbps as f64).sum();
        let step = STEP.as_nanos().unsigned_abs() / 1000;
        let within = from as u64 * step..(from + PLANE_STEPS) as u64 * step;
        // A flow that ends within the interval has only a part of its frames in it.
        if flow.at_us.last()?.saturating_add(flow.interval_us) < within.end {
            return None;
        }
        let own = flow.at_us.iter().zip(&flow.kbps);
        let own = own.filter(|(at, _)| within.contains(at));
        let own: f64 = own.map(|(_, kbps)| *kbps as f64).sum();
        let share = own * flow.interval_us as f64 / (capacity * step as f64);
        (own > 0.0 && share.is_finite()).then_some(share)
    };
    let points = (0..trace.capacity_kbps.len())
        .step_by(PLANE_STEPS)
        .filter_map(|from| Some((share(0, from)?, share(1, from)?)));
    let points: Vec<_> = points.collect();
    let first = points.first().copied().into_iter().collect();
    Panel {
        title,
        y_label: "Flow 2: share of the link".to_owned(),
        y_range: Some((0.0, 1.0)),
        series: vec![
            line("efficiency line", Kind::Path, vec![(0.0, 1.0), (1.0, 0.0)]),
            line("fairness line", Kind::Path, vec![(0.0, 0.0), (1.0, 1.0)]),
            line("trajectory", Kind::Path, points),
            line("start", Kind::Dots, first),
        ],
    }
}

/// All rounds of a case within its window, and their means.
fn estimates(case: &Case, settings: &[Setting], records: &[Record]) -> Option<Panel> {
    let from = settings.first()?.parts.window.from;
    let traces = records.iter().filter(|record| record.key.case == case.name);
    let rounds = traces
        .filter_map(|record| record.trace.as_ref())
        .flat_map(|trace| &trace.rounds)
        .filter(|round| Time::from_secs(round.second) >= from);
    let mut points: Vec<_> = rounds
        .map(|round| (round.used as f64 / 1e3, round.estimated as f64 / 1e3))
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    // The shares in use are clustered, with one cluster in each twentieth.
    let cluster = |point: &(f64, f64)| (point.0 * 20.0).round();
    let means = points
        .chunk_by(|a, b| cluster(a).total_cmp(&cluster(b)).is_eq())
        .filter_map(|some| {
            let used = mean(some.iter().map(|point| point.0))?;
            Some((used, mean(some.iter().map(|point| point.1))?))
        })
        .collect();
    (!points.is_empty()).then(|| Panel {
        title: case.title.clone(),
        y_label: "Estimated share".to_owned(),
        y_range: Some((0.0, 1.4)),
        series: vec![
            line("estimates", Kind::Dots, points),
            line("as it is", Kind::Path, vec![(0.0, 0.0), (1.0, 1.0)]),
            line("mean estimate", Kind::Path, means),
        ],
    })
}
