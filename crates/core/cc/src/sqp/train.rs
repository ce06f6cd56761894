//! The frames on their way, each a train of packets.

use std::collections::VecDeque;

use mimosa_facts::FrameId;
use mimosa_units::{Bytes, PeerTime, Time, TimeDelta};

/// Largest number of frames remembered, beyond which the oldest are forgotten. No feedback is so
/// many frames late.
const MOST_TRAINS: usize = 256;

/// One frame on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Train {
    pub(super) id: FrameId,
    pub(super) interval: TimeDelta,
    /// Size of the whole frame, as it was given to the pacer.
    pub(super) size: Bytes,
    pub(super) packets: u32,
    /// Number of packets that have arrived or are lost.
    pub(super) resolved: u32,
    /// Size of the packets that have arrived.
    pub(super) arrived: Bytes,
    pub(super) first_sent: Option<Time>,
    /// When the first and the last packet arrived; `None` before an arrival.
    pub(super) arrivals: Option<(PeerTime, PeerTime)>,
}

impl Train {
    /// Records that a packet of `size` arrived at `at`.
    pub(super) fn arrived(&mut self, at: PeerTime, size: Bytes) {
        self.arrived += size;
        let (first, last) = self.arrivals.unwrap_or((at, at));
        self.arrivals = Some((first.min(at), last.max(at)));
    }
}

/// Frames, in the order in which they were given to the pacer.
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

    /// Records that one more packet of the frame has arrived or is lost.
    pub(super) fn resolve(&mut self, id: FrameId) {
        if let Some(train) = self.get_mut(id) {
            train.resolved = train.resolved.saturating_add(1);
        }
    }

    /// Removes and returns the frame, if all of its packets have arrived or are lost.
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
