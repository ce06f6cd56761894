//! Why a key of a file was refused. Every variant is the author's to mend.

use std::ops::Range;

use mimosa_units::{Bytes, Rate, TimeDelta, shortened};

use crate::queue::QueueConfig;

/// Longest name of a flow, a class or a variant, in characters: a table has a column for each.
pub(super) const LONGEST_NAME: usize = 64;

/// What is wrong with a key, and where in the file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{problem}")]
pub struct KeyError {
    /// Where: bytes of the file, counted from its beginning.
    pub at: Range<usize>,
    /// What.
    pub problem: KeyProblem,
}

/// What is wrong with a key, and what to write instead.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyProblem {
    /// An unknown key, or a value of the wrong type or unit, in the words of serde and of the
    /// units.
    #[error("{0}")]
    Form(String),
    /// No queue of this kind exists.
    #[error(
        "there is no queue `{}`; there is {}",
        shortened(kind),
        QueueConfig::NAMES.join(", ")
    )]
    UnknownQueue {
        /// The kind.
        kind: String,
    },
    /// A key that means nothing for this kind of queue.
    #[error(
        "`{}` means nothing for a queue of kind \"{}\", which has {known}",
        shortened(key),
        shortened(queue)
    )]
    KeyNotForQueue {
        /// The key.
        key: String,
        /// The kind.
        queue: String,
        /// The keys that it has.
        known: String,
    },
    /// A queue that cannot hold a packet.
    #[error(
        "the queue holds {limit}, less than one packet of {packet}, so nothing would pass; raise `limit` to {packet} or more"
    )]
    QueueBelowPacket {
        /// What it holds.
        limit: Bytes,
        /// The largest packet of the scenario.
        packet: Bytes,
    },
    /// A queue that cannot hold a packet at the link's rate.
    #[error(
        "a queue of {limit} at {rate} holds less than one packet of {packet}, so nothing would pass; raise `limit` to {needs} or more"
    )]
    QueueTimeBelowPacket {
        /// What it holds.
        limit: TimeDelta,
        /// The link's lowest rate above zero.
        rate: Rate,
        /// The largest packet of the scenario.
        packet: Bytes,
        /// What would be enough.
        needs: TimeDelta,
    },
    /// A limit that is none.
    #[error(
        "`{}` is no limit of a queue; write a size \"500kB\", a time \"300ms\", or a number \"250packets\"",
        shortened(text)
    )]
    BadLimit {
        /// The text as it stood.
        text: String,
    },
    /// Classes that are no tree.
    #[error("{0}")]
    Classes(String),
    /// A name that nothing has.
    #[error("there is no {what} `{}`; there is {known}", shortened(name))]
    UnknownName {
        /// What was named.
        what: &'static str,
        /// The name.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// A key that means nothing for this kind.
    #[error("`{key}` means nothing for {kind}; remove it")]
    KeyNotFor {
        /// The key.
        key: &'static str,
        /// What it was given to.
        kind: &'static str,
    },
    /// A key that must be there.
    #[error("`{key}` is missing; {mend}")]
    Missing {
        /// The key.
        key: &'static str,
        /// What to write.
        mend: &'static str,
    },
    /// Two keys that exclude each other.
    #[error("`{one}` and `{other}` exclude each other; keep one")]
    Exclusive {
        /// One of them.
        one: &'static str,
        /// The other.
        other: &'static str,
    },
    /// A value outside its range.
    #[error("`{key}` must be {must}")]
    OutOfRange {
        /// The key.
        key: &'static str,
        /// What it must be.
        must: &'static str,
    },
    /// Two flows, two classes or two variants of one name.
    #[error("the name `{}` is taken; give each its own", shortened(name))]
    NameTaken {
        /// The name.
        name: String,
    },
    /// A name that no table has room for, or that a terminal would obey.
    #[error(
        "`{}` cannot be a name; write up to {LONGEST_NAME} characters on one line, without control characters",
        shortened(name)
    )]
    BadName {
        /// The name.
        name: String,
    },
}

impl KeyProblem {
    /// Refuses a `name` that tables and messages could not show.
    ///
    /// # Errors
    ///
    /// [`KeyProblem::BadName`].
    pub fn check_name(name: &str) -> Result<(), Self> {
        if name.chars().count() > LONGEST_NAME || name.contains(char::is_control) {
            let name = name.to_owned();
            return Err(Self::BadName { name });
        }
        Ok(())
    }

    /// The problem of a key that is not `known`, in the words that serde has for a struct.
    pub(super) fn unknown_field(key: &str, known: &[&str]) -> Self {
        let quoted: Vec<_> = known.iter().map(|key| format!("`{key}`")).collect();
        let expected = match quoted.as_slice() {
            [one, other] => format!("{one} or {other}"),
            _ => format!("one of {}", quoted.join(", ")),
        };
        Self::Form(format!("unknown field `{key}`, expected {expected}"))
    }
}
