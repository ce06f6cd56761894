//! Why a campaign file was refused.

use mimosa_units::{Where, one_line};

/// Length of the longest message, in characters: room for the mistake and a list of valid values.
const LONGEST: usize = 2_000;

/// A mistake in a campaign file, with its place.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{place}: {}", one_line(&problem.to_string(), LONGEST))]
pub struct CampaignError {
    /// Place of the mistake.
    pub place: Where,
    /// The mistake.
    pub problem: Problem,
}

/// A mistake in a campaign file. Its message says what to write instead.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Problem {
    /// The file is not TOML, a key is unknown or missing, or a value has the wrong type or unit.
    #[error("{0}")]
    Toml(String),
    /// A name has characters that could not be part of a file's name.
    #[error(
        "`{0}` cannot be a name; write 1 to 40 letters, digits, `-` and `_`, a letter or digit first"
    )]
    BadName(String),
    /// Two things of one kind have the same name.
    #[error("there are two {what}s called `{name}`; give each a name of its own")]
    Twice {
        /// The kind of thing.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A name refers to nothing.
    #[error("there is no {what} `{name}`; there is {known}")]
    Unknown {
        /// The kind of thing.
        what: &'static str,
        /// The name.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// A list that needs an entry is empty.
    #[error("there is no {0}; add a `[[{0}]]`")]
    None(&'static str),
    /// A machine says more than one way of running commands there.
    #[error(
        "the machine `{0}` has several of `ssh`, `netns` and `command`; keep one, or none for this machine itself"
    )]
    SeveralWays(String),
    /// A value is outside its bounds.
    #[error("`{key}` is {found}; write {expected}")]
    Bounds {
        /// The key.
        key: &'static str,
        /// The value.
        found: String,
        /// What may be written.
        expected: &'static str,
    },
    /// A key has no meaning beside another one.
    #[error("`{key}` means nothing {when}; remove it")]
    Meaningless {
        /// The key.
        key: &'static str,
        /// Where it means nothing.
        when: &'static str,
    },
}
