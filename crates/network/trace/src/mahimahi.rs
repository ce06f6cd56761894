//! Mahimahi's packet-delivery opportunities.
//!
//! An opportunity at millisecond t passes 1500 bytes at that instant. Here it is a rate of 12
//! Mbit/s throughout [t, t + 1), so that the link stays a true serialiser and packets smaller than
//! 1500 bytes waste nothing (in Mahimahi, too, several small packets can share an opportunity).

use std::num::IntErrorKind;

use mimosa_units::{Rate, TimeDelta};

use crate::{Problem, Segment, Trace, TraceError, push};

/// Rate of one opportunity: 1500 bytes in a millisecond.
pub(crate) const OPPORTUNITY_BPS: u64 = 1500 * 8 * 1000;
/// Longest Mahimahi trace in milliseconds, a day: longer ones are a mistake.
pub(crate) const LONGEST_MILLIS: u64 = 24 * 3600 * 1000;

pub(crate) fn parse<'a>(
    lines: impl Iterator<Item = (usize, &'a str)>,
) -> Result<Trace, TraceError> {
    let mut opportunities = Vec::new();
    let mut before = 0;
    let mut last_line = 1;
    for (line, text) in lines {
        let at = |problem| TraceError { line, problem };
        let millis = millis(text).map_err(at)?;
        if millis < before {
            return Err(at(Problem::GoesBack { millis, before }));
        }
        opportunities.push(millis);
        before = millis;
        last_line = line;
    }
    let length = before;
    if length == 0 {
        return Err(TraceError {
            line: last_line,
            problem: Problem::NoLength,
        });
    }
    // An opportunity at the very end is one at the beginning of the next repetition.
    let wrapped = opportunities.iter().filter(|ms| **ms == length).count();
    opportunities.truncate(opportunities.len() - wrapped);
    let mut segments = Vec::new();
    let mut add = |millis: u64, count: u64| {
        push(
            &mut segments,
            Segment {
                at: TimeDelta::from_millis(millis.cast_signed()),
                rate: Rate::from_bps(count.saturating_mul(OPPORTUNITY_BPS)),
                round_trip: None,
                loss: None,
            },
        );
    };
    let mut next = 0;
    let mut index = 0;
    while next < length {
        let same = opportunities[index..]
            .iter()
            .take_while(|ms| **ms == next)
            .count();
        index += same;
        let extra = if next == 0 { wrapped } else { 0 };
        add(next, (same + extra) as u64);
        // The time up to the next opportunity is one segment with rate zero.
        let following = opportunities.get(index).copied().unwrap_or(length);
        if following > next + 1 {
            add(next + 1, 0);
        }
        next = following.max(next + 1);
    }
    Ok(Trace {
        segments,
        length: TimeDelta::from_millis(length.cast_signed()),
        notes: Vec::new(),
    })
}

fn millis(text: &str) -> Result<u64, Problem> {
    let owned = || text.to_owned();
    match text.parse() {
        Ok(millis) if millis <= LONGEST_MILLIS => Ok(millis),
        Err(error) if *error.kind() != IntErrorKind::PosOverflow => {
            Err(Problem::NotMillis { text: owned() })
        }
        Ok(_) | Err(_) => Err(Problem::TooLate {
            text: owned(),
            most: LONGEST_MILLIS,
        }),
    }
}
