//! Links over time: parses, edits and describes trace files, which hold a link's rate, delay and
//! loss, and makes traces from models.
//!
//! There are two formats, which are told apart by content:
//! - *Mahimahi*: one integer a line, the millisecond at which one packet of
//!   1500 bytes may leave; equal lines are several packets in that millisecond,
//!   and the file repeats after its last line.
//! - *Rows*: `seconds Mbit/s [RTTms [loss]]`, for instance `0.015 20.59 14.0ms 0.02`.
//!   A last line with a time alone says when the trace ends.
//!
//! Empty lines and lines that begin with `#` are ignored.
//!
//! [`parse`] reads both and [`write`](write()) writes them; [`Trace::cut`] and
//! [`Trace::scale`] change a trace, [`Statistics::of`] describes it, and
//! [`Model`] makes one.

mod edit;
mod mahimahi;
mod model;
mod random;
mod rows;
mod statistics;
mod write;

use mimosa_units::{Rate, TimeDelta, shortened};

pub use edit::EditError;
pub use model::{Model, ModelError, Parameter};
pub use statistics::{
    CELL, LAGS, LONGEST, OUTAGE_CELLS, Outages, PERCENTILES, Statistics, TooLong, falls, means,
};
pub use write::{Format, WriteError, write};

/// A link's properties from one point in time on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// When the segment begins, from the beginning of the trace.
    pub at: TimeDelta,
    /// Rate of the link; zero for an outage.
    pub rate: Rate,
    /// Round-trip propagation delay, if the trace has it.
    pub round_trip: Option<TimeDelta>,
    /// Share of packets lost, from 0 to 1, if the trace has it.
    pub loss: Option<f64>,
}

/// A whole trace, which repeats from its beginning when it ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// The segments in order of time. The first begins at zero, and neighbours differ.
    pub segments: Vec<Segment>,
    /// Length of the trace, which is longer than the last segment's beginning.
    pub length: TimeDelta,
    /// Lines that were not taken literally, and why.
    pub notes: Vec<Note>,
}

impl Trace {
    /// Each segment with its duration.
    pub fn spans(&self) -> impl Iterator<Item = (&Segment, TimeDelta)> {
        let ends = self.segments.iter().skip(1).map(|segment| segment.at);
        self.segments
            .iter()
            .zip(ends.chain([self.length]))
            .map(|(segment, end)| (segment, (end - segment.at).max(TimeDelta::ZERO)))
    }

    /// The mean rate over the whole trace.
    #[must_use]
    pub fn mean(&self) -> Rate {
        let passed: f64 = self
            .spans()
            .map(|(segment, lasts)| segment.rate.as_mbps() * lasts.as_secs())
            .sum();
        Rate::from_mbps(passed / self.length.as_secs())
    }
}

/// A remark on a line that was not taken literally.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Note {
    /// Number of the line, from one.
    pub line: usize,
    /// What was done about the line.
    pub text: String,
}

/// Why a text is not a trace.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct TraceError {
    /// Number of the line, from one.
    pub line: usize,
    /// What is wrong with the line.
    pub problem: Problem,
}

