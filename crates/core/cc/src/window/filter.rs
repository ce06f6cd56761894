//! The greatest value of the last rounds or cycles.

use std::collections::VecDeque;

/// A maximum over the last steps of a counter. It holds at most one value per
/// step.
#[derive(Clone, Debug)]
pub(crate) struct WindowedMax<T> {
    length: u64,
    /// Values as (step, value): from front to back, steps rise and values fall.
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

    /// Takes `value` at `step`, which never decreases.
    pub(crate) fn update(&mut self, step: u64, value: T) {
        while self.values.back().is_some_and(|&(_, last)| last <= value) {
            self.values.pop_back();
        }
        if self.values.back().is_none_or(|&(last, _)| last < step) {
            self.values.push_back((step, value));
        }
        self.expire(step);
    }

    /// Forgets the values that are too old at `step`, except the newest one.
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
