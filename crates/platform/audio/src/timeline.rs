//! The times at which blocks were captured that arrive late and in bursts.

use mimosa_units::{Time, TimeDelta};

use mimosa_facts::sound::{BLOCK, FRAMES, span_of};

/// The lateness up to which a block belongs to a burst; beyond it, sound is missing.
const GAP: TimeDelta = TimeDelta::from_millis(200);
/// The time for which a block that came early counts. Sound cards' clocks differ by up to
/// 100 millionths, which is 0.5 ms in this time.
const WINDOW: TimeDelta = TimeDelta::from_millis(5_000);

/// The time of a block.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Stamp {
    /// The number of the block's first sample frame, counted from zero. It rises by a
    /// block's length, or by more where sound is missing.
    pub sample: u64,
    /// The time at which the first sample frame was captured.
    pub captured: Time,
}

/// A counter of samples that says when each block was captured.
///
/// A block is complete when its last sample has been captured, and arrives some varying
/// time later. The block with the least delay of the last five to ten seconds determines
/// the time of the first sample of all; the others are counted from there.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    next: u64,
    /// The earliest time of sample zero, by this window and by the one before.
    zero: Option<(TimeDelta, Option<TimeDelta>)>,
    window_began: Time,
}

impl Timeline {
    /// A timeline before the first block.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Records a block that came at `arrived`, and returns its time.
    pub fn block(&mut self, arrived: Time) -> Stamp {
        let begun = arrived.since(Time::ZERO) - BLOCK;
        let told = begun - self.position();
        let Some((newest, older)) = self.zero else {
            self.begin(arrived, told);
            return self.stamp();
        };
        let zero = older.map_or(newest, |older| older.min(newest));
        if told - zero > GAP {
            // Gaps are whole blocks, so that all frames stay on their grid.
            let missing = (told - zero).as_nanos() / BLOCK.as_nanos();
            self.next += u64::try_from(missing).unwrap_or(0) * FRAMES as u64;
            let told = begun - self.position();
            self.begin(arrived, told);
        } else if arrived.since(self.window_began) > WINDOW {
            self.zero = Some((told, Some(newest)));
            self.window_began = arrived;
        } else {
            self.zero = Some((newest.min(told), older));
        }
        self.stamp()
    }

    fn begin(&mut self, arrived: Time, zero: TimeDelta) {
        self.zero = Some((zero, None));
        self.window_began = arrived;
    }

    /// The time of the next sample, relative to the first.
    fn position(&self) -> TimeDelta {
        span_of(i64::try_from(self.next).unwrap_or(i64::MAX))
    }

    fn stamp(&mut self) -> Stamp {
        let zero = self.zero.map_or(TimeDelta::ZERO, |(newest, older)| {
            older.map_or(newest, |older| older.min(newest))
        });
        let stamp = Stamp {
            sample: self.next,
            captured: Time::ZERO + (zero + self.position()).max(TimeDelta::ZERO),
        };
        self.next += FRAMES as u64;
        stamp
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: TimeDelta = TimeDelta::from_millis(1);
    const START: Time = Time::from_secs(9);

    /// The stamps of blocks that come at these milliseconds after the start.
    fn stamps(arrivals: impl IntoIterator<Item = i64>) -> Vec<(u64, i64)> {
        let mut timeline = Timeline::new();
        let arrivals = arrivals.into_iter();
        arrivals
            .map(|at| {
                let stamp = timeline.block(START + TimeDelta::from_millis(at));
                let captured = stamp.captured.since(START).as_nanos();
                (stamp.sample, captured / 1_000_000)
            })
            .collect()
    }

    #[test]
    fn lumps_are_laid_out_evenly() {
        // The blocks arrive two at a time, every 20 ms, and one is late.
        let stamps = stamps([20, 20, 40, 40, 77, 77, 80, 80]);
        let expected: Vec<_> = (0..8_u64).zip((0..).step_by(10)).collect();
        let stamps: Vec<_> = stamps.into_iter().map(|(n, at)| (n / 480, at)).collect();
        // The second block of a burst shows that the first came late.
        assert_eq!(stamps[0], (0, 10));
        assert_eq!(stamps[1..], expected[1..]);
    }

    #[test]
    fn what_is_missing_is_left_out_of_the_count() {
        let arrivals = (1..100).map(|n| 10 * n).chain((200..300).map(|n| 10 * n));
        let stamps = stamps(arrivals);
        assert_eq!(stamps[98], (98 * 480, 980));
        assert_eq!(stamps[99], (199 * 480, 1_990), "a second of nothing");
        assert_eq!(stamps[198], (298 * 480, 2_980));
    }

    /// A device whose clock goes slow by 100 millionths for ten minutes.
    #[test]
    fn a_clock_that_drifts_is_followed_without_a_gap() {
        let mut timeline = Timeline::new();
        let mut worst = TimeDelta::ZERO;
        for block in 0..60_000_i64 {
            let began = TimeDelta::from_micros(10_001 * block);
            let late = TimeDelta::from_millis(block * 7 % 13);
            let stamp = timeline.block(START + began + BLOCK + late);
            assert_eq!(stamp.sample, 480 * u64::try_from(block).unwrap());
            // The oldest block that counts is early by the time that the clock has lost
            // since.
            worst = worst.max((START + began).since(stamp.captured));
            let late = stamp.captured.since(START + began);
            assert!(late <= TimeDelta::ZERO, "{late:?}");
        }
        assert!(worst <= MS * 2, "{worst:?}");
        assert!(worst > TimeDelta::ZERO);
    }
}
