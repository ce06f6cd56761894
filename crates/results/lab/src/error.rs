//! Why a suite could not be read, or nothing of it run.

use mimosa_scenario::ScenarioError;

/// Each says what is wrong, where, and what to write instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SuiteError {
    /// The index or one of its scenarios cannot be read.
    #[error("{suite}: cannot read {file}: {why}")]
    Read {
        /// The suite.
        suite: String,
        /// The file, counted from the suite's folder.
        file: String,
        /// In the system's words.
        why: String,
    },
    /// The index is no index.
    #[error("{suite}/suite.toml:{line}: {why}")]
    Index {
        /// The suite.
        suite: String,
        /// Where in the index.
        line: usize,
        /// What the parser says.
        why: String,
    },
    /// A case of the index means nothing.
    #[error("{suite}/suite.toml: case `{case}`: {why}")]
    Case {
        /// The suite.
        suite: String,
        /// The case.
        case: String,
        /// What is wrong, and what to write.
        why: String,
    },
    /// A figure or a claim of the index means nothing.
    #[error("{suite}/suite.toml: {what} `{name}`: {why}")]
    Entry {
        /// The suite.
        suite: String,
        /// A figure or a claim.
        what: &'static str,
        /// Its name or text.
        name: String,
        /// What is wrong, and what to write.
        why: String,
    },
    /// A scenario is wrong.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// No controller has this name.
    #[error("there is no controller `{name}`; there is {}", mimosa_cc::NAMES.join(", "))]
    UnknownController {
        /// The name asked for.
        name: String,
    },
    /// No case has this name.
    #[error("{suite} has no case `{name}`; there is {known}")]
    UnknownCase {
        /// The suite.
        suite: String,
        /// The name asked for.
        name: String,
        /// The names of all cases.
        known: String,
    },
    /// No case has a trace that others could take the place of.
    #[error("{suite} has no case over a trace; leave --traces out")]
    NoTraces {
        /// The suite.
        suite: String,
    },
    /// A case that is asked for is not carried.
    #[error("{suite}: case `{name}` is not carried: {why}")]
    NotCarried {
        /// The suite.
        suite: String,
        /// The case.
        name: String,
        /// The reason in the index.
        why: String,
    },
}
