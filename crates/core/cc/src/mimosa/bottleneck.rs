//! Estimates of the bottleneck: how fast the link is, how fast it serves this flow, and whether it
//! serves packets in turns.

use mimosa_units::{Rate, Time, TimeDelta};

use super::service::Service;
use super::train::{Train, Trains};
use super::turns::{FrameArrival, Turns};

/// Share of trains that arrive at once from which on the receiver's clock is coarse: our choice.
const COARSE: f64 = 0.1;

/// The estimates of the bottleneck.
#[derive(Debug, Default)]
pub(super) struct Bottleneck {
    /// Trains of the packets at the beginning of each frame.
    trains: Trains,
    /// Trains of all packets of each frame, which arrive no faster than the link serves them.
    frames: Trains,
    turns: Turns,
    pub(super) service: Service,
}

impl Bottleneck {
    /// Takes the train of packets at a frame's beginning.
    pub(super) fn train(&mut self, now: Time, train: Train) {
        self.trains.add(now, train);
    }

    /// Takes a whole frame that arrived.
    pub(super) fn frame(&mut self, now: Time, frame: &FrameArrival) {
        self.turns.add(frame);
        let train = Train {
            size: frame.size,
            span: frame.span,
            uneven: TimeDelta::ZERO,
        };
        self.frames.add(now, train);
    }

    /// Whether the link serves in turns.
    pub(super) const fn serves_in_turns(&self) -> bool {
        self.turns.are_taken()
    }

    /// The link's rate: in turns, the mean rate at which it serves this flow, waits included; otherwise
    /// that of trains, or of whole frames where those arrive faster, because something holds up what
    /// comes first. `None` before it is known.
    pub(super) fn rate(&self) -> Option<Rate> {
        let in_turns = self.serves_in_turns();
        let mean = in_turns.then(|| self.service.mean()).flatten();
        mean.or_else(|| greater(self.trains.rate(), self.frames.rate()))
    }

    /// The highest rate of the newest trains and frames: after a fall, what the link still carries.
    /// `None` if one of them arrived at once, or if they are old.
    pub(super) fn newest(&self, now: Time) -> Option<Rate> {
        let (trains, frames) = (self.trains.newest(now)?, self.frames.newest(now)?);
        Some(trains.max(frames))
    }

    /// Mean rate of the newest trains and frames. `None` if one of them arrived at once, or if they are
    /// old.
    pub(super) fn lately(&self, now: Time) -> Option<Rate> {
        greater(self.trains.lately(now), self.frames.lately(now))
    }

    /// Unevenness of the arrivals of packets that the link served one after another.
    pub(super) const fn uneven(&self) -> TimeDelta {
        self.trains.uneven()
    }

    /// Whether the receiver's clock is too coarse for trains to show how much delays vary.
    pub(super) fn is_coarse(&self) -> bool {
        self.trains.at_once() > COARSE
    }

    /// How little the rate of one train tells of the next: near 0 where the link's rate wanders, about 1
    /// where it is noise that differs.
    pub(super) const fn restlessness(&self) -> f64 {
        self.trains.restlessness()
    }

    /// Variation of the link's own rate, as a part of it.
    pub(super) const fn spread(&self) -> f64 {
        self.trains.spread()
    }
}

/// The greater of two rates of which one may be unknown.
fn greater(one: Option<Rate>, other: Option<Rate>) -> Option<Rate> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.max(other)),
        (one, other) => one.or(other),
    }
}
