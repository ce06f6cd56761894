//! An access point or a station: its queue, the packets that its radio holds, and its aggregates.

use std::collections::VecDeque;
use std::fmt::Debug;

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use super::contender::{Contender, RETRIES};
use super::standard::Timing;
use crate::link::Served;
use crate::packet::Packet;
use crate::queue::{Queue, Waiting};

/// A packet that the radio holds until the receiver has acknowledged it.
#[derive(Debug)]
struct Held<P> {
    waiting: Waiting<P>,
    /// The station that it goes to, or comes from.
    station: usize,
    /// When its first transmission began.
    started: Option<Time>,
    /// When it arrived at the receiver, which hands packets up in order.
    arrived: Option<Time>,
    failed: u32,
}

/// What a radio may put into one transmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// The longest transmission, preamble included.
    pub(super) longest: TimeDelta,
    /// The physical rate.
    pub(super) rate: Rate,
}

/// One transmission of packets to a station, or from it.
#[derive(Debug)]
pub(super) struct Aggregate {
    pub(super) station: usize,
    /// Places of the packets among those that the radio holds, and the part of the transmission
    /// after which each is complete.
    packets: Vec<(usize, f64)>,
    pub(super) airtime: TimeDelta,
}

/// An access point, which sends to all stations, or a station, which sends to the access point.
#[derive(Debug)]
pub(super) struct Node<P> {
    pub(super) contender: Contender,
    queue: Box<dyn Queue<P>>,
    held: VecDeque<Held<P>>,
    /// Packets that the receiver has and that are on the air until `until`: they still occupy
    /// the radio's memory.
    on_air: (usize, Time),
}

impl<P: Packet + Debug> Node<P> {
    pub(super) fn new(contender: Contender, queue: Box<dyn Queue<P>>) -> Self {
        Self {
            contender,
            queue,
            held: VecDeque::new(),
            on_air: (0, Time::ZERO),
        }
    }

    /// Offers a packet to the queue.
    pub(super) fn enqueue(&mut self, now: Time, packet: P, dropped: &mut Vec<P>) {
        self.queue.enqueue(now, packet, dropped);
    }

    /// Takes packets from the queue until the radio holds `most`.
    pub(super) fn fill(
        &mut self,
        now: Time,
        most: usize,
        station_of: impl Fn(&P) -> usize,
        dropped: &mut Vec<P>,
    ) {
        let (on_air, until) = self.on_air;
        let on_air = if now < until { on_air } else { 0 };
        while self.held.len() + on_air < most {
            let Some(waiting) = self.queue.dequeue(now, dropped) else {
                break;
            };
            self.held.push_back(Held {
                station: station_of(&waiting.packet),
                waiting,
                started: None,
                arrived: None,
                failed: 0,
            });
        }
    }

    /// Whether the radio holds something to send.
    pub(super) fn has_work(&self) -> bool {
        self.held.iter().any(|held| held.arrived.is_none())
    }

    /// When the radio, which may hold `most` packets and holds nothing to send, can take a packet
    /// from the queue: when its memory is free again, or when a queue that shapes lets one go.
    /// [`Time::MAX`] where it has something to send, or nothing waits.
    pub(super) fn queue_ready(&self, now: Time, most: usize) -> Time {
        if self.contender.ready < Time::MAX || self.queue.is_empty() {
            return Time::MAX;
        }
        let (on_air, until) = self.on_air;
        if now < until && self.held.len() + on_air >= most {
            return until;
        }
        self.queue.ready(now).max(now + TimeDelta::from_nanos(1))
    }

    /// The station of the first packet that has to be sent.
    pub(super) fn next_station(&self) -> Option<usize> {
        let first = self.held.iter().find(|held| held.arrived.is_none());
        first.map(|held| held.station)
    }

