//! A cell of LTE or NR: slots, repeats, grants and handovers.
//!
//! 3GPP TS 36.321 and 38.321 (HARQ, scheduling requests, grants); 36.322 and 38.322 (delivery in
//! order). Each slot carries a transport block, whose size is what the radio channel gives; a packet
//! may begin in one block and end in another. A block that is not understood is sent again some
//! slots later, and everything behind it waits. A station that has something to send for the link
//! back asks at its next occasion, and is granted slots some time later until its queue is empty.
//!
//! *Deviations*: one station has the stream's packets; others are sent to and have no packets. The
//! scheduler gives whole slots. Repeats are unlimited, as RLC's acknowledged mode would repeat what
//! HARQ gives up. No carrier aggregation, no discontinuous reception. `docs/how-it-works/media.md`
//! compares the LTE cell with records made with ns-3.

mod channel;
mod config;
mod read;
#[cfg(test)]
mod tests;
mod way;

use std::collections::VecDeque;
use std::fmt::Debug;

use mimosa_units::{Bytes, Rate, Time};

use channel::{Radio, Slots};
pub use config::{CellConfig, Handovers, Others, Rates, Slot};
use way::Way;

use super::Port;
use crate::link::Served;
use crate::packet::Packet;
use crate::queue::QueueConfig;
use crate::random::Random;

/// A cell, for packets of type `P`.
#[derive(Debug)]
pub struct Cell<P> {
    config: CellConfig,
    down: Way<P>,
    up: Way<P>,
    slots: Slots,
    /// The number of the next slot that is looked at.
    next: u64,
    /// When the slots are granted that the station has asked for; `None` where it has not asked.
    granted: Option<Time>,
    /// The next handover: its beginning and its end.
    handover: (Time, Time),
    handovers: Random,
    passed: VecDeque<(Port, Served<P>)>,
}

