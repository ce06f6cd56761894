//! A satellite in a low orbit, as Starlink has them: a terminal that changes satellites every 15 s.
//!
//! G. Huston, *A transport protocol's view of Starlink* (APNIC, 2024): a satellite for 15 s, latency
//! that changes with it, losses and spikes at the change; arXiv 2601.08439 (one-way latency at
//! 500 Hz): spikes for about 140 ms at the beginning of each period and 75 ms at its end, stable
//! between; *A browser-side view of Starlink* (IMC 2022): up to half of the packets lost in bursts at
//! a change; J. Garcia, S. Sundberg and A. Brunstrom, *A detailed characterization of Starlink one-way
//! delay* (LEO-NET 2025): the 15 s touch the link back more than the link there.
//!
//! For each satellite a latency and a rate in each direction are drawn. The link there sends one
//! packet after the other. The link back has radio frames: what came during one leaves with the next
//! one, as much as the rate carries. Around a change lies a gap, whose length is drawn: in its first part
//! what is sent is lost, and then nothing is sent. Packets arrive in order in each direction, also
//! where the next satellite has less latency.
//!
//! *Deviations*: no paper states the mechanism, which is the operator's own; this one is the simplest
//! that has periods, spikes and bursts of losses. Within a period the latency does not drift, and nobody else takes
//! capacity. A gap holds what comes, and so is as high as it is long, which the spikes that were
//! measured are not. A packet that began in a gap's lossy part and was not finished in it is not lost.
//! A radio frame's packets leave together at its beginning.

mod changes;
mod config;
mod read;
#[cfg(test)]
mod tests;

use std::fmt::Debug;

use mimosa_units::{Bytes, Rate, Time};

use changes::{Change, Changes};
pub use config::SatelliteConfig;

use super::Port;
use super::passed::Passed;
use crate::link::{Link, Served};
use crate::packet::Packet;
use crate::queue::QueueConfig;
use crate::schedule::Schedule;
use crate::ticks::Ticks;

/// A satellite link, for packets of type `P`.
#[derive(Debug)]
pub struct Satellite<P> {
    capacity: Rate,
    down: Link<P>,
    up: Ticks<P>,
    changes: Changes,
    /// The satellite before the change `newest`.
    before: changes::Satellite,
    /// The change that came last; `None` before the first one.
    newest: Option<Change>,
    /// The change whose gap has not begun.
    next: Change,
    passed: Passed<P>,
}

impl<P: Packet + Debug + Send + 'static> Satellite<P> {
    /// An idle link. `there` is the queue on the ground, `back` that of the terminal; random numbers
    /// follow from `seed`.
    #[must_use]
    pub fn new(
        config: SatelliteConfig,
        there: &QueueConfig,
        back: &QueueConfig,
        seed: u64,
    ) -> Self {
        let (capacity, frame) = (config.capacity(), config.frame);
        let mut changes = Changes::new(config, seed);
        let first = changes.satellite();
        let next = changes.change();
        let (down, up) = (there.build(seed), back.build(seed.wrapping_add(1)));
        Self {
            capacity,
            down: Link::new(down, Schedule::constant(first.rate)),
            up: Ticks::new(up, Schedule::constant(first.rate_back), frame),
            changes,
            before: first,
            newest: None,
            next,
            passed: Passed::new(),
        }
    }

    /// Offers a packet to the link there or back at `now`, which must not be before the time of
    /// the last call. Packets that a queue gives up are appended to `dropped`, as are those that
    /// are lost in a gap.
    pub fn offer(&mut self, now: Time, port: Port, packet: P, dropped: &mut Vec<P>) {
        self.advance(now, dropped);
        match port {
            Port::There => self.down.offer(now, packet, dropped),
            Port::Back => self.up.offer(now, packet, dropped),
        }
    }

    /// When to call [`Satellite::poll`]; [`Time::MAX`] for never.
    #[must_use]
    pub fn deadline(&self) -> Time {
        // A gap changes when what is being sent leaves.
        let change = match self.down.packets() + self.up.packets() {
            0 => Time::MAX,
            _ => self.next.begins,
        };
        let links = self.down.deadline().min(self.up.deadline());
        links.min(change).min(self.passed.next())
    }

    /// Takes a packet that has passed by `now`, and the link that it passed. Packets that a queue
    /// gives up are appended to `dropped`, as are those that are lost in a gap. Call it until it
    /// returns `None`, and before [`Satellite::offer`] with the same time.
    pub fn poll(&mut self, now: Time, dropped: &mut Vec<P>) -> Option<(Port, Served<P>)> {
        self.advance(now, dropped);
        self.passed.pop(now)
    }

    fn advance(&mut self, now: Time, dropped: &mut Vec<P>) {
        while self.next.begins <= now {
            self.serve(self.next.begins, dropped);
            let old = self.newest.map_or(self.before, |newest| newest.to);
            let change = std::mem::replace(&mut self.next, self.changes.change());
            let at = change.begins;
            let schedule = change.schedule(old.rate, change.to.rate);
            self.down.set_schedule(at, schedule);
            let schedule = change.schedule(old.rate_back, change.to.rate_back);
            self.up.set_schedule(at, schedule);
            self.before = old;
            self.newest = Some(change);
        }
        self.serve(now, dropped);
    }

    /// Takes what the links have served by `now`.
    fn serve(&mut self, now: Time, dropped: &mut Vec<P>) {
        while let Some(served) = self.down.poll(now, dropped) {
            self.pass(Port::There, served, dropped);
        }
        while let Some(served) = self.up.poll(now, dropped) {
            self.pass(Port::Back, served, dropped);
        }
    }

    /// Notes that the last bit of a packet has left.
    fn pass(&mut self, port: Port, served: Served<P>, dropped: &mut Vec<P>) {
        let left = served.finished;
        if self.newest.is_some_and(|newest| newest.loses(left)) {
            dropped.push(served.packet);
            return;
        }
        let newest = self.newest.filter(|newest| newest.at <= left);
        let satellite = newest.map_or(self.before, |newest| newest.to);
        let finished = left + satellite.latency;
        self.passed.push(port, Served { finished, ..served });
    }

    /// The rate that counts as the link's capacity in figures: the mean of the rates there.
    #[must_use]
    pub const fn capacity(&self) -> Rate {
        self.capacity
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

    /// Number of packets in the link in one direction.
    #[must_use]
    pub fn packets_of(&self, port: Port) -> usize {
        let waiting = match port {
            Port::There => self.down.packets(),
            Port::Back => self.up.packets(),
        };
        waiting + self.passed.len(port)
    }
}
