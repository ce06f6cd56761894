//! A page that puts the claims of a source beside the results here.

mod claim;
mod draw;
mod measured;
mod packets;
mod quantity;

use mimosa_plot::{Part, Table};
use serde::Deserialize;

pub use claim::{Claim, Verdict};
pub(crate) use quantity::Class;
pub use quantity::Quantity;

use crate::page::heading;
use crate::record::Record;
use crate::suite::{Body, Case, Suite};
use crate::table;
use crate::trace::Kept;

/// A kind of plot.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Shown {
    /// The bitrate of each frame over time, with the link's rate.
    Bitrate,
    /// The delay of each frame over time.
    Delay,
    /// The shares of the link of the first two flows, plotted against each other.
    Plane,
    /// Estimates of the link's utilisation, plotted against the utilisation.
    Estimates,
}

/// A plot in a suite.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// Name of the plot's file.
    pub name: String,
    /// Title of the plot.
    pub title: String,
    pub(crate) cases: Vec<String>,
    pub(crate) shows: Shown,
    pub(crate) range: Option<(f64, f64)>,
    /// Values of the source that are marked, with their names.
    pub(crate) marks: Vec<(String, f64)>,
}

/// What has to be kept of a case's runs for the figures and claims about it.
pub(crate) fn kept(case: &str, plots: &[Plot], claims: &[Claim]) -> Kept {
    let mut kept = Kept::default();
    let mut need = |is_estimate: bool| {
        kept.rounds |= is_estimate;
        kept.frames |= !is_estimate;
    };
    for plot in plots {
        if plot.cases.iter().any(|name| name == case) {
            need(plot.shows == Shown::Estimates);
        }
    }
    for claim in claims {
        let sides = [Some(&claim.of), claim.than.as_ref()];
        if sides.into_iter().flatten().any(|side| side.case == case) {
            need(claim.quantity.is_estimate());
        }
    }
    kept
}

/// The verdicts on all claims of `suite`.
#[must_use]
pub fn verdicts(suite: &Suite, records: &[Record]) -> Vec<Verdict> {
    let claims = suite.claims.iter();
    claims.map(|claim| claim.verdict(records)).collect()
}

/// Appends the claims, the plots and the cases.
pub(crate) fn parts(suite: &Suite, records: &[Record], parts: &mut Vec<Part>) {
    parts.push(Part::Heading(
        "What is claimed, and what came of it".to_owned(),
    ));
    parts.push(Part::Table(claims(suite, records)));
    for plot in &suite.plots {
        parts.extend(draw::figure(suite, plot, records).map(Part::Figure));
    }
    for case in &suite.cases {
        heading(case, parts);
        match &case.body {
            Body::NotCarried(why) => parts.push(Part::Text(format!("Not carried. {why}"))),
            Body::Carried(_) => parts.extend(figures(case, records).map(Part::Table)),
        }
    }
}

/// The figures of a case's flows, if any of them uses the controller that is chosen.
fn figures(case: &Case, records: &[Record]) -> Option<Table> {
    let Body::Carried(settings) = &case.body else {
        return None;
    };
    if settings.iter().all(|setting| setting.open.is_empty()) {
        return None;
    }
    let title = "Video flows; delays in ms";
    let mut figures = crate::page::table(title, table::FLOWS, case, settings, records);
    table::without_empty(&mut figures);
    Some(figures).filter(|table| !table.rows.is_empty())
}

fn claims(suite: &Suite, records: &[Record]) -> Table {
    let verdicts = verdicts(suite, records);
    let rows = suite.claims.iter().zip(verdicts).map(|(claim, verdict)| {
        let text = |value: Option<f64>| match value {
            Some(value) => claim.quantity.text(value),
            None => "-".to_owned(),
        };
        let holds = match verdict.holds {
            Some(true) => "holds here",
            Some(false) => "does not hold here",
            None => "not run",
        };
        let here = match verdict.other {
            Some(other) => format!("{}; the other {}", text(verdict.here), text(Some(other))),
            None => text(verdict.here),
        };
        let interval = match (verdict.low, verdict.high) {
            (Some(low), Some(high)) => format!("{} to {}", text(Some(low)), text(Some(high))),
            _ => "-".to_owned(),
        };
        vec![
            verdict.claim,
            verdict.source,
            format!("{} ({})", verdict.quantity, verdict.of),
            text(verdict.paper),
            here,
            interval,
            verdict.criterion,
            holds.to_owned(),
            format!("{} of {}", verdict.seeds_held, verdict.seeds),
        ]
    });
    let headers = [
        "claim",
        "source",
        "measured",
        "paper",
        "here",
        "of the seeds",
        "holds when",
        "verdict",
        "in seeds",
    ];
    Table {
        title: "A dash stands where the paper has no number".to_owned(),
        headers: headers.map(str::to_owned).to_vec(),
        rows: rows.collect(),
    }
}
