//! `suite.toml`: the index of a suite as it stands in the file.

use std::collections::BTreeMap;

use mimosa_units::TimeDelta;
use serde::Deserialize;

use crate::figure::{Quantity, Shown};

/// The whole index.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Index {
    /// What the suite is called.
    pub(crate) title: String,
    /// What it is for, in a few sentences.
    pub(crate) about: String,
    /// How its results are shown.
    pub(crate) page: PageKind,
    /// First and last seed when none are asked for.
    pub(crate) seeds: (u64, u64),
    /// The controller that all others are compared with; it always runs.
    #[serde(default)]
    pub(crate) reference: Option<String>,
    /// The controllers that run when none are asked for; without it all but `fixed`.
    #[serde(default)]
    pub(crate) controllers: Vec<String>,
    /// Parameters by controller, where it takes the place of those of flows without any.
    #[serde(default)]
    pub(crate) params: BTreeMap<String, toml::Table>,
    #[serde(default)]
    pub(crate) case: Vec<Case>,
    #[serde(default)]
    pub(crate) figure: Vec<Figure>,
    #[serde(default)]
    pub(crate) claim: Vec<Claim>,
}

/// How the results of a suite are shown.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum PageKind {
    /// A chapter for each case: what it expects, its figures, its rates over time.
    Cases,
    /// All controllers over all cases, and their ratios to the reference.
    Scoreboard,
    /// A row for each case, with the controllers side by side, and all figures below.
    Overview,
    /// Claims of a paper with what came of them here, and plots in its axes.
    Figure,
}

/// One case.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    /// Its short name, by which it is chosen.
    pub(crate) name: String,
    pub(crate) title: String,
    /// Where it comes from, e.g. a section of an RFC.
    pub(crate) source: String,
    /// What the source expects.
    #[serde(default)]
    pub(crate) expected: Option<String>,
    /// In what the scenario is not as in the source.
    #[serde(default)]
    pub(crate) differs: Option<String>,
    /// Why there is no scenario.
    #[serde(default)]
    pub(crate) not_carried: Option<String>,
    /// The scenario, in the suite's folder.
    #[serde(default)]
    pub(crate) file: Option<String>,
    /// Those of its variants that belong to the case; without it all.
    #[serde(default)]
    pub(crate) variants: Option<Vec<String>>,
    /// What the scenario reads when it reads `trace.txt`.
    #[serde(default)]
    pub(crate) trace: Option<String>,
    /// What happens before does not count.
    #[serde(default)]
    pub(crate) from: Option<TimeDelta>,
    /// What happens from then on does not count.
    #[serde(default)]
    pub(crate) to: Option<TimeDelta>,
    /// Fairness counts from here on; without it from `from`.
    #[serde(default)]
    pub(crate) fair_from: Option<TimeDelta>,
    /// And to here.
    #[serde(default)]
    pub(crate) fair_to: Option<TimeDelta>,
    /// Whether the time to converge is measured after each change.
    #[serde(default)]
    pub(crate) converges: bool,
    /// Frames that take so much more than the round trip are late; without it 30 ms.
    #[serde(default)]
    pub(crate) late: Option<TimeDelta>,
}

/// A plot in the axes of the source.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Figure {
    /// What its file is called.
    pub(crate) name: String,
    pub(crate) title: String,
    /// The cases it shows, one after the other.
    pub(crate) cases: Vec<String>,
    pub(crate) shows: Shown,
    /// The lowest and highest value shown; without it all.
    #[serde(default)]
    pub(crate) range: Option<(f64, f64)>,
    /// Lines of the source's own values.
    #[serde(default)]
    pub(crate) mark: Vec<Mark>,
}

/// A value of the source, drawn as a line.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mark {
    pub(crate) name: String,
    pub(crate) value: f64,
}

/// What a source says, and when it holds here.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    /// In its words, or nearly.
    pub(crate) text: String,
    /// Where it says so.
    pub(crate) source: String,
    /// The source's own number, in the quantity's unit.
    #[serde(default)]
    pub(crate) paper: Option<f64>,
    pub(crate) quantity: Quantity,
    pub(crate) case: String,
    /// Without it all variants of the case.
    #[serde(default)]
    pub(crate) variant: Option<String>,
    /// Of which it is claimed, of each alone.
    pub(crate) controllers: Vec<String>,
    /// The delay that counts as long.
    #[serde(default)]
    pub(crate) above: Option<TimeDelta>,
    /// The part of the run that counts; without it the case's.
    #[serde(default)]
    pub(crate) from: Option<TimeDelta>,
    #[serde(default)]
    pub(crate) to: Option<TimeDelta>,
    /// The shares of the link in use that count.
    #[serde(default)]
    pub(crate) used: Option<(f64, f64)>,
    /// It holds up to here, or with `than` below so many times the other.
    #[serde(default)]
    pub(crate) at_most: Option<f64>,
    /// It holds from here on, or with `than` above so many times the other.
    #[serde(default)]
    pub(crate) at_least: Option<f64>,
    /// What it is compared with.
    #[serde(default)]
    pub(crate) than: Option<Than>,
}

/// What a claim compares with. What is left out is as in the claim.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Than {
    /// Each alone.
    #[serde(default)]
    pub(crate) controllers: Vec<String>,
    #[serde(default)]
    pub(crate) case: Option<String>,
    #[serde(default)]
    pub(crate) variant: Option<String>,
    #[serde(default)]
    pub(crate) from: Option<TimeDelta>,
    #[serde(default)]
    pub(crate) to: Option<TimeDelta>,
    #[serde(default)]
    pub(crate) used: Option<(f64, f64)>,
}
