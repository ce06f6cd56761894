//! The figures of all cases as numbers, for other programs.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::matrix::{FIGURES, Matrix};
use crate::numbers::{mean, round};
use crate::page::groups;
use crate::record::Record;
use crate::suite::{Body, Case, PageKind, Suite};
use crate::table::{ALONE, Column, FLOWS, LINK, OVERVIEW, SCOREBOARD};

/// The mean figures of one controller in one variant of a case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Means {
    /// Name of the case.
    pub case: String,
    /// Variant of the case's scenario, if it has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Name of the rival, in a case with rivals: a controller, or `TCP` and a congestion control.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rival: Option<String>,
    /// Name of the controller.
    pub controller: String,
    /// Number of runs over which the means are taken; for a controller beside itself, twice as many,
    /// because both flows of each run count.
    pub runs: usize,
    /// Figures by the headers of the page's columns, where percentiles have their quantity before
    /// them. Shares are numbers from 0 to 1. Figures that no run has are left out. With a rival,
    /// `least` and `most` of the runs stand beside the mean of a figure, and `first` and `second`
    /// are the mean shares of the runs in which the controller's flow began first, and second.
    pub figures: BTreeMap<String, f64>,
}

/// The means of `records`, which are in the order of the suite's jobs: by case, then by variant,
/// then by controller; the cells of a case with rivals by controller, then by rival.
#[must_use]
pub fn means(suite: &Suite, records: &[Record]) -> Vec<Means> {
    let mut all = Vec::new();
    for case in &suite.cases {
        let Body::Carried(settings) = &case.body else {
            continue;
        };
        if let Some(matrix) = Matrix::of(case, records) {
            all.extend(cells(case, &matrix));
            continue;
        }
        let groups = groups(case, settings, records);
        all.extend(groups.map(|(setting, controller, runs)| Means {
            case: case.name.clone(),
            variant: setting.variant.clone(),
            rival: None,
            controller: controller.to_owned(),
            runs: runs.len(),
            figures: figures(suite.page, &runs),
        }));
    }
    all
}

/// The cells of a case's matrix, row by row.
fn cells(case: &Case, matrix: &Matrix) -> Vec<Means> {
    let places = (0..matrix.rows.len())
        .flat_map(|row| (0..matrix.columns.len()).map(move |column| (row, column)));
    let cells = places.filter_map(|(row, column)| {
        let samples = matrix.cell(row, column);
        let about = matrix.columns.get(column).filter(|_| !samples.is_empty())?;
        let mut figures = BTreeMap::new();
        for (name, figure) in FIGURES {
            let Some(spread) = matrix.spread(row, column, figure) else {
                continue;
            };
            figures.insert(name.to_owned(), round(spread.mean));
            figures.insert(format!("{name} least"), round(spread.least));
            figures.insert(format!("{name} most"), round(spread.most));
        }
        for (name, first) in [("share first", true), ("share second", false)] {
            let own = samples.iter().filter(|sample| sample.is_first == first);
            let share = mean(own.map(|sample| sample.share));
            figures.extend(share.map(|share| (name.to_owned(), round(share))));
        }
        Some(Means {
            case: case.name.clone(),
            variant: about.variant.clone(),
            rival: Some(about.rival.clone()),
            controller: matrix.rows.get(row)?.clone(),
            runs: samples.len(),
            figures,
        })
    });
    cells.collect()
}

fn figures(page: PageKind, runs: &[&Record]) -> BTreeMap<String, f64> {
    let mut figures = BTreeMap::new();
    let own = match page {
        PageKind::Overview => OVERVIEW,
        PageKind::Matrix => ALONE,
        PageKind::Cases | PageKind::Scoreboard | PageKind::Figure => SCOREBOARD,
    };
    for columns in [own, FLOWS, LINK] {
        let names = columns.iter().zip(names(columns));
        figures.extend(names.filter_map(|(column, name)| Some((name, column.of(runs)?))));
    }
    figures
}

/// The columns' headers; `p95` and the like get the quantity of the mean before them.
fn names(columns: &[Column]) -> impl Iterator<Item = String> {
    let mut of = "";
    columns.iter().map(move |column| {
        let header = column.header;
        if let Some(what) = header.strip_suffix(" mean") {
            of = what;
        }
        match header {
            "p50" | "p95" | "p99" | "max" => format!("{of} {header}"),
            _ => header.to_owned(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_has_the_name_of_what_it_is_of() {
        let flows: Vec<_> = names(FLOWS).take(5).collect();
        let expected = [
            "frame mean",
            "frame p95",
            "frame p99",
            "packet mean",
            "packet p95",
        ];
        assert_eq!(flows, expected);
        let link: Vec<_> = names(LINK).take(4).collect();
        assert_eq!(link, ["used", "queue mean", "queue p95", "queue max"]);
    }
}
