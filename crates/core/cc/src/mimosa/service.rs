//! The rate at which the bottleneck serves this flow while it is busy.

use std::collections::VecDeque;

use mimosa_units::{Bytes, PeerTime, Rate, Time, TimeDelta};

/// Least number of packets in a busy period from which its rate is computed.
const LEAST_PACKETS: usize = 6;
/// Time before the newest arrival in which a busy period's packets count.
const WINDOW: TimeDelta = TimeDelta::from_millis(30);
/// Time for which the rate of a busy period counts after its last packet.
const FRESH: TimeDelta = TimeDelta::from_millis(100);
/// Time of service over which the mean rate is averaged, and the least from which it is computed: our
/// choice.
const MEAN: TimeDelta = TimeDelta::from_millis(1_000);
const LEAST_SERVED: TimeDelta = TimeDelta::from_millis(20);
/// Most packets remembered.
const MOST: usize = 2_048;

/// The newest busy period, in which each packet came to the link before the one ahead had
/// left.
#[derive(Debug, Default)]
pub(super) struct Service {
    /// Arrival and size of each packet.
    chain: VecDeque<(PeerTime, Bytes)>,
    bytes: Bytes,
    rate: Option<Rate>,
    /// Arrival of the last packet from which `rate` was computed.
    told: Option<PeerTime>,
    newest: Option<PeerTime>,
    /// Bytes served while others waited, and the seconds that took; older ones with less weight.
    served: (f64, f64),
}

impl Service {
    /// Takes a packet that was sent at `sent` and arrived at `at`. Without a queue, packets
    /// arrive `unqueued` after they were sent.
    pub(super) fn arrived(&mut self, sent: Time, at: PeerTime, size: Bytes, unqueued: TimeDelta) {
        self.newest = Some(at);
        // Whether the packet came to the link before the one ahead of it had left.
        let waits = self
            .chain
            .back()
            .is_some_and(|(before, _)| at >= *before && *before - sent > unqueued);
        if !waits {
            self.chain.clear();
            self.bytes = Bytes::ZERO;
        } else if let Some((before, _)) = self.chain.back() {
            let gap = at - *before;
            let kept = libm::exp(-gap.ratio(MEAN));
            self.served.0 = kept * self.served.0 + size.get() as f64;
            self.served.1 = kept * self.served.1 + gap.as_secs();
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

    /// The rate of the newest busy period that was long enough. `None` before the first, and
    /// if packets have since come without a queue for a while: the link may be faster by now.
    pub(super) fn rate(&self) -> Option<Rate> {
        let (told, newest) = self.told.zip(self.newest)?;
        self.rate.filter(|_| newest - told <= FRESH)
    }

    /// The mean rate at which packets are served while others wait. `None` before there is one.
    pub(super) fn mean(&self) -> Option<Rate> {
        let (bytes, seconds) = self.served;
        let is_enough = seconds > LEAST_SERVED.as_secs();
        is_enough.then(|| Rate::of(Bytes::from_f64(bytes), TimeDelta::from_secs(seconds)))
    }
}