    /// The next transmission: the packets of `station`, in order, as many as `bounds` and the
    /// block-ack window let through; at least one.
    pub(super) fn aggregate(&self, station: usize, timing: &Timing, bounds: Bounds) -> Aggregate {
        let mut bytes = Bytes::ZERO;
        let mut ends = Vec::new();
        let own = self.held.iter().enumerate();
        let own = own.filter(|(_, held)| held.station == station);
        // The window counts from the first packet that is not acknowledged, and that is the first
        // one here: what arrives in order leaves.
        for (place, held) in own.take(timing.window) {
            if held.arrived.is_some() {
                continue;
            }
            let with = bytes + Timing::on_air(held.waiting.packet.size());
            let fits =
                with <= timing.most_bytes && timing.airtime(with, bounds.rate) <= bounds.longest;
            if !fits && !ends.is_empty() {
                break;
            }
            bytes = with;
            ends.push((place, bytes));
        }
        let airtime = timing.airtime(bytes, bounds.rate);
        let data = (airtime - timing.preamble).ratio(airtime);
        let whole = bytes.get().max(1) as f64;
        let part = |end: Bytes| 1.0 - data + data * (end.get() as f64 / whole);
        let packets = ends.into_iter().map(|(place, end)| (place, part(end)));
        Aggregate {
            station,
            packets: packets.collect(),
            airtime,
        }
    }

    /// Notes that `aggregate` was sent from `now` on and reached its receiver, but for the packets
    /// that are `lost`. With `at_once`, all packets arrive at its end, and otherwise each when it
    /// is complete.
    pub(super) fn reached(
        &mut self,
        now: Time,
        aggregate: &Aggregate,
        at_once: bool,
        mut lost: impl FnMut() -> bool,
        dropped: &mut Vec<P>,
    ) {
        let mut given_up = Vec::new();
        for (place, part) in &aggregate.packets {
            let Some(held) = self.held.get_mut(*place) else {
                continue;
            };
            held.started.get_or_insert(now);
            if lost() {
                held.failed += 1;
                if held.failed > RETRIES {
                    given_up.push(*place);
                }
                continue;
            }
            let part = if at_once { 1.0 } else { *part };
            held.arrived = Some(now + aggregate.airtime.scale(part));
        }
        self.give_up(&given_up, dropped);
    }

    /// Notes that nothing of `aggregate` was understood. If it `is_given_up`, its packets are
    /// dropped.
    pub(super) fn missed(
        &mut self,
        now: Time,
        aggregate: &Aggregate,
        is_given_up: bool,
        dropped: &mut Vec<P>,
    ) {
        for (place, _) in &aggregate.packets {
            if let Some(held) = self.held.get_mut(*place) {
                held.started.get_or_insert(now);
            }
        }
        if is_given_up {
            let places: Vec<_> = aggregate.packets.iter().map(|(place, _)| *place).collect();
            self.give_up(&places, dropped);
        }
    }

    /// Drops the packets at these places, which rise.
    fn give_up(&mut self, places: &[usize], dropped: &mut Vec<P>) {
        for place in places.iter().rev() {
            dropped.extend(self.held.remove(*place).map(|held| held.waiting.packet));
        }
    }

    /// Takes the packets of `station` that arrived and that no earlier one holds up after the
    /// transmission that began at `now`. They occupy the radio's memory until `until`.
    pub(super) fn released(&mut self, now: Time, station: usize, until: Time) -> Vec<Served<P>> {
        let mut released = Vec::new();
        let mut place = 0;
        // A packet is handed up when it is there and all before it are, or have been given up.
        let mut newest = now;
        while let Some(held) = self.held.get(place) {
            if held.station != station {
                place += 1;
                continue;
            }
            let Some(arrived) = held.arrived else {
                break;
            };
            newest = newest.max(arrived);
            if let Some(held) = self.held.remove(place) {
                released.push(Served {
                    packet: held.waiting.packet,
                    offered: held.waiting.since,
                    started: held.started.unwrap_or(arrived),
                    finished: newest,
                });
            }
        }
        self.on_air = (released.len(), until);
        released
    }

    /// The number of the queue in which a packet waits or would wait; see [`Queue::lane`].
    pub(super) fn lane(&self, packet: &P) -> usize {
        self.queue.lane(packet)
    }

    /// Tells the queue the rate that the node may get at the most.
    pub(super) fn rate_changed(&mut self, rate: Rate) {
        self.queue.rate_changed(rate);
    }

    /// Data in the queue and in the radio.
    pub(super) fn backlog(&self) -> Bytes {
        let held = self.held.iter().map(|held| held.waiting.packet.size());
        self.queue.backlog() + held.fold(Bytes::ZERO, |sum, size| sum + size)
    }

    /// Number of packets in the queue and in the radio.
    pub(super) fn packets(&self) -> usize {
        self.queue.len() + self.held.len()
    }
}