/// What is wrong with a trace, and what to write instead.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// A field of a row is not a number of its kind.
    #[error(
        "`{}` is no {field}; a row is `seconds Mbit/s [RTTms [loss]]`, e.g. `0.015 20.59 14.0ms 0.02`",
        shortened(text)
    )]
    BadField {
        /// What the field should be.
        field: &'static str,
        /// The field as it was written.
        text: String,
    },
    /// A row has too few or too many fields.
    #[error("a row has 2 to 4 fields, `seconds Mbit/s [RTTms [loss]]`, but this one has {found}")]
    FieldCount {
        /// Number of fields in the row.
        found: usize,
    },
    /// A Mahimahi line is not a whole number of milliseconds.
    #[error(
        "`{}` is no whole number of milliseconds; a Mahimahi trace has one such number a line",
        shortened(text)
    )]
    NotMillis {
        /// The line as it was written.
        text: String,
    },
    /// A Mahimahi line is later than any recording.
    #[error(
        "`{}` is later than {most} ms, a day; a Mahimahi trace counts milliseconds from zero, and repeats",
        shortened(text)
    )]
    TooLate {
        /// The line as it was written.
        text: String,
        /// The latest time that is allowed, in milliseconds.
        most: u64,
    },
    /// A Mahimahi line is earlier than the one before it.
    #[error(
        "{millis} comes after {before}; a Mahimahi trace never goes back, sort its lines (`sort -n`)"
    )]
    GoesBack {
        /// Time of this line, in milliseconds.
        millis: u64,
        /// Time of the line before, in milliseconds.
        before: u64,
    },
    /// The last line is a time alone that is not after the rows.
    #[error(
        "the trace ends at {end} s, but its last row begins at {last} s; let it end later, or leave the line out"
    )]
    EndsEarly {
        /// Time at which the trace should end, in seconds.
        end: f64,
        /// Time at which the last row begins, in seconds.
        last: f64,
    },
    /// No line has content.
    #[error("the trace is empty; give it at least two rows or one millisecond above zero")]
    Empty,
    /// The rate is zero throughout.
    #[error(
        "the rate is zero throughout, so nothing would ever pass; give at least one line a rate"
    )]
    NeverPasses,
    /// The trace ends where it begins.
    #[error("the trace has no length, so it cannot repeat; give it two different times")]
    NoLength,
}

/// The lines with content, with their numbers.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line.trim()))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

/// Parses a trace of either format.
///
/// # Errors
///
/// [`TraceError`] with the line that cannot be used, and why.
pub fn parse(text: &str) -> Result<Trace, TraceError> {
    let Some(format) = Format::of(text) else {
        return Err(TraceError {
            line: 1,
            problem: Problem::Empty,
        });
    };
    let trace = match format {
        Format::Mahimahi => mahimahi::parse(lines(text))?,
        Format::Rows => rows::parse(lines(text))?,
    };
    if trace.segments.iter().all(|s| s.rate == Rate::ZERO) {
        return Err(TraceError {
            line: 1,
            problem: Problem::NeverPasses,
        });
    }
    Ok(trace)
}

