//! Writes traces as text that gives the same link when it is parsed again.

use std::fmt::Write as _;

use mimosa_units::TimeDelta;

use crate::mahimahi::{LONGEST_MILLIS, OPPORTUNITY_BPS};
use crate::rows::{HIGHEST_MBPS, LONGEST_RTT_MS, LONGEST_STEPS};
use crate::{Segment, Trace, lines};

const NANOS_PER_MILLI: i64 = 1_000_000;
/// Bits of one opportunity, times a nanosecond for each second.
const OPPORTUNITY: u128 = OPPORTUNITY_BPS as u128 * NANOS_PER_MILLI as u128;
/// Most lines of a file: more, some 200 MB, are a mistake.
const MOST_LINES: u128 = 20_000_000;

/// A format of trace files.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Format {
    /// Opportunities of 1500 bytes, by millisecond. The format has rates alone.
    Mahimahi,
    /// Rows of `seconds Mbit/s [RTTms [loss]]`.
    Rows,
}

impl Format {
    /// The format of `text`; `None` if no line has content.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        let (_, first) = lines(text).next()?;
        Some(match first.split_whitespace().count() {
            1 => Self::Mahimahi,
            _ => Self::Rows,
        })
    }
}

/// Why a trace cannot be written.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The trace has no length, or nothing ever passes, so that it could not be parsed again.
    #[error("nothing ever passes, so that there is no trace to write; give it a rate and a length")]
    Empty,
    /// The trace is longer than the format allows.
    #[error("a Mahimahi trace lasts at most a day, but this one lasts {length}; cut it")]
    TooLong {
        /// Length of the trace.
        length: TimeDelta,
    },
    /// The Mahimahi file would be too large.
    #[error(
        "a Mahimahi trace of it would have {lines} lines, one for every 1500 bytes; \
         cut it, scale it down, or write rows"
    )]
    TooManyLines {
        /// Number of lines in the file.
        lines: u128,
    },
    /// A rate is too high to be parsed again.
    #[error("a rate of more than 10 Tbit/s would not be read again; scale it down")]
    TooFast,
    /// A row cannot hold a segment of the trace.
    #[error(
        "from {at} on the link has a loss without a round trip, or one of them beyond its bounds; \
         a row has a round trip of up to an hour, and after it a loss from 0 to 1"
    )]
    NoRow {
        /// When the segment begins.
        at: TimeDelta,
    },
}

/// The text of `trace` in `format`.
///
/// Rows are exact to the bit per second and, in a trace of up to a month, to the nanosecond. A
/// Mahimahi trace has rates alone: at the end of each millisecond, the bytes that have passed are
/// those of `trace`, rounded up to the next 1500 bytes. Its length is that of `trace`, rounded up
/// to a millisecond. Because its last line is its length, something has to pass in its first
/// millisecond: if nothing does in `trace`, the first opportunity is moved there.
///
/// # Errors
///
/// [`WriteError`] if the format cannot hold the trace.
pub fn write(trace: &Trace, format: Format) -> Result<String, WriteError> {
    let passes = |(segment, lasts): (&Segment, TimeDelta)| {
        segment.rate.as_bps() > 0 && lasts > TimeDelta::ZERO
    };
    if !trace.spans().any(passes) {
        return Err(WriteError::Empty);
    }
    if trace
        .segments
        .iter()
        .any(|s| s.rate.as_mbps() > HIGHEST_MBPS)
    {
        return Err(WriteError::TooFast);
    }
    match format {
        Format::Mahimahi => mahimahi(trace),
        Format::Rows => rows(trace),
    }
}

fn mahimahi(trace: &Trace) -> Result<String, WriteError> {
    let length = nanos(trace.length).div_ceil(NANOS_PER_MILLI.unsigned_abs());
    if length > LONGEST_MILLIS {
        return Err(WriteError::TooLong {
            length: trace.length,
        });
    }
    let total: u128 = trace
        .spans()
        .map(|(segment, lasts)| passed(segment, lasts))
        .sum();
    let lines = total / OPPORTUNITY;
    if lines > MOST_LINES {
        return Err(WriteError::TooManyLines { lines });
    }
    let mut text = String::new();
    // What passes in the first millisecond is written as the beginning of the next repetition,
    // which is the end of the file.
    let mut at_start: usize = 0;
    let mut before = 0;
    for (segment, lasts) in trace.spans() {
        // An opportunity comes as soon as more has passed than the opportunities before it.
        let after = before + passed(segment, lasts);
        let rate = u128::from(segment.rate.as_bps());
        let start = u128::from(nanos(segment.at));
        for index in before.div_ceil(OPPORTUNITY)..after.div_ceil(OPPORTUNITY) {
            let at = start + (index * OPPORTUNITY - before) / rate;
            let millis = at / u128::from(NANOS_PER_MILLI.unsigned_abs());
            if index == 0 || millis == 0 {
                at_start += 1;
            } else {
                let _ = writeln!(text, "{millis}");
            }
        }
        before = after;
    }
    for _ in 0..at_start {
        let _ = writeln!(text, "{length}");
    }
    Ok(text)
}

