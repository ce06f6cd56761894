//! Items on their way, each of which is due at its own time.

use std::collections::VecDeque;

use mimosa_units::Time;

/// A queue in the order of time. Items due at the same time keep their order.
#[derive(Debug)]
pub(crate) struct DelayLine<T> {
    items: VecDeque<(Time, T)>,
}

impl<T> Default for DelayLine<T> {
    fn default() -> Self {
        Self {
            items: VecDeque::new(),
        }
    }
}

impl<T> DelayLine<T> {
    /// Adds an item that is due at `at`; cheapest if nothing is due later.
    pub(crate) fn push(&mut self, at: Time, item: T) {
        if self.items.back().is_none_or(|(last, _)| *last <= at) {
            self.items.push_back((at, item));
            return;
        }
        let index = self.items.partition_point(|(due, _)| *due <= at);
        self.items.insert(index, (at, item));
    }

    /// When the next item is due; [`Time::MAX`] if there is none.
    pub(crate) fn deadline(&self) -> Time {
        self.items.front().map_or(Time::MAX, |(due, _)| *due)
    }

    /// Takes the next item that is due by `now`.
    pub(crate) fn pop(&mut self, now: Time) -> Option<T> {
        self.items
            .pop_front_if(|(due, _)| *due <= now)
            .map(|(_, item)| item)
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_first_comes_first() {
        let mut line = DelayLine::default();
        for (ms, name) in [(3, 'a'), (1, 'b'), (3, 'c'), (2, 'd')] {
            line.push(Time::from_millis(ms), name);
        }
        assert_eq!(line.pop(Time::ZERO), None);
        let order: String = std::iter::from_fn(|| line.pop(Time::MAX)).collect();
        assert_eq!(order, "bdac");
    }
}