/// Adds a segment, unless it equals the last one.
fn push(segments: &mut Vec<Segment>, segment: Segment) {
    let same = segments.last().is_some_and(|last| {
        (last.rate, last.round_trip, last.loss) == (segment.rate, segment.round_trip, segment.loss)
    });
    if !same {
        segments.push(segment);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> (usize, Problem) {
        let error = parse(text).unwrap_err();
        (error.line, error.problem)
    }

    #[test]
    fn mahimahi_opportunities_become_a_rate_per_millisecond() {
        let trace = parse("1\n1\n3\n4\n").unwrap();
        let rates: Vec<_> = trace
            .segments
            .iter()
            .map(|s| (s.at.as_millis(), s.rate.as_mbps()))
            .collect();
        // The fourth millisecond is the zeroth of the next repetition.
        assert_eq!(rates, [(0.0, 12.0), (1.0, 24.0), (2.0, 0.0), (3.0, 12.0)]);
        assert_eq!(trace.length, TimeDelta::from_millis(4));
    }

    #[test]
    fn rows_carry_delay_and_loss() {
        let trace = parse("# made\n0.000 20.59 14.0ms 0.00\n\n0.015 10 13.0ms 0.02\n").unwrap();
        assert_eq!(trace.segments.len(), 2);
        assert_eq!(trace.segments[1].rate, Rate::from_kbps(10_000));
        assert_eq!(
            trace.segments[1].round_trip,
            Some(TimeDelta::from_millis(13))
        );
        assert_eq!(trace.segments[1].loss, Some(0.02));
        assert_eq!(trace.length, TimeDelta::from_millis(30));
        assert_eq!(trace.notes, []);
    }

    #[test]
    fn a_jump_in_time_takes_the_usual_step_and_says_so() {
        let trace = parse("10 5\n10.2 6\n10.4 7\n900 8\n900.2 9\n3 1\n").unwrap();
        let starts: Vec<_> = trace.segments.iter().map(|s| s.at.as_millis()).collect();
        assert_eq!(starts, [0.0, 200.0, 400.0, 600.0, 800.0, 1000.0]);
        assert_eq!(trace.length, TimeDelta::from_millis(1200));
        let lines: Vec<_> = trace.notes.iter().map(|note| note.line).collect();
        assert_eq!(lines, [4, 6]);
    }

    #[test]
    fn a_last_line_of_a_time_alone_is_the_end() {
        let trace = parse("10 5\n10.2 6\n10.4 7\n60 8\n61.5\n").unwrap();
        let starts: Vec<_> = trace.segments.iter().map(|s| s.at.as_millis()).collect();
        assert_eq!(starts, [0.0, 200.0, 400.0, 50_000.0]);
        assert_eq!(trace.length, TimeDelta::from_millis(51_500));
        assert_eq!(trace.notes, []);
        let early = Problem::EndsEarly {
            end: 0.5,
            last: 1.0,
        };
        assert_eq!(problem("0 5\n1 6\n0.5\n"), (3, early));
        assert_eq!(
            problem("0 5\n0.5\n1 6\n"),
            (2, Problem::FieldCount { found: 1 })
        );
    }

    #[test]
    fn a_loss_beyond_its_bounds_is_bounded_and_noted() {
        let trace = parse("1640952795.2 5 9ms -0.03\n1640952795.4 5 9ms 1.5\n").unwrap();
        let losses: Vec<_> = trace.segments.iter().map(|s| s.loss).collect();
        assert_eq!(losses, [Some(0.0), Some(1.0)]);
        let lines: Vec<_> = trace.notes.iter().map(|note| note.line).collect();
        assert_eq!(lines, [1, 2]);
    }

    #[test]
    fn every_broken_line_is_named() {
        assert_eq!(problem("").1, Problem::Empty);
        assert_eq!(problem("0 0\n1 0\n").1, Problem::NeverPasses);
        assert_eq!(problem("0\n0\n").1, Problem::NoLength);
        assert_eq!(
            problem("5\n3\n"),
            (
                2,
                Problem::GoesBack {
                    millis: 3,
                    before: 5
                }
            )
        );
        assert!(matches!(problem("5\nx\n"), (2, Problem::NotMillis { .. })));
        for late in ["86400001", "4000000000", "99999999999999999999"] {
            let text = problem(&format!("5\n{late}\n"));
            assert!(matches!(text, (2, Problem::TooLate { .. })), "{text:?}");
        }
        assert!(parse("5\n86400000\n").is_ok());
        let long = problem(&format!("5\n\u{1b}[31m{}\n", "x".repeat(100_000)));
        let long = long.1.to_string();
        assert!(long.len() < 300 && !long.contains('\u{1b}'), "{long}");
        assert!(matches!(
            problem("0 1\n1 fast\n"),
            (2, Problem::BadField { .. })
        ));
        assert!(matches!(
            problem("0 1\n1 -4\n"),
            (2, Problem::BadField { .. })
        ));
        assert!(matches!(
            problem("0 1\n1 nan\n"),
            (2, Problem::BadField { .. })
        ));
        assert!(matches!(
            problem("0 1 5ms some\n"),
            (1, Problem::BadField { .. })
        ));
        assert_eq!(
            problem("0 1 2ms 0 9\n"),
            (1, Problem::FieldCount { found: 5 })
        );
        assert!(matches!(problem("0 1 14\n"), (1, Problem::BadField { .. })));
    }
}
