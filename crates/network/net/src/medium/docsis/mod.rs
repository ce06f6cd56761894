//! Cable, DOCSIS 3.1: a serialiser there, and requests and grants back.
//!
//! `CableLabs`, CM-SP-MULPIv3.1 (MAP messages, requests in the contention region and on data, back-off,
//! continuous concatenation and fragmentation, proactive grant service); G. White, K. Sundaresan and
//! B. Briscoe, *Low Latency DOCSIS: Technology Overview* (draft-white-tsvwg-lld-00); docsis-ns3,
//! `CableLabs`' model of it for ns-3, `doc/source/docsis.rst` (the order of events, and defaults).
//!
//! The link there sends one packet after the other. The link back has MAP messages, each of which
//! says who sends what in an interval:
//!
//! ```text
//! comes to an idle modem   asks at a random place of the next interval in which it has no grant
//! collides                 asks again after the MAP that would have answered, and a back-off of
//!                          0 to 2^n - 1 intervals
//! request in interval n    granted in interval n + answer, up to the interval's capacity; the rest later
//! grant                    takes the queue's bytes; asks with them for all that has come since
//! ```
//!
//! *Deviations*: grants are in bytes and not in minislots, and neither they nor packets have headers,
//! which a service flow's rate does not count either. Bytes leave at `rate_back`, and not in a burst
//! at the channel's rate. A request is answered by the `answer`-th MAP after its own, whatever its
//! place. The token bucket of the service flow is left out: the rates are those it sustains, and a
//! burst beyond it is not modelled. Requests are repeated for ever. Packets may be fragmented. One
//! modem has the stream's packets, and others have none; the others' part of an interval lies
//! anywhere in it. A proactive grant comes once in each interval.

mod config;
mod modem;
mod read;
#[cfg(test)]
mod tests;

use std::fmt::Debug;

use mimosa_units::{Bytes, Rate, Time};

pub use config::{DocsisConfig, OtherModems};
use modem::Modem;

use super::Port;
use super::passed::Passed;
use crate::link::{Link, Served};
use crate::packet::Packet;
use crate::queue::QueueConfig;
use crate::schedule::Schedule;

/// A cable, for packets of type `P`.
#[derive(Debug)]
pub struct Docsis<P> {
    config: DocsisConfig,
    down: Link<P>,
    up: Modem<P>,
    passed: Passed<P>,
}

impl<P: Packet + Debug + Send + 'static> Docsis<P> {
    /// An idle cable. `there` is the queue at the head end, `back` that of the modem; random numbers
    /// follow from `seed`.
    #[must_use]
    pub fn new(config: DocsisConfig, there: &QueueConfig, back: &QueueConfig, seed: u64) -> Self {
        let schedule = Schedule::constant(config.rate);
        Self {
            down: Link::new(there.build(seed), schedule),
            up: Modem::new(config.clone(), back.build(seed.wrapping_add(1)), seed),
            passed: Passed::new(),
            config,
        }
    }

    /// Offers a packet to the link there or back at `now`, which must not be before the time of
    /// the last call. Packets that a queue gives up are appended to `dropped`.
    pub fn offer(&mut self, now: Time, port: Port, packet: P, dropped: &mut Vec<P>) {
        self.advance(now, dropped);
        match port {
            Port::There => self.down.offer(now, packet, dropped),
            Port::Back => self.up.offer(now, packet, dropped),
        }
    }

    /// When to call [`Docsis::poll`]; [`Time::MAX`] for never.
    #[must_use]
    pub fn deadline(&self) -> Time {
        let acts = self.down.deadline().min(self.up.deadline());
        acts.min(self.passed.next())
    }

    /// Takes a packet that has passed by `now`, and the link that it passed. Packets that a queue
    /// gives up are appended to `dropped`. Call it until it returns `None`, and before
    /// [`Docsis::offer`] with the same time.
    pub fn poll(&mut self, now: Time, dropped: &mut Vec<P>) -> Option<(Port, Served<P>)> {
        self.advance(now, dropped);
        self.passed.pop(now)
    }

    fn advance(&mut self, now: Time, dropped: &mut Vec<P>) {
        while let Some(served) = self.down.poll(now, dropped) {
            self.pass(Port::There, served);
        }
        let mut sent = Vec::new();
        self.up.advance(now, &mut sent, dropped);
        for served in sent {
            self.pass(Port::Back, served);
        }
    }

    /// Notes that the last bit of a packet has left.
    fn pass(&mut self, port: Port, served: Served<P>) {
        let finished = served.finished + self.config.latency;
        self.passed.push(port, Served { finished, ..served });
    }

    /// The rate that counts as the cable's capacity in figures: that of the link there.
    #[must_use]
    pub const fn capacity(&self) -> Rate {
        self.config.rate
    }

    /// The number of the queue in which a packet waits or would wait; see
    /// [`Queue::lane`](crate::queue::Queue::lane).
    #[must_use]
    pub fn lane(&self, port: Port, packet: &P) -> usize {
        match port {
            Port::There => self.down.lane(packet),
            Port::Back => self.up.lane(packet),
        }
    }

    /// Data that wait or are being sent in one direction.
    #[must_use]
    pub fn backlog(&self, port: Port) -> Bytes {
        match port {
            Port::There => self.down.backlog(),
            Port::Back => self.up.backlog(),
        }
    }

    /// Number of packets in the cable in one direction.
    #[must_use]
    pub fn packets_of(&self, port: Port) -> usize {
        match port {
            Port::There => self.down.packets() + self.passed.len(port),
            Port::Back => self.up.packets() + self.passed.len(port),
        }
    }
}
