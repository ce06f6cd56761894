//! Why settings were refused. Every variant is a mistake of whoever wrote the settings.

use std::fmt;
use std::net::IpAddr;

use mimosa_units::{Rate, Where};

/// Where a value comes from. Of two origins, the later one in this list wins.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Origin {
    /// The default.
    Default,
    /// A line of the settings file.
    File(Where),
    /// The environment variable of this name.
    Variable(String),
    /// This flag of the command line.
    Flag(String),
}

impl Origin {
    /// Rank of the origin: values of a higher rank win.
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

/// A problem with a value, and the value's origin.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{origin}: {problem}")]
pub struct SettingsError {
    /// The origin of the value.
    pub origin: Origin,
    /// What is wrong with the value.
    pub problem: Problem,
}

/// What is wrong with a value, and what to write instead.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file is not TOML.
    #[error("{0}")]
    Toml(String),
    /// The file has a key that does not exist.
    #[error("there is no key `{key}`; {mend}")]
    UnknownKey {
        /// The key with its table.
        key: String,
        /// The place where the key belongs, or the keys that exist.
        mend: String,
    },
    /// An environment variable has the prefix `MIMOSA_`, but does not exist.
    #[error("there is no such variable; {mend}")]
    UnknownVariable {
        /// The most similar variable, or all that exist.
        mend: String,
    },
    /// The file has a value in place of a table.
    #[error("`{table}` is a table; write [{table}] on a line of its own and its keys below it")]
    NotATable {
        /// Name of the table.
        table: &'static str,
    },
    /// A value has the wrong type, form or range.
    #[error("`{key}` must be {must}, not {found}")]
    Value {
        /// The key.
        key: &'static str,
        /// What the value must be.
        must: String,
        /// What the value is.
        found: String,
    },
    /// Two keys exclude each other.
    #[error("`{key}` cannot stand beside `{other}` ({place}); keep one of them")]
    Exclusive {
        /// One of the two keys.
        key: &'static str,
        /// The other key.
        other: &'static str,
        /// Origin of the other key's value.
        place: Origin,
    },
    /// A key has no meaning without another one.
    #[error("`{key}` has no meaning without `{other}`; set both, or neither")]
    Alone {
        /// The key that is set.
        key: &'static str,
        /// The key that is missing.
        other: &'static str,
    },
    /// An authority is to be asked whose terms nobody has agreed to.
    #[error(
        "`acme` has names, and `acme_terms` is `off`; read the terms of service that {directory} names, and write `acme_terms = \"on\"` if you agree"
    )]
    Terms {
        /// URL of the authority's directory.
        directory: String,
    },
    /// A lower bound is above a higher one.
    #[error(
        "`{low}` of {low_rate} is above `{high}` of {high_rate} ({place}); write min_bitrate <= start_bitrate <= max_bitrate"
    )]
    Order {
        /// The key of the bound that should be lower.
        low: &'static str,
        /// Value of the bound that should be lower.
        low_rate: Rate,
        /// The key of the bound that should be higher.
        high: &'static str,
        /// Value of the bound that should be higher.
        high_rate: Rate,
        /// Origin of the bound that the error is not about.
        place: Origin,
    },
    /// Without tokens, everybody who reaches the address could play.
    #[error(
        "`token` is `off`, and `bind` has {address}, which other machines reach; leave one of them out"
    )]
    OpenBeyond {
        /// The address that is not a loopback one.
        address: IpAddr,
    },
    /// The two tokens are the same.
    #[error("`view_token` is the same as `token`, so that whoever watches could play; change one")]
    SameToken,
    /// The controller from outside the program does not begin.
    #[error("{why}")]
    Outside {
        /// The reason, and what to write instead.
        why: String,
    },
    /// Parameters are not a table, or the controller refuses them.
    #[error("`{key}`: {why}")]
    Params {
        /// The key.
        key: &'static str,
        /// The reason in the parser's or the controller's words.
        why: String,
    },
    /// The log filter is invalid.
    #[error("`log`: {why}; write e.g. `info` or `warn,mimosa_host=debug`")]
    Log {
        /// The reason in the words of the filter's parser.
        why: String,
    },
}
