//! At which rate the bottleneck serves this flow while it is busy.

use std::collections::VecDeque;

use mimosa_units::{Bytes, PeerTime, Rate, Time, TimeDelta};

/// A busy period tells a rate from so many packets on.
const LEAST_PACKETS: usize = 6;
/// Only what arrived so lately counts.
const WINDOW: TimeDelta = TimeDelta::from_millis(30);
/// For so long a busy period tells the rate.
const FRESH: TimeDelta = TimeDelta::from_millis(100);
/// Packets remembered.
const MOST: usize = 2_048;

/// The newest busy period.
#[derive(Debug, Default)]
pub(super) struct Service {
    /// When each arrived, and its size.
    chain: VecDeque<(PeerTime, Bytes)>,
    bytes: Bytes,
    rate: Option<Rate>,
    /// When the last packet came that told it.
    told: Option<PeerTime>,
    newest: Option<PeerTime>,
}

impl Service {
    /// A packet sent at `sent` arrived; without a queue after `unqueued`.
    pub(super) fn arrived(&mut self, sent: Time, at: PeerTime, size: Bytes, unqueued: TimeDelta) {
        self.newest = Some(at);
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
            self.told = Some(at);
        }
    }

    /// The rate of the newest busy period that tells one. `None` where packets have come since
    /// without a queue for a while: the link may be faster by now.
    pub(super) fn rate(&self) -> Option<Rate> {
        let (told, newest) = self.told.zip(self.newest)?;
        self.rate.filter(|_| newest - told <= FRESH)
    }
}
