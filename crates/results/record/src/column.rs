//! The columns of recordings: their names, their meanings, and their values.

use std::fmt::Write;
use std::net::IpAddr;

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

/// A column of a recording with rows of type `R`.
#[derive(Debug)]
pub struct Column<R> {
    /// Name of the column, whose last word is its unit, if it has one.
    pub name: &'static str,
    /// Meaning of the column.
    pub meaning: &'static str,
    pub(crate) read: Read<R>,
}

/// How a column's value is read from a row, and thereby its type. An optional value that is missing
/// is null in the file.
#[derive(Debug)]
pub(crate) enum Read<R> {
    Integer(fn(&R) -> i64),
    OptionalInteger(fn(&R) -> Option<i64>),
    OptionalNumber(fn(&R) -> Option<f64>),
    Flag(fn(&R) -> bool),
    Text(fn(&R) -> &'static str),
    /// An address, as text.
    Address(fn(&R) -> IpAddr),
    /// The name of a queue: whether it is a forward one, and its number.
    Queue(fn(&R) -> (bool, usize)),
    /// The run's seed, which is the same in all of its rows.
    Seed,
    /// The run's variant, which is the same in all of its rows.
    Variant,
    /// The name of the flow with this number.
    Flow(fn(&R) -> usize),
}

/// A kind of row that recordings can have.
pub trait Row: Sized + 'static {
    /// Name of the rows, in the plural.
    const NAME: &'static str;
    /// The row's columns in the order of the file, in groups that several kinds of rows may share.
    const COLUMNS: &'static [&'static [Column<Self>]];

    /// All columns, one after the other.
    #[must_use]
    fn columns() -> impl Iterator<Item = &'static Column<Self>> {
        Self::COLUMNS.iter().copied().flatten()
    }

    /// The columns as a table in Markdown.
    #[must_use]
    fn describe() -> String {
        let mut text = String::from("| Column | Type | Meaning |\n| --- | --- | --- |\n");
        for column in Self::columns() {
            let kind = match column.read {
                Read::Seed | Read::Integer(_) => "integer",
                Read::OptionalInteger(_) => "integer or null",
                Read::OptionalNumber(_) => "number or null",
                Read::Flag(_) => "yes or no",
                Read::Text(_) | Read::Address(_) | Read::Queue(_) | Read::Flow(_) => "text",
                Read::Variant => "text or null",
            };
            let (name, meaning) = (column.name, column.meaning);
            let _ = writeln!(text, "| `{name}` | {kind} | {meaning} |");
        }
        text
    }
}

impl<R> Column<R> {
    const fn new(name: &'static str, meaning: &'static str, read: Read<R>) -> Self {
        Self {
            name,
            meaning,
            read,
        }
    }

    pub(crate) const SEED: Self = Self::new("seed", "Seed of the run.", Read::Seed);

    pub(crate) const VARIANT: Self = Self::new(
        "variant",
        "Variant of the scenario; null when it has none.",
        Read::Variant,
    );

    pub(crate) const fn flow(number: fn(&R) -> usize) -> Self {
        Self::new("flow", "Name of the flow.", Read::Flow(number))
    }

    pub(crate) const fn integer(
        name: &'static str,
        meaning: &'static str,
        read: fn(&R) -> i64,
    ) -> Self {
        Self::new(name, meaning, Read::Integer(read))
    }

    pub(crate) const fn optional(
        name: &'static str,
        meaning: &'static str,
        read: fn(&R) -> Option<i64>,
    ) -> Self {
        Self::new(name, meaning, Read::OptionalInteger(read))
    }

    pub(crate) const fn number(
        name: &'static str,
        meaning: &'static str,
        read: fn(&R) -> Option<f64>,
    ) -> Self {
        Self::new(name, meaning, Read::OptionalNumber(read))
    }

    pub(crate) const fn flag(
        name: &'static str,
        meaning: &'static str,
        read: fn(&R) -> bool,
    ) -> Self {
        Self::new(name, meaning, Read::Flag(read))
    }

    pub(crate) const fn text(
        name: &'static str,
        meaning: &'static str,
        read: fn(&R) -> &'static str,
    ) -> Self {
        Self::new(name, meaning, Read::Text(read))
    }

    pub(crate) const fn address(
        name: &'static str,
        meaning: &'static str,
        read: fn(&R) -> IpAddr,
    ) -> Self {
        Self::new(name, meaning, Read::Address(read))
    }

    pub(crate) const fn queue(
        name: &'static str,
        meaning: &'static str,
        number: fn(&R) -> (bool, usize),
    ) -> Self {
        Self::new(name, meaning, Read::Queue(number))
    }

    pub(crate) const fn is_optional(&self) -> bool {
        matches!(
            self.read,
            Read::OptionalInteger(_) | Read::OptionalNumber(_) | Read::Variant
        )
    }
}

/// A count, as an integer of the file.
pub(crate) fn count(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A time, in nanoseconds since the run began.
pub(crate) fn nanos(time: Time) -> i64 {
    count(time.as_nanos())
}

/// A time span, in nanoseconds.
pub(crate) fn span(time: TimeDelta) -> i64 {
    time.as_nanos()
}

/// A size in bytes.
pub(crate) fn bytes(size: Bytes) -> i64 {
    count(size.get())
}

/// A rate in bits per second.
pub(crate) fn bps(rate: Rate) -> i64 {
    count(rate.as_bps())
}
