//! The figures of all cases as numbers, for other programs.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::page::groups;
use crate::record::Record;
use crate::suite::{Body, PageKind, Suite};
use crate::table::{Column, FLOWS, LINK, OVERVIEW, SCOREBOARD};

/// The mean figures of one controller in one variant of a case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Means {
    /// Name of the case.
    pub case: String,
    /// Variant of the case's scenario, if it has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Name of the controller.
    pub controller: String,
    /// Number of runs over which the means are taken.
    pub runs: usize,
    /// Figures by the headers of the page's columns, where percentiles have their quantity before
    /// them. Shares are numbers from 0 to 1. Figures that no run has are left out.
    pub figures: BTreeMap<String, f64>,
}

/// The means of `records`, which are in the order of the suite's jobs: by case, then by variant,
/// then by controller.
#[must_use]
pub fn means(suite: &Suite, records: &[Record]) -> Vec<Means> {
    let mut all = Vec::new();
    for case in &suite.cases {
        let Body::Carried(settings) = &case.body else {
            continue;
        };
        let groups = groups(case, settings, records);
        all.extend(groups.map(|(setting, controller, runs)| Means {
            case: case.name.clone(),
            variant: setting.variant.clone(),
            controller: controller.to_owned(),
            runs: runs.len(),
            figures: figures(suite.page, &runs),
        }));
    }
    all
}

fn figures(page: PageKind, runs: &[&Record]) -> BTreeMap<String, f64> {
    let mut figures = BTreeMap::new();
    let own = if page == PageKind::Overview {
        OVERVIEW
    } else {
        SCOREBOARD
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