impl<P: Packet + Debug + Send + 'static> Cell<P> {
    /// An idle cell. `there` is the queue at the base station, `back` that of the station; random
    /// numbers follow from `seed`.
    #[must_use]
    pub fn new(config: CellConfig, there: &QueueConfig, back: &QueueConfig, seed: u64) -> Self {
        let radio = |rates: &Rates, name| Radio::new(rates.clone(), seed, name);
        let down = radio(&config.down, "cell down");
        let up = radio(&config.up, "cell up");
        let mut made = Self {
            down: Way::new(there.build(seed), down, seed, "cell blocks down"),
            up: Way::new(back.build(seed.wrapping_add(1)), up, seed, "cell blocks up"),
            slots: Slots::new(config.others, &config.down, seed),
            next: 0,
            granted: None,
            handover: (Time::MAX, Time::MAX),
            handovers: Random::new(seed, "cell handovers"),
            passed: VecDeque::new(),
            config,
        };
        made.down.rate_changed(made.config.down.mean());
        made.up.rate_changed(made.config.up.mean());
        made.plan_handover(Time::ZERO);
        made
    }

    fn plan_handover(&mut self, from: Time) {
        if let Some(Handovers { every, length }) = self.config.handovers {
            let begin = from + self.handovers.exponential(every);
            self.handover = (begin, begin + length);
        }
    }

    fn begin_of(&self, slot: u64) -> Time {
        let nanos = self.config.slot.as_nanos().unsigned_abs();
        Time::from_nanos(slot.saturating_mul(nanos))
    }

    /// The number of the first slot that begins at or after `at`.
    fn slot_from(&self, at: Time) -> u64 {
        at.as_nanos()
            .div_ceil(self.config.slot.as_nanos().unsigned_abs().max(1))
    }

    /// Offers a packet to the link there or back at `now`, which must not be before the time of
    /// the last call. Packets that a queue gives up are appended to `dropped`.
    pub fn offer(&mut self, now: Time, port: Port, packet: P, dropped: &mut Vec<P>) {
        self.advance(now, dropped);
        let was_idle = !self.down.has_work() && !self.up.has_work();
        match port {
            Port::There => self.down.enqueue(now, packet, dropped),
            Port::Back => {
                self.up.enqueue(now, packet, dropped);
                if self.granted.is_none() {
                    self.granted = Some(self.asked(now));
                }
            }
        }
        if was_idle {
            self.next = self.next.max(self.slot_from(now));
        }
    }

    /// When the slots are granted for which the station asks at its next occasion from `now` on.
    fn asked(&self, now: Time) -> Time {
        let between = self.config.request.as_nanos().unsigned_abs();
        let occasion = match between {
            0 => now,
            _ => Time::from_nanos(now.as_nanos().div_ceil(between).saturating_mul(between)),
        };
        occasion + self.config.grant
    }

    /// When to call [`Cell::poll`]; [`Time::MAX`] for never.
    #[must_use]
    pub fn deadline(&self) -> Time {
        let passed = self.passed.front().map(|(_, served)| served.finished);
        self.next_slot().min(passed.unwrap_or(Time::MAX))
    }

    /// When the next slot begins that may carry something.
    fn next_slot(&self) -> Time {
        if self.down.has_work() || self.up.has_work() {
            self.begin_of(self.next)
        } else {
            Time::MAX
        }
    }

    /// Takes a packet that has passed by `now`, and the link that it passed. Packets that a queue
    /// gives up are appended to `dropped`. Call it until it returns `None`, and before
    /// [`Cell::offer`] with the same time.
    pub fn poll(&mut self, now: Time, dropped: &mut Vec<P>) -> Option<(Port, Served<P>)> {
        self.advance(now, dropped);
        let due = |(_, served): &mut (Port, Served<P>)| served.finished <= now;
        self.passed.pop_front_if(due)
    }

    fn advance(&mut self, now: Time, dropped: &mut Vec<P>) {
        while self.next_slot() <= now {
            let at = self.begin_of(self.next);
            let pattern = &self.config.pattern;
            let index = self.next % pattern.len().max(1) as u64;
            let slot = usize::try_from(index).ok().and_then(|at| pattern.get(at));
            let slot = slot.copied().unwrap_or(Slot::Both);
            self.next += 1;
            while self.handover.1 <= at {
                self.plan_handover(self.handover.1);
            }
            if at >= self.handover.0 {
                continue;
            }
            self.serve(at, slot, dropped);
        }
    }

    /// Serves the slot that begins at `at`.
    fn serve(&mut self, at: Time, slot: Slot, dropped: &mut Vec<P>) {
        let length = self.config.slot;
        let part = slot.part(true);
        if part > 0.0 && self.down.has_work() {
            let rate = self.down.radio.rate(at);
            if self.slots.are_ours(at, rate, length) {
                let most = rate.amount_in(length.scale(part));
                let had = self.down.serve(at, most, &self.config, dropped);
                self.slots.had(had);
            }
        }
        let part = slot.part(false);
        if part > 0.0 && self.up.has_work() && self.granted.is_some_and(|from| from <= at) {
            let rate = self.up.radio.rate(at);
            let most = rate.amount_in(length.scale(part));
            self.up.serve(at, most, &self.config, dropped);
        }
        // What is left is granted with the block that says so; an empty queue has to ask anew.
        if !self.up.has_work() {
            self.granted = None;
        }
        let was = self.passed.len();
        for (port, way) in [(Port::There, &mut self.down), (Port::Back, &mut self.up)] {
            let released = way.released(self.config.latency);
            self.passed.extend(released.map(|served| (port, served)));
        }
        if self.passed.len() > was {
            self.passed
                .make_contiguous()
                .sort_by_key(|(_, served)| served.finished);
        }
    }

    const fn way(&self, port: Port) -> &Way<P> {
        match port {
            Port::There => &self.down,
            Port::Back => &self.up,
        }
    }

    /// The rate that counts as the cell's capacity in figures.
    #[must_use]
    pub fn capacity(&self) -> Rate {
        self.config.capacity()
    }

    /// The number of the queue in which a packet waits or would wait; see
    /// [`Queue::lane`](crate::queue::Queue::lane).
    #[must_use]
    pub fn lane(&self, port: Port, packet: &P) -> usize {
        self.way(port).lane(packet)
    }

    /// Data that wait or are being sent in one direction.
    #[must_use]
    pub fn backlog(&self, port: Port) -> Bytes {
        self.way(port).backlog()
    }

    /// Number of packets in the cell in one direction.
    #[must_use]
    pub fn packets_of(&self, port: Port) -> usize {
        let passed = self.passed.iter().filter(|(own, _)| *own == port);
        self.way(port).packets() + passed.count()
    }
}
