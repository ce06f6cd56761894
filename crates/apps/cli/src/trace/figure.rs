//! Figures of traces: the rate over time, and its distribution.

use mimosa_plot::{Figure, Kind, Page, Panel, Part, Series, Table};
use mimosa_trace::{CELL, TooLong, Trace, falls, means};
use mimosa_units::{Rate, TimeDelta};

use super::files::Input;

/// A panel for the rate of each trace, and one for its round trips if it has any.
pub(super) fn over_time(inputs: &[Input]) -> Result<Figure, TooLong> {
    let mut panels = Vec::new();
    for input in inputs {
        let cells = means(&input.trace, CELL)?;
        let panel = |what: &str, y_label: &str, series| Panel {
            title: format!("{}: {what}", input.name()),
            y_label: y_label.to_owned(),
            y_range: None,
            series,
        };
        panels.push(panel("rate", "Mbit/s", rate(&cells)));
        let round_trips = round_trips(&input.trace);
        if !round_trips.points.is_empty() {
            panels.push(panel("round trip", "ms", vec![round_trips]));
        }
    }
    Ok(Figure {
        title: title(inputs),
        subtitle: format!("means over {CELL}"),
        x_label: "Time (s)".to_owned(),
        panels,
    })
}

/// A page with the tables, the rates over time and their distribution.
pub(super) fn page(inputs: &[Input], tables: &[Table]) -> Result<Page, TooLong> {
    let tables = tables.iter().cloned().map(Part::Table);
    let over_time = Figure {
        title: "Over time".to_owned(),
        ..over_time(inputs)?
    };
    let figures = [Part::Figure(over_time), Part::Figure(distribution(inputs)?)];
    Ok(Page {
        title: title(inputs),
        subtitle: String::new(),
        parts: tables.chain(figures).collect(),
    })
}

/// The share of the time at or below each rate.
fn distribution(inputs: &[Input]) -> Result<Figure, TooLong> {
    let mut series = Vec::new();
    for input in inputs {
        let mut cells = means(&input.trace, CELL)?;
        cells.sort_unstable();
        let share = |(index, rate): (usize, &Rate)| {
            (rate.as_mbps(), (index + 1) as f64 / cells.len() as f64)
        };
        series.push(Series {
            name: input.name(),
            points: cells.iter().enumerate().map(share).collect(),
            kind: Kind::Line,
        });
    }
    Ok(Figure {
        title: "Distribution".to_owned(),
        subtitle: format!("of means over {CELL}"),
        x_label: "Rate (Mbit/s)".to_owned(),
        panels: vec![Panel {
            title: "Share of the time at or below".to_owned(),
            y_label: "share".to_owned(),
            y_range: Some((0.0, 1.0)),
            series,
        }],
    })
}

fn title(inputs: &[Input]) -> String {
    match inputs {
        [only] => only.name(),
        several => format!("{} traces", several.len()),
    }
}

fn rate(cells: &[Rate]) -> Vec<Series> {
    let at = |index: usize| CELL.as_secs() * index as f64;
    let point = |(index, rate): (usize, &Rate)| (at(index), rate.as_mbps());
    let mut points: Vec<_> = cells.iter().enumerate().map(point).collect();
    // The last step reaches to the end of its cell.
    points.extend(cells.last().map(|rate| (at(cells.len()), rate.as_mbps())));
    let fallen: Vec<_> = falls(cells)
        .map(|index| (at(index), cells[index].as_mbps()))
        .collect();
    let mut series = vec![Series {
        name: "rate".to_owned(),
        points,
        kind: Kind::Steps,
    }];
    if !fallen.is_empty() {
        series.push(Series {
            name: "fell by more than 50 %".to_owned(),
            points: fallen,
            kind: Kind::Dots,
        });
    }
    series
}

fn round_trips(trace: &Trace) -> Series {
    let millis = |round_trip: Option<TimeDelta>| round_trip.map_or(f64::NAN, TimeDelta::as_millis);
    let mut points: Vec<_> = trace
        .segments
        .iter()
        .map(|segment| (segment.at.as_secs(), millis(segment.round_trip)))
        .collect();
    if points.iter().all(|(_, millis)| millis.is_nan()) {
        points.clear();
    }
    Series {
        name: "round trip".to_owned(),
        points,
        kind: Kind::Steps,
    }
}
