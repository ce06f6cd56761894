//! One direction of a cell: its queue, its transport blocks, and delivery in order.

use std::collections::VecDeque;
use std::fmt::Debug;

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use super::channel::Radio;
use super::config::CellConfig;
use crate::link::Served;
use crate::packet::Packet;
use crate::queue::{Queue, Waiting};
use crate::random::Random;

/// Headers of a packet in a block: those of MAC, RLC and PDCP; fitted to records made with ns-3.
const HEADERS: Bytes = Bytes::new(36);

/// A packet of which something was put into a block.
#[derive(Debug)]
struct Begun<P> {
    waiting: Waiting<P>,
    started: Time,
    /// Bytes that are in no block yet.
    left: Bytes,
    /// Blocks with a part of it that have not been understood yet.
    missing: u32,
    /// When the newest of its blocks was understood.
    understood: Time,
}

/// A block that has to be sent again.
#[derive(Debug)]
struct Repeat {
    due: Time,
    size: Bytes,
    /// Numbers of the packets that have a part in it.
    packets: std::ops::Range<u64>,
}

/// One direction of a cell.
#[derive(Debug)]
pub(super) struct Way<P> {
    queue: Box<dyn Queue<P>>,
    pub(super) radio: Radio,
    /// Packets that have begun and were not handed up, in order. The first has the number `first`.
    begun: VecDeque<Begun<P>>,
    first: u64,
    repeats: VecDeque<Repeat>,
    /// When the newest packet was handed up.
    newest: Time,
    random: Random,
}

impl<P: Packet + Debug> Way<P> {
    pub(super) fn new(queue: Box<dyn Queue<P>>, radio: Radio, seed: u64, name: &str) -> Self {
        Self {
            queue,
            radio,
            begun: VecDeque::new(),
            first: 0,
            repeats: VecDeque::new(),
            newest: Time::ZERO,
            random: Random::new(seed, name),
        }
    }

    pub(super) fn enqueue(&mut self, now: Time, packet: P, dropped: &mut Vec<P>) {
        self.queue.enqueue(now, packet, dropped);
    }

    /// Whether something has to be sent or sent again.
    pub(super) fn has_work(&self) -> bool {
        !self.queue.is_empty() || !self.repeats.is_empty() || self.is_partly_sent()
    }

    fn is_partly_sent(&self) -> bool {
        self.begun
            .back()
            .is_some_and(|last| last.left > Bytes::ZERO)
    }

    /// Sends up to `most` in the slot that begins at `at`: first what is repeated, then what waits.
    /// Returns how much of the slot it took.
    pub(super) fn serve(
        &mut self,
        at: Time,
        most: Bytes,
        config: &CellConfig,
        dropped: &mut Vec<P>,
    ) -> Bytes {
        let mut left = most;
        // A repeat takes what it took, which the channel may not give now: it is sent all the same.
        while let Some(repeat) = self
            .repeats
            .pop_front_if(|repeat| repeat.due <= at && most > Bytes::ZERO)
        {
            left -= repeat.size;
            if self.random.chance(config.failed_again) {
                let due = at + config.again_after;
                self.repeats.push_back(Repeat { due, ..repeat });
            } else {
                self.understood(at, repeat.packets);
            }
        }
        let repeated = most - left;
        let Some((packets, size)) = self.block(at, left, dropped) else {
            return repeated;
        };
        if self.random.chance(config.failed) {
            self.repeats.push_back(Repeat {
                due: at + config.again_after,
                size,
                packets,
            });
        } else {
            self.understood(at, packets);
        }
        repeated + size
    }

    /// Makes a block of up to `most`. Returns the numbers of the packets in it, and its size.
    fn block(
        &mut self,
        at: Time,
        most: Bytes,
        dropped: &mut Vec<P>,
    ) -> Option<(std::ops::Range<u64>, Bytes)> {
        let end = |way: &Self| way.first + way.begun.len() as u64;
        let mut left = most;
        let mut from = None;
        while left > HEADERS {
            if !self.is_partly_sent() {
                let Some(waiting) = self.queue.dequeue(at, dropped) else {
                    break;
                };
                self.begun.push_back(Begun {
                    left: waiting.packet.size() + HEADERS,
                    waiting,
                    started: at,
                    missing: 0,
                    understood: Time::ZERO,
                });
            }
            let number = end(self) - 1;
            from.get_or_insert(number);
            if let Some(last) = self.begun.back_mut() {
                let taken = last.left.min(left);
                last.left -= taken;
                last.missing += 1;
                left -= taken;
            }
        }
        Some((from?..end(self), most - left))
    }

    /// Notes that a block with these packets, sent at `at`, was understood.
    fn understood(&mut self, at: Time, packets: std::ops::Range<u64>) {
        for number in packets {
            let index = number.checked_sub(self.first);
            let index = index.and_then(|index| usize::try_from(index).ok());
            if let Some(begun) = index.and_then(|index| self.begun.get_mut(index)) {
                begun.missing = begun.missing.saturating_sub(1);
                begun.understood = begun.understood.max(at);
            }
        }
    }

    /// Takes the packets that are whole and that no earlier one holds up.
    pub(super) fn released(&mut self, latency: TimeDelta) -> std::vec::IntoIter<Served<P>> {
        let mut released = Vec::new();
        let is_whole = |begun: &mut Begun<P>| begun.left == Bytes::ZERO && begun.missing == 0;
        while let Some(begun) = self.begun.pop_front_if(is_whole) {
            self.first += 1;
            self.newest = self.newest.max(begun.understood + latency);
            released.push(Served {
                packet: begun.waiting.packet,
                offered: begun.waiting.since,
                started: begun.started,
                finished: self.newest,
            });
        }
        released.into_iter()
    }

    pub(super) fn rate_changed(&mut self, rate: Rate) {
        self.queue.rate_changed(rate);
    }

    pub(super) fn lane(&self, packet: &P) -> usize {
        self.queue.lane(packet)
    }

    pub(super) fn backlog(&self) -> Bytes {
        let begun = self.begun.iter().map(|begun| begun.waiting.packet.size());
        self.queue.backlog() + begun.fold(Bytes::ZERO, |sum, size| sum + size)
    }

    pub(super) fn packets(&self) -> usize {
        self.queue.len() + self.begun.len()
    }
}