/// What passes in a segment, in bits times a nanosecond for each second.
fn passed(segment: &Segment, lasts: TimeDelta) -> u128 {
    u128::from(segment.rate.as_bps()) * u128::from(nanos(lasts))
}

fn rows(trace: &Trace) -> Result<String, WriteError> {
    if let Some(segment) = trace.segments.iter().find(|segment| !fits_row(segment)) {
        return Err(WriteError::NoRow { at: segment.at });
    }
    let lasting: Vec<u64> = trace.spans().map(|(_, lasts)| nanos(lasts)).collect();
    let mut text = String::new();
    if let Some(step) = grid(&lasting) {
        let mut at = 0;
        for (segment, lasts) in trace.segments.iter().zip(&lasting) {
            for _ in 0..lasts / step {
                row(&mut text, at, segment);
                at += step;
            }
        }
        return Ok(text);
    }
    for (segment, lasts) in trace.segments.iter().zip(&lasting) {
        if *lasts > 0 {
            row(&mut text, nanos(segment.at), segment);
        }
    }
    if !reads_as_it_stands(&lasting) {
        let _ = writeln!(text, "{}", decimal(nanos(trace.length), 9));
    }
    Ok(text)
}

fn fits_row(segment: &Segment) -> bool {
    let Some(round_trip) = segment.round_trip else {
        return segment.loss.is_none();
    };
    (0.0..=LONGEST_RTT_MS).contains(&round_trip.as_millis())
        && segment.loss.is_none_or(|loss| (0.0..=1.0).contains(&loss))
}

/// The shortest segment, if all others last a multiple of it and a row for each step at most
/// doubles the rows.
fn grid(lasting: &[u64]) -> Option<u64> {
    let shortest = lasting.iter().copied().min().filter(|step| *step > 0)?;
    let steps: u64 = lasting.iter().map(|lasts| lasts / shortest).sum();
    let fits = lasting.iter().all(|lasts| lasts.is_multiple_of(shortest));
    let few = usize::try_from(steps).is_ok_and(|steps| steps <= lasting.len() * 2);
    // A trace of one row would last a second.
    (fits && few && steps > 1).then_some(shortest)
}

/// Whether rows alone give the duration of each segment, including the last.
fn reads_as_it_stands(lasting: &[u64]) -> bool {
    let Some((last, others)) = lasting.split_last() else {
        return false;
    };
    let mut steps = others.to_vec();
    steps.sort_unstable();
    let Some(usual) = steps.get(steps.len() / 2) else {
        return false;
    };
    let is_step = |step: &u64| *step > 0 && (*step as f64) < *usual as f64 * (LONGEST_STEPS - 0.1);
    last == usual && steps.iter().all(is_step)
}

fn row(text: &mut String, at: u64, segment: &Segment) {
    let (at, rate) = (decimal(at, 9), decimal(segment.rate.as_bps(), 6));
    let _ = write!(text, "{at} {rate}");
    if let Some(round_trip) = segment.round_trip {
        let _ = write!(text, " {}ms", decimal(nanos(round_trip), 6));
    }
    if let Some(loss) = segment.loss {
        let _ = write!(text, " {loss}");
    }
    text.push('\n');
}

/// `units` over ten to the power of `digits`, exactly, without zeros at the end.
fn decimal(units: u64, digits: usize) -> String {
    let text = format!("{units:0>width$}", width = digits + 1);
    let (whole, part) = text.split_at(text.len() - digits);
    match part.trim_end_matches('0') {
        "" => whole.to_owned(),
        part => format!("{whole}.{part}"),
    }
}

fn nanos(span: TimeDelta) -> u64 {
    span.max(TimeDelta::ZERO).as_nanos().unsigned_abs()
}
