//! Why settings were refused. Every variant is the writer's to mend.

use std::fmt;

use mimosa_units::{Rate, Where};

/// Who said something; the later one wins.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Origin {
    /// Nobody: it is the default.
    Default,
    /// The file.
    File(Where),
    /// This environment variable.
    Variable(String),
    /// This flag.
    Flag(String),
}

impl Origin {
    /// How much it weighs: more than all with a lower number.
    pub(crate) const fn rank(&self) -> u8 {
        match self {
            Self::Default => 0,
            Self::File(_) => 1,
            Self::Variable(_) => 2,
            Self::Flag(_) => 3,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("defaults"),
            Self::File(place) => place.fmt(f),
            Self::Variable(name) | Self::Flag(name) => f.write_str(name),
        }
    }
}

/// What is wrong with what was said, and who said it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{origin}: {problem}")]
pub struct SettingsError {
    /// Who.
    pub origin: Origin,
    /// What.
    pub problem: Problem,
}

/// What is wrong, and what to write instead.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// Not TOML.
    #[error("{0}")]
    Toml(String),
    /// A key of the file that does not exist.
    #[error("there is no key `{key}`; {mend}")]
    UnknownKey {
        /// The key with its table.
        key: String,
        /// Where it belongs, or the keys that exist.
        mend: String,
    },
    /// An environment variable that does not exist.
    #[error("there is no such variable; {mend}")]
    UnknownVariable {
        /// The nearest one, or those that exist.
        mend: String,
    },
    /// A value in place of a table.
    #[error("`{table}` is a table; write [{table}] on a line of its own and its keys below it")]
    NotATable {
        /// The table.
        table: &'static str,
    },
    /// A value of the wrong type, form or range.
    #[error("`{key}` must be {must}, not {found}")]
    Value {
        /// The key.
        key: &'static str,
        /// What it must be.
        must: String,
        /// What it is.
        found: String,
    },
    /// Two that cannot both be meant.
    #[error("`{key}` cannot stand beside `{other}` ({place}); keep one of them")]
    Exclusive {
        /// One of them.
        key: &'static str,
        /// The other.
        other: &'static str,
        /// Who said the other.
        place: Origin,
    },
    /// A lower bound above a higher one.
    #[error(
        "`{low}` of {low_rate} is above `{high}` of {high_rate} ({place}); write min_bitrate <= start_bitrate <= max_bitrate"
    )]
    Order {
        /// The key of the bound that should be lower.
        low: &'static str,
        /// Its value.
        low_rate: Rate,
        /// The key of the bound that should be higher.
        high: &'static str,
        /// Its value.
        high_rate: Rate,
        /// Who said the one that is not at fault.
        place: Origin,
    },
    /// One secret for two purposes.
    #[error("`view_token` is the same as `token`, so that whoever watches could play; change one")]
    SameToken,
    /// Parameters that are no table, or that the controller refuses.
    #[error("`{key}`: {why}")]
    Params {
        /// The key.
        key: &'static str,
        /// In the parser's or the controller's words.
        why: String,
    },
    /// A log filter that means nothing.
    #[error("`log`: {why}; write e.g. `info` or `warn,mimosa_host=debug`")]
    Log {
        /// In the filter's words.
        why: String,
    },
}
