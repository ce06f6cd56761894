//! The smallest value of a sliding window, in bounded memory.
//!
//! `WindowedMin` of `mimosa-cc` answers the same question with a ring of 20 slots, which loses a
//! value by up to a slot early. Here a value's age is counted back from the newest. The two forget
//! at different times: either in the other's place would change the results.

use std::collections::VecDeque;

use mimosa_units::{Time, TimeDelta};

/// The number of parts of the window. Of the values within one part only the smallest is kept, so
/// that at most one more than this number are remembered; a value may count for up to one part too
/// short.
const PARTS: u32 = 32;

/// Minimum of the delays seen in the last `window`, counted back from the newest.
#[derive(Debug)]
pub(crate) struct SlidingMin {
    window: TimeDelta,
    /// Values in increasing order of time and of size: each is the smallest of all that came since.
    values: VecDeque<(Time, TimeDelta)>,
}

impl SlidingMin {
    /// An empty window.
    pub(crate) const fn new(window: TimeDelta) -> Self {
        Self {
            window,
            values: VecDeque::new(),
        }
    }

    /// Adds a value seen at `now`.
    pub(crate) fn add(&mut self, now: Time, value: TimeDelta) {
        while self
            .values
            .pop_back_if(|(_, other)| *other >= value)
            .is_some()
        {}
        let part = self.window / PARTS;
        let is_near = |(at, _): &(Time, TimeDelta)| now.since(*at) < part;
        if !self.values.back().is_some_and(is_near) {
            self.values.push_back((now, value));
        }
        while self.values.len() > 1
            && self
                .values
                .pop_front_if(|(at, _)| now.since(*at) > self.window)
                .is_some()
        {}
    }

    /// The minimum; `None` before the first value.
    pub(crate) fn get(&self) -> Option<TimeDelta> {
        self.values.front().map(|(_, value)| *value)
    }

    /// Changes the length of the window from the next value on.
    pub(crate) const fn set_window(&mut self, window: TimeDelta) {
        self.window = window;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(i64) -> TimeDelta = TimeDelta::from_millis;

    #[test]
    fn a_minimum_lasts_a_window_and_no_longer() {
        let mut min = SlidingMin::new(MS(100));
        assert_eq!(min.get(), None);
        min.add(Time::from_millis(10), MS(5));
        for at in 11..=110 {
            min.add(Time::from_millis(at), MS(9));
            assert_eq!(min.get(), Some(MS(5)), "at {at} ms");
        }
        min.add(Time::from_millis(111), MS(9));
        assert_eq!(min.get(), Some(MS(9)));
        min.add(Time::from_secs(60), MS(30));
        assert_eq!(min.get(), Some(MS(30)), "the newest always counts");
    }

    #[test]
    fn a_smaller_value_counts_at_once_and_memory_is_bounded() {
        let mut min = SlidingMin::new(MS(1_000));
        for at in 0..5_000 {
            // Ever larger values: none makes an older one superfluous.
            min.add(Time::from_millis(at), MS(10 + at.cast_signed()));
            assert!(min.values.len() <= 34, "{}", min.values.len());
        }
        let kept = min.get().expect("it has values");
        assert!((MS(4_000)..=MS(4_050)).contains(&kept), "{kept}");
        min.add(Time::from_millis(5_000), MS(1));
        assert_eq!(min.get(), Some(MS(1)));
    }
}
