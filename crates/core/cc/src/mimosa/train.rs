//! At which rate the bottleneck itself serves, whoever else uses it.
//!
//! The first packets of a frame leave together. In a FIFO nothing of another flow comes between
//! them, so that they arrive one transmission time after the other: packet pairs (S. Keshav, *A
//! control-theoretic approach to flow control*, SIGCOMM 1991). Some are stretched or compressed on
//! their way, so that the middle half counts.

use std::collections::VecDeque;

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

/// Trains remembered: half a second at 60 frames a second.
const REMEMBERED: usize = 32;
/// So many tell what the link carries now. One may be stretched by chance.
const NEWEST: usize = 3;
/// For so long they do.
const FRESH: TimeDelta = TimeDelta::from_millis(150);
/// From so many on there is a rate.
const LEAST: usize = 3;

/// Packets that left together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Train {
    /// What followed the first packet.
    pub(super) size: Bytes,
    /// In how much time it arrived.
    pub(super) span: TimeDelta,
    /// How far the gaps are from even, in the mean.
    pub(super) uneven: TimeDelta,
}

impl Train {
    /// `None` where it arrived at once, as far as the receiver's clock can tell: stock browsers
    /// report quarters of a millisecond.
    pub(super) fn rate(&self) -> Option<Rate> {
        (self.span > TimeDelta::ZERO).then(|| Rate::of(self.size, self.span))
    }
}

/// The newest trains.
#[derive(Debug, Default)]
pub(super) struct Trains {
    seen: VecDeque<Train>,
    rate: Option<Rate>,
    uneven: TimeDelta,
    spread: f64,
    /// When the newest was known.
    came: Time,
}

impl Trains {
    /// A train arrived.
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
        let (mut size, mut span) = (Bytes::ZERO, TimeDelta::ZERO);
        for train in &sorted[quarter..sorted.len() - quarter] {
            size += train.size;
            span += train.span;
        }
        self.rate = (span > TimeDelta::ZERO).then(|| Rate::of(size, span));
        sorted.sort_by_key(|train| train.uneven);
        self.uneven = sorted[sorted.len() / 2].uneven;
    }

    /// The most that any of the newest trains arrived at: after a fall, what is left. `None`
    /// where one of them arrived at once, and where they are old: frames of one packet make none,
    /// and must not stay as small for it.
    pub(super) fn newest(&self, now: Time) -> Option<Rate> {
        if now.since(self.came) > FRESH {
            return None;
        }
        let newest = self.seen.iter().rev().take(NEWEST).map(Train::rate);
        newest.reduce(|one, other| Some(one?.max(other?)))?
    }

    /// How far apart from even packets arrive that one link served after one another: the
    /// median of the trains.
    pub(super) const fn uneven(&self) -> TimeDelta {
        self.uneven
    }

    /// How much the link's own rate varies: half of the distance of the trains' quartiles, as
    /// a part of their median.
    pub(super) const fn spread(&self) -> f64 {
        self.spread
    }

    /// The rate of the link.
    pub(super) const fn rate(&self) -> Option<Rate> {
        self.rate
    }
}
