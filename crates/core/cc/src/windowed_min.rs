//! The smallest value of a sliding window, in bounded memory.
//!
//! The window is kept as a ring of equal slots, each with its own minimum, so
//! that the cost per sample is one comparison and the memory is fixed. A value
//! leaves the window up to one slot early; with [`SLOTS`] slots that is 1/20 of
//! the window.

use mimosa_units::{Time, TimeDelta};

/// Slots per window.
pub(crate) const SLOTS: u32 = 20;

/// The smallest delay of a sliding time window.
#[derive(Debug)]
pub(crate) struct WindowedMin {
    slot: TimeDelta,
    mins: [Option<TimeDelta>; SLOTS as usize],
    /// Index of the slot that takes samples now; `ends` is when this slot ends.
    current: usize,
    ends: Time,
    /// Minimum over all slots.
    min: Option<TimeDelta>,
}

impl WindowedMin {
    /// An empty window of length `window`.
    pub(crate) fn new(window: TimeDelta) -> Self {
        Self {
            slot: (window / SLOTS).max(TimeDelta::from_nanos(1)),
            mins: [None; SLOTS as usize],
            current: 0,
            ends: Time::ZERO,
            min: None,
        }
    }

    /// Adds a sample taken at `now`.
    pub(crate) fn add(&mut self, now: Time, value: TimeDelta) {
        if now >= self.ends {
            self.rotate(now);
        }
        let slot = &mut self.mins[self.current];
        if slot.is_none_or(|min| value < min) {
            *slot = Some(value);
            if self.min.is_none_or(|min| value < min) {
                self.min = Some(value);
            }
        }
    }

    /// The smallest sample in the window; `None` if there is no sample.
    pub(crate) const fn get(&self) -> Option<TimeDelta> {
        self.min
    }

    /// Changes the length of the window from the next slot on.
    pub(crate) fn set_window(&mut self, window: TimeDelta) {
        self.slot = (window / SLOTS).max(TimeDelta::from_nanos(1));
    }

    /// Forgets all samples.
    pub(crate) fn clear(&mut self) {
        self.mins = [None; SLOTS as usize];
        self.min = None;
    }

    fn rotate(&mut self, now: Time) {
        for _ in 0..SLOTS {
            if now < self.ends {
                break;
            }
            self.current = (self.current + 1) % self.mins.len();
            self.mins[self.current] = None;
            self.ends += self.slot;
        }
        if now >= self.ends {
            self.ends = now + self.slot;
        }
        self.min = self.mins.iter().flatten().min().copied();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(i64) -> TimeDelta = TimeDelta::from_millis;

    #[test]
    fn a_minimum_lasts_a_window_and_no_longer() {
        let mut min = WindowedMin::new(MS(10_000));
        min.add(Time::from_millis(100), MS(10));
        for ms in 101..9_500 {
            min.add(Time::from_millis(ms), MS(30));
            assert_eq!(min.get(), Some(MS(10)), "at {ms} ms");
        }
        for ms in 9_500..10_700 {
            min.add(Time::from_millis(ms), MS(30));
        }
        assert_eq!(min.get(), Some(MS(30)));
    }

    #[test]
    fn a_long_silence_empties_the_window() {
        let mut min = WindowedMin::new(MS(1_000));
        min.add(Time::from_millis(1), MS(5));
        min.add(Time::from_secs(100), MS(9));
        assert_eq!(min.get(), Some(MS(9)));
        min.clear();
        assert_eq!(min.get(), None);
    }
}
