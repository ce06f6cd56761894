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

/// The newest trains.
#[derive(Debug, Default)]
pub(super) struct Trains {
    /// What followed the first packet, and in how much time it arrived.
    seen: VecDeque<(Bytes, TimeDelta)>,
    rate: Option<Rate>,
    /// When the newest was known.
    came: Time,
}

impl Trains {
    /// `size` arrived in `span` after the first packet of a train.
    pub(super) fn add(&mut self, now: Time, size: Bytes, span: TimeDelta) {
        self.came = now;
        if self.seen.len() == REMEMBERED {
            self.seen.pop_front();
        }
        self.seen.push_back((size, span));
        if self.seen.len() < LEAST {
            return;
        }
        let mut sorted: Vec<_> = self.seen.iter().copied().collect();
        let pace = |(size, span): &(Bytes, TimeDelta)| span.as_secs() / size.get() as f64;
        sorted.sort_by(|one, other| pace(one).total_cmp(&pace(other)));
        let quarter = sorted.len() / 4;
        let middle = &sorted[quarter..sorted.len() - quarter];
        let size = middle
            .iter()
            .map(|(size, _)| *size)
            .fold(Bytes::ZERO, |sum, each| sum + each);
        let span = middle
            .iter()
            .map(|(_, span)| *span)
            .fold(TimeDelta::ZERO, |sum, each| sum + each);
        self.rate = (span > TimeDelta::ZERO).then(|| Rate::of(size, span));
    }

    /// The most that any of the newest trains arrived at: after a fall, what is left. `None`
    /// where they are old: frames of one packet make none, and must not stay as small for it.
    pub(super) fn newest(&self, now: Time) -> Option<Rate> {
        if now.since(self.came) > FRESH {
            return None;
        }
        let newest = self.seen.iter().rev().take(NEWEST);
        newest.map(|(size, span)| Rate::of(*size, *span)).max()
    }

    /// The rate of the link.
    pub(super) const fn rate(&self) -> Option<Rate> {
        self.rate
    }
}
