//! A page of many cases: the controllers side by side, and then all figures.

use mimosa_plot::{Part, Table};

use crate::page::{all_controllers, groups};
use crate::record::Record;
use crate::scoreboard;
use crate::suite::{Body, Case, Setting, Suite};
use crate::table::{Column, GLANCE, OVERVIEW, SHARES, without_empty};

/// Appends both tables, and the figure of the scoreboard.
pub(crate) fn parts(suite: &Suite, records: &[Record], parts: &mut Vec<Part>) {
    parts.push(Part::Table(glance(suite, records)));
    parts.push(Part::Figure(scoreboard::overview(suite, records)));
    let mut all = Table {
        title: "All figures; delays in ms".to_owned(),
        headers: headers(&["case", "controller"], OVERVIEW.iter().map(|c| c.header)),
        rows: Vec::new(),
    };
    for (case, settings) in carried(suite) {
        let rows = groups(case, settings, records).map(|(setting, controller, runs)| {
            let cells = OVERVIEW.iter().map(|column| column.text(column.of(&runs)));
            [name(case, setting), controller.to_owned()]
                .into_iter()
                .chain(cells)
                .collect()
        });
        all.rows.extend(rows);
    }
    without_empty(&mut all);
    parts.push(Part::Table(all));
}

/// A row for each case, a column for each controller.
fn glance(suite: &Suite, records: &[Record]) -> Table {
    let controllers = all_controllers(records);
    let mut rows = Vec::new();
    for case in &suite.cases {
        let about = |name: String, source: String| vec![name, case.title.clone(), source];
        let settings = match &case.body {
            Body::Carried(settings) => settings,
            Body::NotCarried(why) => {
                let mut row = about(case.name.clone(), format!("not carried: {why}"));
                row.resize(3 + controllers.len(), String::new());
                rows.push(row);
                continue;
            }
        };
        for setting in settings {
            let one = std::slice::from_ref(setting);
            let found: Vec<_> = groups(case, one, records).collect();
            if found.is_empty() {
                continue;
            }
            let cells = controllers.iter().map(|name| {
                let own = found.iter().find(|(_, controller, _)| controller == name);
                own.map_or_else(String::new, |(_, _, runs)| at_a_glance(runs))
            });
            let source = case.source.clone();
            rows.push(
                about(name(case, setting), source)
                    .into_iter()
                    .chain(cells)
                    .collect(),
            );
        }
    }
    let named = |columns: &[Column]| {
        let names: Vec<_> = columns.iter().map(|column| column.header).collect();
        names.join(", ")
    };
    Table {
        title: format!(
            "At a glance: {}, and where there are several flows {}; delays in ms",
            named(GLANCE),
            named(SHARES)
        ),
        headers: headers(&["case", "title", "source"], controllers.into_iter()),
        rows,
    }
}

/// The figures in one cell.
fn at_a_glance(runs: &[&Record]) -> String {
    let always = GLANCE.iter().map(|column| column.text(column.of(runs)));
    let shares = SHARES.iter().filter_map(|column| {
        let value = column.of(runs)?;
        Some(column.text(Some(value)))
    });
    always.chain(shares).collect::<Vec<_>>().join(" ")
}

fn carried(suite: &Suite) -> impl Iterator<Item = (&Case, &[Setting])> {
    suite.cases.iter().filter_map(|case| match &case.body {
        Body::Carried(settings) => Some((case, settings.as_slice())),
        Body::NotCarried(_) => None,
    })
}

/// Name of the case, with the variant's if there are several.
fn name(case: &Case, setting: &Setting) -> String {
    match (&case.body, &setting.variant) {
        (Body::Carried(settings), Some(variant)) if settings.len() > 1 => {
            format!("{}, {variant}", case.name)
        }
        _ => case.name.clone(),
    }
}

fn headers<'a>(first: &[&'a str], others: impl Iterator<Item = &'a str>) -> Vec<String> {
    let first = first.iter().copied();
    first.chain(others).map(str::to_owned).collect()
}
