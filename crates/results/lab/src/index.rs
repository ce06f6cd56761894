//! `suite.toml`: the index of a suite, as it is in the file.

use std::collections::BTreeMap;

use mimosa_units::TimeDelta;
use serde::Deserialize;

use crate::figure::{Class, Quantity, Shown};
use crate::rivals::Rivals;

/// The index of a suite.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Index {
    /// Title of the suite.
    pub(crate) title: String,
    /// Purpose of the suite, in a few sentences.
    pub(crate) about: String,
    /// How its results are shown.
    pub(crate) page: PageKind,
    /// First and last seed by default.
    pub(crate) seeds: (u64, u64),
    /// The controller with which all others are compared, which always runs.
    #[serde(default)]
    pub(crate) reference: Option<String>,
    /// The controllers that run by default; if empty, all but `fixed`.
    #[serde(default)]
    pub(crate) controllers: Vec<String>,
    /// Parameters by controller, for flows without their own controller.
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
    /// A chapter for each case: what is expected, its figures, and its rates over time.
    Cases,
    /// All controllers in all cases, with their ratios to the reference.
    Scoreboard,
    /// A row for each case, with the controllers side by side, and all figures below.
    Overview,
    /// The claims of a paper with the results here, and plots in the paper's axes.
    Figure,
    /// Each controller beside each rival as matrices, and tables of the cases without rivals.
    Matrix,
}

/// A case in the index.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    /// Short name of the case, by which it is chosen.
    pub(crate) name: String,
    pub(crate) title: String,
    /// Source of the case, e.g. a section of an RFC.
    pub(crate) source: String,
    /// The result that the source expects.
    #[serde(default)]
    pub(crate) expected: Option<String>,
    /// How the scenario differs from the source.
    #[serde(default)]
    pub(crate) differs: Option<String>,
    /// Why the case cannot be simulated; without it, there is a scenario.
    #[serde(default)]
    pub(crate) not_carried: Option<String>,
    /// The scenario's file, in the suite's folder.
    #[serde(default)]
    pub(crate) file: Option<String>,
    /// The variants of the scenario that belong to the case; without it, all.
    #[serde(default)]
    pub(crate) variants: Option<Vec<String>>,
    /// The controllers that drive one more flow beside the stream, each in runs of its own, by the
    /// name of that flow.
    #[serde(default)]
    pub(crate) rivals: Rivals,
    /// The file that the scenario reads as `trace.txt`.
    #[serde(default)]
    pub(crate) trace: Option<String>,
    /// Beginning of the window: what happens before does not count.
    #[serde(default)]
    pub(crate) from: Option<TimeDelta>,
    /// End of the window: what happens at it or later does not count.
    #[serde(default)]
    pub(crate) to: Option<TimeDelta>,
    /// Beginning of the window for fairness; without it, `from`.
    #[serde(default)]
    pub(crate) fair_from: Option<TimeDelta>,
    /// End of the window for fairness; without it, `to`.
    #[serde(default)]
    pub(crate) fair_to: Option<TimeDelta>,
    /// Whether the time to converge is measured after each change.
    #[serde(default)]
    pub(crate) converges: bool,
    /// How much longer than the round trip frames may take before they are late; without it, 30 ms.
    #[serde(default)]
    pub(crate) late: Option<TimeDelta>,
}

/// A plot in the index, in the axes of the source.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Figure {
    /// Name of the plot's file.
    pub(crate) name: String,
    pub(crate) title: String,
    /// The cases of the plot, one after the other.
    pub(crate) cases: Vec<String>,
    pub(crate) shows: Shown,
    /// The lowest and the highest value shown; without it, all values.
    #[serde(default)]
    pub(crate) range: Option<(f64, f64)>,
    /// Values of the source, drawn as lines.
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

/// A claim in the index: what a source says, and when it holds here.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    /// The claim, in the source's words or nearly so.
    pub(crate) text: String,
    /// Place of the claim in the source.
    pub(crate) source: String,
    /// The source's number, in the unit of the quantity.
    #[serde(default)]
    pub(crate) paper: Option<f64>,
    pub(crate) quantity: Quantity,
    pub(crate) case: String,
    /// The variant of the case; without it, all.
    #[serde(default)]
    pub(crate) variant: Option<String>,
    /// The controllers that the claim is about, each separately.
    pub(crate) controllers: Vec<String>,
    /// The delay above which frames are slow, for quantities that need it.
    #[serde(default)]
    pub(crate) above: Option<TimeDelta>,
    /// The flows whose packets count, for quantities of packets; video without it.
    #[serde(default)]
    pub(crate) class: Option<Class>,
    /// Beginning of the part that counts; without it, the case's window.
    #[serde(default)]
    pub(crate) from: Option<TimeDelta>,
    #[serde(default)]
    pub(crate) to: Option<TimeDelta>,
    /// The shares of the link in use that count, from the lowest to the highest.
    #[serde(default)]
    pub(crate) used: Option<(f64, f64)>,
    /// Upper bound for the claim to hold; with `than`, as a multiple of the other side.
    #[serde(default)]
    pub(crate) at_most: Option<f64>,
    /// Lower bound for the claim to hold; with `than`, as a multiple of the other side.
    #[serde(default)]
    pub(crate) at_least: Option<f64>,
    /// The side with which the claim compares.
    #[serde(default)]
    pub(crate) than: Option<Than>,
}

/// The other side of a claim. Fields that are left out are those of the claim.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Than {
    /// The controllers with which to compare, each separately.
    #[serde(default)]
    pub(crate) controllers: Vec<String>,
    #[serde(default)]
    pub(crate) case: Option<String>,
    #[serde(default)]
    pub(crate) variant: Option<String>,
    #[serde(default)]
    pub(crate) class: Option<Class>,
    #[serde(default)]
    pub(crate) from: Option<TimeDelta>,
    #[serde(default)]
    pub(crate) to: Option<TimeDelta>,
    #[serde(default)]
    pub(crate) used: Option<(f64, f64)>,
}
