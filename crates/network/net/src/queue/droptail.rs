//! Drop-tail: first in, first out; a packet that finds the queue full is dropped.
//!
//! A limit in time bounds the wait of a packet at the link's present rate, as RFC 8868,
//! section 4.3, states drop-tail queues; during an outage the last rate above zero
//! counts.

use std::fmt::Debug;

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use crate::keys::{KeyProblem, Keys, Read};
use crate::packet::Packet;
use crate::queue::{Discipline, Fifo, Queue, Surroundings, Waiting};

/// How much a queue holds at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// This many bytes.
    Bytes(Bytes),
    /// This many packets.
    Packets(usize),
    /// As many bytes as the link serves in this time.
    Time(TimeDelta),
    /// No limit, for experiments on delay alone.
    Unlimited,
}

impl Limit {
    /// Reads a limit as it is written in files: a size, a time, a number of packets, or
    /// `unlimited`. `None` for any other text.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text == "unlimited" {
            return Some(Self::Unlimited);
        }
        if let Some(count) = text.strip_suffix("packets") {
            return count.trim().parse().ok().map(Self::Packets);
        }
        let bytes = text.parse().map(Self::Bytes);
        bytes.or_else(|_| text.parse().map(Self::Time)).ok()
    }
}

/// Parameters of a [`DropTail`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DropTailConfig {
    /// How much the queue holds at most.
    pub limit: Limit,
}

impl Default for DropTailConfig {
    /// A limit of 500 kB, our choice: 200 ms at 20 Mbit/s.
    fn default() -> Self {
        Self {
            limit: Limit::Bytes(Bytes::new(500_000)),
        }
    }
}

impl Discipline for DropTailConfig {
    const NAME: &'static str = "droptail";

    fn read(keys: &mut Keys<'_>, around: &Surroundings<'_>) -> Read<Self> {
        let Some(limit) = keys.limit()? else {
            return Err(keys.error(KeyProblem::Missing {
                key: "limit",
                mend: "write a size \"500kB\", a time \"300ms\", or a number \"250packets\"",
            }));
        };
        let (rate, packet) = (around.slowest, around.largest);
        let problem = match limit {
            Limit::Time(limit) if rate.amount_in(limit) < packet => {
                KeyProblem::QueueTimeBelowPacket {
                    limit,
                    rate,
                    packet,
                    needs: rate.transmit_time(packet),
                }
            }
            Limit::Bytes(limit) if limit < packet => KeyProblem::QueueBelowPacket { limit, packet },
            Limit::Packets(0) => KeyProblem::OutOfRange {
                key: "limit",
                must: "one packet or more",
            },
            _ => return Ok(Self { limit }),
        };
        Err(keys.error_at("limit", problem))
    }

    fn build<P: Packet + Debug + Send + 'static>(&self, _seed: u64) -> Box<dyn Queue<P>> {
        Box::new(DropTail::new(self.limit))
    }
}

/// The drop-tail queue.
#[derive(Debug)]
pub struct DropTail<P> {
    limit: Limit,
    /// The limit in bytes where it is stated in bytes or in time; [`Bytes::MAX`] otherwise.
    most: Bytes,
    waiting: Fifo<P>,
}

impl<P> DropTail<P> {
    /// An empty queue. With a limit in time it holds everything until `rate_changed`
    /// tells it the rate.
    #[must_use]
    pub fn new(limit: Limit) -> Self {
        Self {
            limit,
            most: match limit {
                Limit::Bytes(most) => most,
                Limit::Packets(_) | Limit::Time(_) | Limit::Unlimited => Bytes::MAX,
            },
            waiting: Fifo::new(),
        }
    }
}

impl<P: Packet + Debug + Send> Queue<P> for DropTail<P> {
    fn enqueue(&mut self, now: Time, packet: P, dropped: &mut Vec<P>) {
        let full = match self.limit {
            Limit::Packets(most) => self.waiting.len() >= most,
            _ => self.waiting.backlog() + packet.size() > self.most,
        };
        if full {
            dropped.push(packet);
        } else {
            self.waiting.push(now, packet);
        }
    }

    fn dequeue(&mut self, _now: Time, _dropped: &mut Vec<P>) -> Option<Waiting<P>> {
        self.waiting.pop()
    }

    fn backlog(&self) -> Bytes {
        self.waiting.backlog()
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }

    fn rate_changed(&mut self, rate: Rate) {
        if let Limit::Time(time) = self.limit
            && rate > Rate::ZERO
        {
            self.most = rate.amount_in(time);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::TestPacket;

    /// Offers 20 packets of 1000 bytes at a rate of 1000 bytes a millisecond, and
    /// counts those that the queue keeps.
    fn kept(limit: Limit) -> usize {
        let mut queue = DropTail::new(limit);
        queue.rate_changed(Rate::from_kbps(8_000)); // 1000 bytes a millisecond
        queue.rate_changed(Rate::ZERO);
        let mut dropped = Vec::new();
        for _ in 0..20 {
            queue.enqueue(Time::ZERO, TestPacket::sized(1000), &mut dropped);
        }
        assert_eq!(queue.len() + dropped.len(), 20);
        assert_eq!(queue.backlog(), Bytes::new(1000 * queue.len() as u64));
        queue.len()
    }

    #[test]
    fn each_kind_of_limit_holds_what_it_says() {
        assert_eq!(kept(Limit::Bytes(Bytes::new(5_500))), 5);
        assert_eq!(kept(Limit::Packets(7)), 7);
        assert_eq!(kept(Limit::Time(TimeDelta::from_millis(3))), 3);
        assert_eq!(kept(Limit::Unlimited), 20);
    }

    #[test]
    fn order_is_kept_and_waiting_is_timed() {
        let mut queue = DropTail::new(Limit::Unlimited);
        let mut dropped = Vec::new();
        queue.enqueue(Time::from_millis(1), TestPacket::sized(1), &mut dropped);
        queue.enqueue(Time::from_millis(2), TestPacket::sized(2), &mut dropped);
        let first = queue.dequeue(Time::from_millis(9), &mut dropped).unwrap();
        assert_eq!(
            (first.packet, first.since),
            (TestPacket::sized(1), Time::from_millis(1))
        );
    }
}
