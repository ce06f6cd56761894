//! The greatest of the last so many rounds or cycles.

use std::collections::VecDeque;

/// A running maximum. Holds at most one value per step of its counter.
#[derive(Clone, Debug)]
pub(crate) struct WindowedMax<T> {
    length: u64,
    /// As (step, value): steps rise, values fall.
    values: VecDeque<(u64, T)>,
}

impl<T: Copy + Ord> WindowedMax<T> {
    /// A maximum over the current step and the `length - 1` before it.
    pub(crate) fn new(length: u64) -> Self {
        Self {
            length,
            values: VecDeque::new(),
        }
    }

    /// Takes `value` at `step`, which never falls.
    pub(crate) fn update(&mut self, step: u64, value: T) {
        while self.values.back().is_some_and(|&(_, last)| last <= value) {
            self.values.pop_back();
        }
        if self.values.back().is_none_or(|&(last, _)| last < step) {
            self.values.push_back((step, value));
        }
        self.expire(step);
    }

    /// Forgets what is too old at `step`; the newest value stays.
    pub(crate) fn expire(&mut self, step: u64) {
        while self.values.len() > 1
            && self
                .values
                .front()
                .is_some_and(|&(first, _)| first + self.length <= step)
        {
            self.values.pop_front();
        }
    }

    pub(crate) fn get(&self) -> Option<T> {
        self.values.front().map(|&(_, value)| value)
    }
}

/// A small generator for the dice of BBR: `SplitMix64` (Steele, Lea and Flood,
/// 2014), whose output is fixed by its definition.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Uniform in 0 to `sides - 1`; zero when there are no sides.
    pub(crate) const fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        match mixed.checked_rem(sides) {
            Some(face) => face,
            None => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_maximum_lasts_its_window_and_no_longer() {
        let mut filter = WindowedMax::new(3);
        for (step, value, greatest) in [(0, 9, 9), (1, 5, 9), (2, 7, 9), (3, 6, 7), (5, 1, 6)] {
            filter.update(step, value);
            assert_eq!(filter.get(), Some(greatest), "at {step}");
        }
        assert_eq!(filter.values.len(), 2);
    }
}
