//! The row of a session in the data set.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How a session ended.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// All streams ran to their end.
    Done,
    /// A stream did not start, or not end as planned.
    Failed,
}

/// A session in the data set.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Name of the session.
    pub id: String,
    /// Number of the block, counted from one.
    pub block: u32,
    /// Name of the path.
    pub path: String,
    /// Name of the test.
    pub test: String,
    /// Name of the arm.
    pub arm: String,
    /// When the session started by the driving machine's clock, in seconds since 1970 in UTC.
    pub started: u64,
    /// How the session ended.
    pub outcome: Outcome,
    /// Why the session failed.
    pub cause: Option<String>,
    /// The figures, by the names of [`METRICS`](crate::METRICS); one that could not be measured is
    /// not there.
    pub figures: BTreeMap<String, f64>,
}
