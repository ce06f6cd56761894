//! Errors of suites.

use mimosa_scenario::ScenarioError;

/// Why a suite cannot be read or run. Each error says what is wrong, where, and what to write
/// instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SuiteError {
    /// The index or a scenario cannot be read.
    #[error("{suite}: cannot read {file}: {why}")]
    Read {
        /// Name of the suite.
        suite: String,
        /// Path of the file in the suite's folder.
        file: String,
        /// The system's error.
        why: String,
    },
    /// The index cannot be parsed.
    #[error("{suite}/suite.toml:{line}: {why}")]
    Index {
        /// Name of the suite.
        suite: String,
        /// Number of the line in the index, from one.
        line: usize,
        /// The parser's error.
        why: String,
    },
    /// A case of the index is invalid.
    #[error("{suite}/suite.toml: case `{case}`: {why}")]
    Case {
        /// Name of the suite.
        suite: String,
        /// Name of the case.
        case: String,
        /// What is wrong, and what to write instead.
        why: String,
    },
    /// A figure or a claim of the index is invalid.
    #[error("{suite}/suite.toml: {what} `{name}`: {why}")]
    Entry {
        /// Name of the suite.
        suite: String,
        /// Kind of the entry: a figure or a claim.
        what: &'static str,
        /// Name or text of the entry.
        name: String,
        /// What is wrong, and what to write instead.
        why: String,
    },
    /// A scenario is invalid.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// No controller has this name.
    #[error("there is no controller `{name}`; there is {}", mimosa_cc::NAMES.join(", "))]
    UnknownController {
        /// The name that was given.
        name: String,
    },
    /// No case has this name.
    #[error("{suite} has no case `{name}`; there is {known}")]
    UnknownCase {
        /// Name of the suite.
        suite: String,
        /// The name that was given.
        name: String,
        /// Names of all cases.
        known: String,
    },
    /// Traces were given, and no case uses one.
    #[error("{suite} has no case over a trace; leave --traces out")]
    NoTraces {
        /// Name of the suite.
        suite: String,
    },
    /// A controller from outside the program failed in a run.
    #[error("{suite}: case `{case}` with seed {seed}: {why}")]
    Failed {
        /// Name of the suite.
        suite: String,
        /// Name of the case.
        case: String,
        /// Seed of the run.
        seed: u64,
        /// The flow, and why its controller decides no more.
        why: String,
    },
    /// A case that was asked for cannot be simulated.
    #[error("{suite}: case `{name}` is not carried: {why}")]
    NotCarried {
        /// Name of the suite.
        suite: String,
        /// Name of the case.
        name: String,
        /// The reason, from the index.
        why: String,
    },
}
