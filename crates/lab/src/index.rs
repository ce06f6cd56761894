//! `suite.toml`: the index of a suite as it stands in the file.

use mimosa_units::TimeDelta;
use serde::Deserialize;

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
    #[serde(default)]
    pub(crate) case: Vec<Case>,
}

/// How the results of a suite are shown.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum PageKind {
    /// A chapter for each case: what it expects, its figures, its rates over time.
    Cases,
    /// All controllers over all cases, and their ratios to the reference.
    Scoreboard,
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
}
