//! How a line serves packets, from the arrivals of packets that waited for each other.
//!
//! A link that serves one packet after the other leaves equal gaps. A medium that serves several at once
//! leaves bunches, and most of the time passes between them. Bunches at regular times, for which a single
//! packet waits as well, come from a link in turns.

use mimosa_units::{PeerTime, TimeDelta, nearest_rank};

use crate::line::Medium;

/// Fewest arrivals by which a medium is judged.
const FEWEST: usize = 48;
/// Shortest gap between two bunches: browsers report times in steps of 0.25 or 1 ms, so that shorter
/// gaps may come from rounding.
const SHORTEST: TimeDelta = TimeDelta::from_millis(2);
/// Gap between two bunches, in mean gaps.
const TIMES_THE_MEAN: u32 = 4;
/// Share of the time between bunches from which a medium serves in bunches.
const IN_BUNCHES: f64 = 0.5;
/// Fewest gaps between bunches by which their regularity is judged.
const FEWEST_BUNCHES: usize = 6;
/// Share of the intervals between bunches that are near a multiple of the median from which they are
/// regular, and how near, in medians.
const REGULAR: f64 = 0.8;
const NEAR: f64 = 0.15;
/// Spread of the delay at rest, in intervals, from which single packets wait for their turn. Uniform
/// waits spread over the whole interval; those of a Wi-Fi that nobody else uses are near zero.
const WAITS: f64 = 0.4;

/// Judges the medium by `arrivals`, sorted, of packets that all waited in a queue. `spread` is by how
/// much delays at rest differ.
pub(crate) fn judge(arrivals: &[PeerTime], spread: TimeDelta) -> Medium {
    let (Some(first), Some(last)) = (arrivals.first(), arrivals.last()) else {
        return Medium::Unknown;
    };
    let span = *last - *first;
    let gaps = u32::try_from(arrivals.len() - 1).unwrap_or(u32::MAX);
    if arrivals.len() < FEWEST || span <= TimeDelta::ZERO {
        return Medium::Unknown;
    }
    let shortest = (span / gaps * TIMES_THE_MEAN).max(SHORTEST);
    let mut between = TimeDelta::ZERO;
    let mut begins = Vec::new();
    for pair in arrivals.windows(2) {
        let gap = pair[1] - pair[0];
        if gap >= shortest {
            between += gap;
            begins.push(pair[1]);
        }
    }
    if between.ratio(span) < IN_BUNCHES {
        return Medium::Steady;
    }
    let mut intervals: Vec<_> = begins.windows(2).map(|pair| pair[1] - pair[0]).collect();
    if intervals.len() < FEWEST_BUNCHES {
        return Medium::InAggregates;
    }
    intervals.sort_unstable();
    let turn = nearest_rank(&intervals, 0.5).unwrap_or(span);
    let near = intervals.iter().filter(|interval| {
        let turns = interval.ratio(turn);
        turns > NEAR && (turns - nearest(turns)).abs() <= NEAR
    });
    let share = near.count() as f64 / intervals.len() as f64;
    if share >= REGULAR && spread >= turn.scale(WAITS) {
        Medium::InTurns
    } else {
        Medium::InAggregates
    }
}

/// The nearest whole number of a small positive number.
fn nearest(value: f64) -> f64 {
    (value + 0.5).floor()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arrivals of `count` packets; `at` gives the nanosecond of each.
    fn arrivals(count: i64, at: impl Fn(i64) -> i64) -> Vec<PeerTime> {
        (0..count)
            .map(|number| PeerTime::from_nanos(at(number)))
            .collect()
    }

    const MS: i64 = 1_000_000;
    const NONE: TimeDelta = TimeDelta::ZERO;

    #[test]
    fn equal_gaps_are_steady_however_slow() {
        for gap in [MS / 10, MS, 6 * MS] {
            assert_eq!(judge(&arrivals(100, |n| n * gap), NONE), Medium::Steady);
        }
        // Times in steps of 1 ms make bunches of ten at 100 Mbit/s.
        let rounded = arrivals(300, |n| n / 10 * MS);
        assert_eq!(judge(&rounded, NONE), Medium::Steady);
    }

    #[test]
    fn irregular_bunches_are_aggregates_and_regular_ones_turns_if_single_packets_wait() {
        let irregular = arrivals(300, |n| (n / 20 * 7 + (n / 20 * n / 20) % 5) * MS);
        let waits = TimeDelta::from_millis(6);
        assert_eq!(judge(&irregular, waits), Medium::InAggregates);
        let regular = arrivals(300, |n| n / 20 * 8 * MS);
        assert_eq!(judge(&regular, waits), Medium::InTurns);
        assert_eq!(judge(&regular, NONE), Medium::InAggregates, "Wi-Fi alone");
    }

    #[test]
    fn few_arrivals_say_nothing() {
        assert_eq!(judge(&arrivals(40, |n| n * MS), NONE), Medium::Unknown);
        assert_eq!(judge(&arrivals(90, |_| 7), NONE), Medium::Unknown);
        assert_eq!(judge(&[], NONE), Medium::Unknown);
    }
}
