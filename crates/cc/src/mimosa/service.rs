//! At which rate the bottleneck serves this flow while it is busy.

use std::collections::VecDeque;

use mimosa_units::{Bytes, PeerTime, Rate, Time, TimeDelta};

/// A busy period tells a rate from so many packets on.
const LEAST_PACKETS: usize = 6;
/// Only what arrived so lately counts.
const WINDOW: TimeDelta = TimeDelta::from_millis(30);
/// Packets remembered.
const MOST: usize = 2_048;

/// The newest busy period.
#[derive(Debug, Default)]
pub(super) struct Service {
    /// When each arrived, and its size.
    chain: VecDeque<(PeerTime, Bytes)>,
    bytes: Bytes,
    rate: Option<Rate>,
}

impl Service {
    /// A packet sent at `sent` arrived; without a queue after `unqueued`.
    pub(super) fn arrived(&mut self, sent: Time, at: PeerTime, size: Bytes, unqueued: TimeDelta) {
        // It came to the link before the one ahead of it had left.
        let waits = self
            .chain
            .back()
            .is_some_and(|(before, _)| at >= *before && *before - sent > unqueued);
        if !waits {
            self.chain.clear();
            self.bytes = Bytes::ZERO;
        }
        self.chain.push_back((at, size));
        self.bytes += size;
        while self.chain.len() > MOST
            || self
                .chain
                .front()
                .is_some_and(|(first, _)| at - *first > WINDOW)
        {
            let Some((_, size)) = self.chain.pop_front() else {
                break;
            };
            self.bytes -= size;
        }
        let Some((first, size)) = self.chain.front() else {
            return;
        };
        let span = at - *first;
        if self.chain.len() >= LEAST_PACKETS && span > TimeDelta::ZERO {
            self.rate = Some(Rate::of(self.bytes - *size, span));
        }
    }

    /// The rate of the newest busy period that tells one.
    pub(super) const fn rate(&self) -> Option<Rate> {
        self.rate
    }
}
