//! The frames under way, each a train of packets.

use std::collections::VecDeque;

use mimosa_facts::FrameId;
use mimosa_units::{Bytes, PeerTime, Time, TimeDelta};

/// More frames than any feedback is late by; beyond them the oldest are forgotten.
const MOST_TRAINS: usize = 256;

/// One frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Train {
    pub(super) id: FrameId,
    pub(super) interval: TimeDelta,
    /// All of it, as it was handed over.
    pub(super) size: Bytes,
    pub(super) packets: u32,
    /// Packets that arrived or are lost.
    pub(super) resolved: u32,
    /// What has arrived.
    pub(super) arrived: Bytes,
    pub(super) first_sent: Option<Time>,
    /// The first and the last arrival.
    pub(super) arrivals: Option<(PeerTime, PeerTime)>,
}

impl Train {
    /// A packet of `size` arrived at `at`.
    pub(super) fn arrived(&mut self, at: PeerTime, size: Bytes) {
        self.arrived += size;
        let (first, last) = self.arrivals.unwrap_or((at, at));
        self.arrivals = Some((first.min(at), last.max(at)));
    }
}

/// Frames in the order of their hand-over.
#[derive(Debug, Default)]
pub(super) struct Trains {
    trains: VecDeque<Train>,
}

impl Trains {
    pub(super) fn push(&mut self, train: Train) {
        if self.trains.len() == MOST_TRAINS {
            self.trains.pop_front();
        }
        self.trains.push_back(train);
    }

    pub(super) fn get_mut(&mut self, id: FrameId) -> Option<&mut Train> {
        self.trains.iter_mut().rev().find(|train| train.id == id)
    }

    /// One more packet of this frame is accounted for.
    pub(super) fn resolve(&mut self, id: FrameId) {
        if let Some(train) = self.get_mut(id) {
            train.resolved = train.resolved.saturating_add(1);
        }
    }

    /// Takes the frame if all of it is accounted for.
    pub(super) fn take_complete(&mut self, id: FrameId) -> Option<Train> {
        let position = self
            .trains
            .iter()
            .position(|train| train.id == id && train.resolved >= train.packets)?;
        self.trains.remove(position)
    }

    pub(super) fn forget(&mut self, id: FrameId) {
        self.trains.retain(|train| train.id != id);
    }
}
