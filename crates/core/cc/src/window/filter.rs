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
