//! Why a key of a file was refused. Every problem is a mistake of the file's author.

use std::ops::Range;

use mimosa_units::{Bytes, Rate, TimeDelta, shortened};

use crate::queue::QueueConfig;

/// Length of the longest name of a flow, a class or a variant, in characters: tables show each
/// name in a column.
pub(super) const LONGEST_NAME: usize = 64;

/// A mistake in a key of a file, with its place.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{problem}")]
pub struct KeyError {
    /// Place of the mistake: bytes of the file, counted from its beginning.
    pub at: Range<usize>,
    /// The mistake.
    pub problem: KeyProblem,
}

/// A mistake in a key. Its message says what to write instead.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyProblem {
    /// A key is unknown or missing, or a value has the wrong type or unit. The text is the
    /// message of serde or of the units.
    #[error("{0}")]
    Form(String),
    /// No queue of this kind exists.
    #[error(
        "there is no queue `{}`; there is {}",
        shortened(kind),
        QueueConfig::NAMES.join(", ")
    )]
    UnknownQueue {
        /// The kind that the file names.
        kind: String,
    },
    /// The key means nothing for this kind of thing.
    #[error(
        "`{}` means nothing for a {thing} of kind \"{}\", which has {known}",
        shortened(key),
        shortened(kind)
    )]
    KeyNotForKind {
        /// The key in the file.
        key: String,
        /// The word for the thing.
        thing: &'static str,
        /// The kind of the thing.
        kind: String,
        /// The keys of such a thing, separated by commas.
        known: String,
    },
    /// The queue cannot hold the largest packet.
    #[error(
        "the queue holds {limit}, less than one packet of {packet}, so nothing would pass; raise `limit` to {packet} or more"
    )]
    QueueBelowPacket {
        /// The limit of the queue.
        limit: Bytes,
        /// Size of the packet that the queue must be able to hold.
        packet: Bytes,
    },
    /// The key's size is below that of the largest packet, which could never leave.
    #[error(
        "`{key}` is {size}, less than one packet of {packet}, so nothing would pass; raise it to {packet} or more"
    )]
    SizeBelowPacket {
        /// Name of the key.
        key: &'static str,
        /// The key's size.
        size: Bytes,
        /// Size of the largest packet.
        packet: Bytes,
    },
    /// The queue has a limit in time, in which the link cannot send the largest packet.
    #[error(
        "a queue of {limit} at {rate} holds less than one packet of {packet}, so nothing would pass; raise `limit` to {needs} or more"
    )]
    QueueTimeBelowPacket {
        /// The limit of the queue.
        limit: TimeDelta,
        /// The link's lowest rate above zero.
        rate: Rate,
        /// Size of the packet that the queue must be able to hold.
        packet: Bytes,
        /// The shortest time that would be enough.
        needs: TimeDelta,
    },
    /// The text is not a limit of a queue.
    #[error(
        "`{}` is no limit of a queue; write a size \"500kB\", a time \"300ms\", or a number \"250packets\"",
        shortened(text)
    )]
    BadLimit {
        /// The text in the file.
        text: String,
    },
    /// The classes of the file are not a valid tree. The text says why.
    #[error("{0}")]
    Classes(String),
    /// The name is not the name of any such thing.
    #[error("there is no {what} `{}`; there is {known}", shortened(name))]
    UnknownName {
        /// The kind of thing that the file names.
        what: &'static str,
        /// The name in the file.
        name: String,
        /// The names that exist, separated by commas.
        known: String,
    },
    /// The key means nothing for the thing to which it was given.
    #[error("`{key}` means nothing for {kind}; remove it")]
    KeyNotFor {
        /// Name of the key.
        key: &'static str,
        /// The thing to which the key was given.
        kind: &'static str,
    },
    /// A required key is missing.
    #[error("`{key}` is missing; {mend}")]
    Missing {
        /// Name of the key.
        key: &'static str,
        /// What to write in the file.
        mend: &'static str,
    },
    /// Two keys exclude each other.
    #[error("`{one}` and `{other}` exclude each other; keep one")]
    Exclusive {
        /// One of the two keys.
        one: &'static str,
        /// The other key.
        other: &'static str,
    },
    /// The number is outside its range.
    #[error("`{key}` must be a number from {least} to {most}")]
    NumberOutOfRange {
        /// Name of the key.
        key: &'static str,
        /// The least number.
        least: String,
        /// The largest number.
        most: String,
    },
    /// The value of the key is outside its range.
    #[error("`{key}` must be {must}")]
    OutOfRange {
        /// Name of the key.
        key: &'static str,
        /// What the value must be, in words.
        must: &'static str,
    },
    /// Two flows, two classes or two variants have the same name.
    #[error("the name `{}` is taken; give each its own", shortened(name))]
    NameTaken {
        /// The name in the file.
        name: String,
    },
    /// The name is too long for the tables, or has control characters, which a terminal may obey.
    #[error(
        "`{}` cannot be a name; write up to {LONGEST_NAME} characters on one line, without control characters",
        shortened(name)
    )]
    BadName {
        /// The name in the file.
        name: String,
    },
}

impl KeyProblem {
    /// Refuses a `name` that is longer than 64 characters or has control characters, since
    /// tables and messages show it.
    ///
    /// # Errors
    ///
    /// [`KeyProblem::BadName`] for such a name.
    pub fn check_name(name: &str) -> Result<(), Self> {
        if name.chars().count() > LONGEST_NAME || name.contains(char::is_control) {
            let name = name.to_owned();
            return Err(Self::BadName { name });
        }
        Ok(())
    }

    /// The problem of a key that is not `known`, with the message that serde gives for the
    /// fields of a struct.
    pub(super) fn unknown_field(key: &str, known: &[&str]) -> Self {
        let quoted: Vec<_> = known.iter().map(|key| format!("`{key}`")).collect();
        let expected = match quoted.as_slice() {
            [one, other] => format!("{one} or {other}"),
            _ => format!("one of {}", quoted.join(", ")),
        };
        Self::Form(format!("unknown field `{key}`, expected {expected}"))
    }
}
