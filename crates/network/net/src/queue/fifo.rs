//! Packets in the order in which they came, and the sum of their sizes.

use std::collections::VecDeque;

use mimosa_units::{Bytes, Time, TimeDelta};

use crate::packet::Packet;
use crate::queue::Waiting;

/// A first-in, first-out list of packets, of which every discipline is made.
#[derive(Debug)]
pub(crate) struct Fifo<P> {
    waiting: VecDeque<Waiting<P>>,
    backlog: Bytes,
}

impl<P> Fifo<P> {
    pub(crate) const fn new() -> Self {
        Self {
            waiting: VecDeque::new(),
            backlog: Bytes::ZERO,
        }
    }

    pub(crate) const fn backlog(&self) -> Bytes {
        self.backlog
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// How long the oldest packet has waited at `now`; zero when there is none.
    pub(crate) fn delay(&self, now: Time) -> TimeDelta {
        self.waiting
            .front()
            .map_or(TimeDelta::ZERO, |oldest| now.since(oldest.since))
    }
}

impl<P: Packet> Fifo<P> {
    pub(crate) fn push(&mut self, now: Time, packet: P) {
        self.backlog += packet.size();
        self.waiting.push_back(Waiting { packet, since: now });
    }

    /// Takes the oldest packet.
    pub(crate) fn pop(&mut self) -> Option<Waiting<P>> {
        let oldest = self.waiting.pop_front()?;
        self.backlog -= oldest.packet.size();
        Some(oldest)
    }

    /// Takes the newest packet.
    pub(crate) fn pop_newest(&mut self) -> Option<Waiting<P>> {
        let newest = self.waiting.pop_back()?;
        self.backlog -= newest.packet.size();
        Some(newest)
    }
}
