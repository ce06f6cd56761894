//! The rate at which the bottleneck itself serves packets, whoever else uses it.
//!
//! The first packets of a frame leave together. In a FIFO nothing of another flow comes between
//! them, so that they arrive one transmission time after one another: packet pairs (S. Keshav, *A
//! control-theoretic approach to flow control*, SIGCOMM 1991). Some trains are stretched or
//! compressed on their way, so only the middle half of the trains counts.

use std::collections::VecDeque;

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

/// Trains remembered: half a second at 60 frames a second.
const REMEMBERED: usize = 32;
/// Number of newest trains that tell what the link carries now. A single one may be stretched by
/// chance.
const NEWEST: usize = 3;
/// Age up to which the newest trains tell what the link carries now.
const FRESH: TimeDelta = TimeDelta::from_millis(150);
/// Least number of trains from which the link's rate is computed.
const LEAST: usize = 3;

/// A train: packets that left together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Train {
    /// Size of all packets after the first.
    pub(super) size: Bytes,
    /// Time from the arrival of the first packet to that of the last.
    pub(super) span: TimeDelta,
    /// Mean difference between the gaps of the arrivals and even gaps.
    pub(super) uneven: TimeDelta,
}

impl Train {
    /// The rate at which the train arrived. `None` if it arrived at once, as far as the receiver's
    /// clock can tell: stock browsers report quarters of a millisecond.
    pub(super) fn rate(&self) -> Option<Rate> {
        (self.span > TimeDelta::ZERO).then(|| Rate::of(self.size, self.span))
    }
}

/// The newest trains, and what they tell about the link.
#[derive(Debug, Default)]
pub(super) struct Trains {
    seen: VecDeque<Train>,
    rate: Option<Rate>,
    uneven: TimeDelta,
    spread: f64,
    restlessness: f64,
    /// Share of the trains that arrived at once, by the receiver's clock.
    at_once: f64,
    /// When the newest train was added.
    came: Time,
}

impl Trains {
    /// Adds a train that arrived.
    pub(super) fn add(&mut self, now: Time, train: Train) {
        self.came = now;
        if self.seen.len() == REMEMBERED {
            self.seen.pop_front();
        }
        self.seen.push_back(train);
        if self.seen.len() < LEAST {
            return;
        }
        let mut sorted: Vec<_> = self.seen.iter().copied().collect();
        let pace = |train: &Train| train.span.as_secs() / train.size.get() as f64;
        sorted.sort_by(|one, other| pace(one).total_cmp(&pace(other)));
        let quarter = sorted.len() / 4;
        let [fast, median, slow] =
            [quarter, sorted.len() / 2, sorted.len() - 1 - quarter].map(|at| pace(&sorted[at]));
        self.spread = if median > 0.0 {
            (slow - fast) / (2.0 * median)
        } else {
            0.0
        };
        self.restlessness = restlessness(self.seen.iter().map(pace), median);
        let (mut size, mut span) = (Bytes::ZERO, TimeDelta::ZERO);
        for train in &sorted[quarter..sorted.len() - quarter] {
            size += train.size;
            span += train.span;
        }
        self.rate = (span > TimeDelta::ZERO).then(|| Rate::of(size, span));
        let at_once = sorted.iter().filter(|train| train.rate().is_none());
        self.at_once = at_once.count() as f64 / sorted.len() as f64;
        sorted.sort_by_key(|train| train.uneven);
        self.uneven = sorted[sorted.len() / 2].uneven;
    }

    /// The highest rate of the newest trains: after a fall, what the link still carries. `None` if
    /// one of them arrived at once, or if they are old: frames of one packet make no trains, and
    /// must not stay that small because of old ones.
    pub(super) fn newest(&self, now: Time) -> Option<Rate> {
        if now.since(self.came) > FRESH {
            return None;
        }
        let newest = self.seen.iter().rev().take(NEWEST).map(Train::rate);
        newest.reduce(|one, other| Some(one?.max(other?)))?
    }

    /// Mean rate of the newest trains. `None` if they arrived at once, or if they are old.
    pub(super) fn lately(&self, now: Time) -> Option<Rate> {
        if now.since(self.came) > FRESH {
            return None;
        }
        let newest = self.seen.iter().rev().take(NEWEST);
        let (size, span) = newest.fold((Bytes::ZERO, TimeDelta::ZERO), |(size, span), train| {
            (size + train.size, span + train.span)
        });
        (span > TimeDelta::ZERO).then(|| Rate::of(size, span))
    }

    /// Unevenness of the arrivals of packets that the link served one after another: the median
    /// over the trains of the mean difference between their gaps and even gaps.
    pub(super) const fn uneven(&self) -> TimeDelta {
        self.uneven
    }

    /// Variation of the link's own rate: half of the distance between the quartiles of the trains'
    /// times per byte, as a part of their median.
    pub(super) const fn spread(&self) -> f64 {
        self.spread
    }

    /// How little a train tells of the next one: about 1 where what changes their times is noise of each
    /// train alone, and near 0 where the link's rate wanders.
    pub(super) const fn restlessness(&self) -> f64 {
        self.restlessness
    }

    /// Share of the trains that arrived at once, by the receiver's clock: where they are not few, the clock
    /// is too coarse for trains to show how much delays vary.
    pub(super) const fn at_once(&self) -> f64 {
        self.at_once
    }

    /// The rate of the link; `None` before three trains, and if too many trains arrived at once.
    pub(super) const fn rate(&self) -> Option<Rate> {
        self.rate
    }
}

/// Half of the mean square of the differences between values that follow one another, as a part of their
/// variance (J. von Neumann, *Distribution of the ratio of the mean square successive difference to the
/// variance*, 1941). Each value counts as no further from the `median` than once that: a train that was
/// held up says nothing. 1 if all values are equal.
fn restlessness(values: impl Iterator<Item = f64>, median: f64) -> f64 {
    let (mut count, mut sum, mut squares, mut steps) = (0.0, 0.0, 0.0, 0.0);
    let mut last = None;
    for value in values.map(|value| value.clamp(0.0, 2.0 * median)) {
        count += 1.0;
        sum += value;
        squares += value * value;
        if let Some(last) = last.replace(value) {
            steps += (value - last) * (value - last);
        }
    }
    let variance = squares - sum * sum / count;
    if variance > 0.0 {
        steps / (2.0 * variance)
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 32 deviates, none of which tells of the next.
    fn noise() -> Vec<f64> {
        let mut state = 7_u32;
        (0..32)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                f64::from(state >> 16) / 65_536.0 - 0.5
            })
            .collect()
    }

    #[test]
    fn a_rate_that_wanders_is_told_from_noise() {
        let (mut level, mut wandering) = (1.0, Vec::new());
        for step in noise() {
            level += 0.1 * step;
            wandering.push(level);
        }
        let of = |values: &[f64]| restlessness(values.iter().copied(), 1.0);
        let restless: Vec<_> = noise().iter().map(|step| 1.0 + 0.2 * step).collect();
        assert!((0.7..1.4).contains(&of(&restless)), "{}", of(&restless));
        assert!(of(&wandering) < 0.4, "{}", of(&wandering));
        // A step is no noise, and neither is a train that was held up.
        let step: Vec<_> = (0..32).map(|at| if at < 20 { 1.0 } else { 2.0 }).collect();
        assert!(of(&step) < 0.2, "{}", of(&step));
        let mut held_up = restless.clone();
        held_up[9] = 50.0;
        assert!(of(&held_up) > 0.7, "{}", of(&held_up));
        assert!((of(&[1.0; 32]) - 1.0).abs() < 1e-9);
    }
}
