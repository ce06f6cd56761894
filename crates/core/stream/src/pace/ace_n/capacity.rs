//! Estimates the bottleneck's capacity by packets that left back to back (S. Keshav, *Packet-pair
//! flow control*): behind the bottleneck they are as far apart as it takes to send one.

use mimosa_facts::{SentPacket, Sequence};
use mimosa_units::{Bytes, PeerTime, Rate, Time};

use super::config::Config;

/// Packets in a row that left back to back.
#[derive(Clone, Copy, Debug)]
struct Train {
    last: Sequence,
    first_sent: Time,
    last_sent: Time,
    first_arrival: PeerTime,
    last_arrival: PeerTime,
    /// Size of all packets but the first.
    behind_first: Bytes,
}

/// The smoothed rate of trains.
#[derive(Debug)]
pub(super) struct Capacity {
    train: Option<Train>,
    rate: Option<Rate>,
}

impl Capacity {
    pub(super) const fn new() -> Self {
        Self {
            train: None,
            rate: None,
        }
    }

    /// The capacity; `None` before the first train has ended.
    pub(super) const fn rate(&self) -> Option<Rate> {
        self.rate
    }

    /// A packet arrived. A packet that does not follow the one before ends the train.
    pub(super) fn arrived(&mut self, packet: &SentPacket, at: PeerTime, config: &Config) {
        if let Some(train) = &mut self.train
            && train.last.0.checked_add(1) == Some(packet.sequence.0)
            && packet.sent.since(train.last_sent) <= config.back_to_back
            && at >= train.last_arrival
        {
            train.last = packet.sequence;
            train.last_sent = train.last_sent.max(packet.sent);
            train.last_arrival = at;
            train.behind_first += packet.size;
            return;
        }
        self.end_train(config);
        self.train = Some(Train {
            last: packet.sequence,
            first_sent: packet.sent,
            last_sent: packet.sent,
            first_arrival: at,
            last_arrival: at,
            behind_first: Bytes::ZERO,
        });
    }

    /// Ends the train. Only a train that the network spread out tells the capacity.
    fn end_train(&mut self, config: &Config) {
        let Some(train) = self.train.take() else {
            return;
        };
        let span = train.last_arrival - train.first_arrival;
        if span < config.shortest_train || span <= train.last_sent.since(train.first_sent) {
            return;
        }
        let sample = Rate::of(train.behind_first, span);
        let gain = config.capacity_gain;
        self.rate = Some(
            self.rate
                .map_or(sample, |rate| rate.scale(1.0 - gain) + sample.scale(gain)),
        );
    }
}
