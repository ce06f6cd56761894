//! A page of all controllers in all cases, compared with the reference.

use mimosa_plot::{Figure, Kind, Panel, Part, Series, Table};

use crate::numbers::mean;
use crate::page::{controllers, heading, runs};
use crate::record::Record;
use crate::suite::{Body, Case, Setting, Suite};
use crate::table::{Column, SCOREBOARD, without_empty};

/// Explanation of the ratios.
const RATIOS: &str = "the ratio to the reference, of stalls where it has more than 1 %";

/// The figures of one controller in one setting.
struct Score {
    controller: String,
    /// A value for each column.
    values: Vec<Option<f64>>,
    /// The ratio of each value to the reference's.
    ratios: Vec<Option<f64>>,
}

/// Appends the summary, the figure and the cases.
pub(crate) fn parts(suite: &Suite, records: &[Record], parts: &mut Vec<Part>) {
    let mut cases = Vec::new();
    let mut all = Vec::new();
    for case in &suite.cases {
        let Body::Carried(settings) = &case.body else {
            continue;
        };
        for setting in settings {
            let scores = scores(suite, case, setting, records);
            if scores.is_empty() {
                continue;
            }
            heading(case, &mut cases);
            cases.push(Part::Table(table(&scores)));
            all.extend(scores);
        }
    }
    parts.push(Part::Table(summary(&all)));
    parts.push(Part::Figure(figure(&all)));
    parts.extend(cases);
}

/// The figure of all cases.
pub(crate) fn overview(suite: &Suite, records: &[Record]) -> Figure {
    let mut all = Vec::new();
    for case in &suite.cases {
        if let Body::Carried(settings) = &case.body {
            let scores = |setting| scores(suite, case, setting, records);
            all.extend(settings.iter().flat_map(scores));
        }
    }
    figure(&all)
}

fn scores(suite: &Suite, case: &Case, setting: &Setting, records: &[Record]) -> Vec<Score> {
    let values = |controller: &str| {
        let runs = runs(records, case, setting, controller);
        let of = |column: &Column| column.of(&runs);
        SCOREBOARD.iter().map(of).collect::<Vec<_>>()
    };
    let reference = suite.reference.as_deref().map(values).unwrap_or_default();
    controllers(records, case, setting)
        .into_iter()
        .map(|controller| {
            let values = values(controller);
            let ratios = SCOREBOARD
                .iter()
                .zip(&values)
                .enumerate()
                .map(|(index, (column, value))| {
                    column.ratio(*value, reference.get(index).copied().flatten())
                })
                .collect();
            Score {
                controller: controller.to_owned(),
                values,
                ratios,
            }
        })
        .collect()
}

fn headers() -> Vec<String> {
    let columns = SCOREBOARD.iter().map(|column| column.header);
    ["controller"]
        .into_iter()
        .chain(columns)
        .map(str::to_owned)
        .collect()
}

/// A table of each figure, with its ratio to the reference's in brackets.
fn table(scores: &[Score]) -> Table {
    let row = |score: &Score| {
        let cells = SCOREBOARD.iter().zip(&score.values).zip(&score.ratios);
        let cells = cells.map(|((column, value), ratio)| match ratio {
            Some(ratio) => format!("{} ({ratio:.2})", column.text(*value)),
            None => column.text(*value),
        });
        [score.controller.clone()]
            .into_iter()
            .chain(cells)
            .collect()
    };
    let mut table = Table {
        title: format!("Delays in ms; in brackets {RATIOS}"),
        headers: headers(),
        rows: scores.iter().map(row).collect(),
    };
    without_empty(&mut table);
    table
}

/// A table of the mean ratios over all cases.
fn summary(all: &[Score]) -> Table {
    let mut names: Vec<_> = all.iter().map(|score| score.controller.clone()).collect();
    names.sort_unstable();
    names.dedup();
    let row = |name: String| {
        let ratios = (0..SCOREBOARD.len()).map(|column| {
            let own = all.iter().filter(|score| score.controller == name);
            mean(own.filter_map(|score| score.ratios.get(column).copied().flatten()))
        });
        let cells: Vec<_> = ratios
            .map(|ratio| ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}")))
            .collect();
        [name].into_iter().chain(cells).collect()
    };
    let mut table = Table {
        title:
            "Means over the cases of the ratios to the oracle; of stalls where it has more than 1 %"
                .to_owned(),
        headers: headers(),
        rows: names.into_iter().map(row).collect(),
    };
    without_empty(&mut table);
    table
}

/// Every case as a dot of utilisation and frame delay: a panel for each controller, with its dots
/// above those of all.
fn figure(all: &[Score]) -> Figure {
    let place = |header: &str| SCOREBOARD.iter().position(|column| column.header == header);
    let (used, delay) = (place("used"), place("p95"));
    let point = |score: &Score| {
        let at = |index: Option<usize>| score.values.get(index?).copied().flatten();
        Some((at(used)? * 100.0, at(delay)?))
    };
    let dots = |name: &str, points: Vec<(f64, f64)>| Series {
        name: name.to_owned(),
        points,
        kind: Kind::Dots,
    };
    let mut names: Vec<_> = all.iter().map(|score| score.controller.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let panel = |name: &str| {
        let own = all.iter().filter(|score| score.controller == name);
        Panel {
            title: name.to_owned(),
            y_label: "ms".to_owned(),
            y_range: Some((0.0, 300.0)),
            series: vec![
                dots("all controllers", all.iter().filter_map(point).collect()),
                dots("this one", own.filter_map(point).collect()),
            ],
        }
    };
    Figure {
        title: "Frame delay and use of the link".to_owned(),
        subtitle: "95th percentile of the frame delay; a dot for each case, at the edge where it \
                   is slower; right and below is better"
            .to_owned(),
        x_label: "Used (%)".to_owned(),
        panels: names.into_iter().map(panel).collect(),
    }
}
