//! Wi-Fi: an access point, stations and neighbours that contend for the air.
//!
//! IEEE 802.11: enhanced distributed channel access (EDCA) with best-effort traffic, aggregates of
//! MPDUs with block acks, and retries. The access point sends what comes over the link there, and
//! each station what comes over the link back, so that reports contend with data.
//!
//! ```text
//! sends at  max(begins to have something, air free + AIFS + back-off slots)
//! the first sends; whoever would begin within 4 us of it sends as well, and they collide
//! air       preamble + data / rate, in whole symbols; then SIFS and the block ack
//! ```
//!
//! *Deviations*: one access category; no RTS and CTS, no hidden nodes, no power save, no roaming
//! and no OFDMA. Rate adaptation is a list of rates, from which one is drawn anew after times
//! whose mean is stated. A transmission's fate is drawn when it begins. The radio of a neighbour
//! has no packets ([`Load`]). `docs/how-it-works/media.md` compares delays, aggregates and trains
//! with records made with ns-3.

mod config;
mod contender;
mod neighbour;
mod node;
mod read;
mod standard;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Debug;
use std::net::IpAddr;

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

pub use config::{Signal, Station, WifiConfig};
use contender::Contender;
use neighbour::Transmits;
pub use neighbour::{Load, Neighbour};
use node::{Aggregate, Bounds, Node};
pub use standard::Standard;
use standard::Timing;

use super::Port;
use crate::link::Served;
use crate::packet::Packet;
use crate::queue::QueueConfig;
use crate::random::Random;

/// Time within which one that begins cannot have heard another (aCCATime of IEEE 802.11).
const UNHEARD: TimeDelta = TimeDelta::from_micros(4);
/// Time between beacons: 100 time units of 1024 us.
const BEACONS: TimeDelta = TimeDelta::from_micros(102_400);
/// Most stations that are told apart by their addresses; further ones share the last.
const MOST_STATIONS: usize = 256;

/// How a station's signal reaches it at present.
#[derive(Debug)]
struct Reception {
    signal: Signal,
    rate: Rate,
    /// When another rate is drawn.
    until: Time,
    random: Random,
}

impl Reception {
    fn new(signal: Signal, timing: &Timing, seed: u64, name: &str) -> Self {
        Self {
            rate: signal.rates.first().copied().unwrap_or(timing.rate),
            signal,
            until: Time::ZERO,
            random: Random::new(seed, &format!("{name} reception")),
        }
    }

    /// The physical rate at `now`.
    fn rate(&mut self, now: Time) -> Rate {
        let rates = &self.signal.rates;
        if rates.len() > 1 && now >= self.until {
            self.until = now + self.random.exponential(self.signal.hold);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "below the number of rates"
            )]
            let drawn = (self.random.uniform() * rates.len() as f64) as usize;
            self.rate = rates.get(drawn).copied().unwrap_or(self.rate);
        }
        self.rate
    }
}

/// Who sends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Sender {
    /// The access point with zero, and each station with the number after its own.
    Node(usize),
    Neighbour(usize),
}

/// A transmission.
#[derive(Debug)]
enum Sent {
    Packets(Aggregate),
    Neighbour(TimeDelta, Bytes),
}

/// A Wi-Fi network, for packets of type `P`.
#[derive(Debug)]
pub struct Wifi<P> {
    config: WifiConfig,
    timing: Timing,
    seed: u64,
    /// The queue of each station.
    uplink: QueueConfig,
    /// The numbers of stations by the addresses of the packets that they send and receive.
    addresses: BTreeMap<IpAddr, usize>,
    receptions: Vec<Reception>,
    /// The access point, and then the stations.
    nodes: Vec<Node<P>>,
    neighbours: Vec<Transmits>,
    /// When the air became free, or becomes free.
    free: Time,
    beacon: Time,
    /// Packets that have passed, or will have at a time that is certain, in the order of that.
    passed: VecDeque<(Port, Served<P>)>,
    /// When something happens next on the air.
    next: Time,
}

impl<P: Packet + Debug + Send + 'static> Wifi<P> {
    /// A silent network. `there` is the queue of the access point, `back` that of each station;
    /// random numbers follow from `seed`.
    #[must_use]
    pub fn new(config: WifiConfig, there: &QueueConfig, back: &QueueConfig, seed: u64) -> Self {
        let timing = config.standard.timing();
        let contender = Contender::new(Random::new(seed, "access point back-off"));
        let mut access_point = Node::new(contender, there.build(seed));
        access_point.rate_changed(config.capacity());
        let neighbours = config.neighbours.iter().enumerate();
        let neighbours = neighbours.map(|(number, neighbour)| {
            Transmits::new(neighbour, &timing, seed, &format!("neighbour {number}"))
        });
        let mut made = Self {
            timing,
            seed,
            uplink: back.clone(),
            addresses: BTreeMap::new(),
            receptions: Vec::new(),
            nodes: vec![access_point],
            neighbours: neighbours.collect(),
            free: Time::ZERO,
            beacon: Time::ZERO + BEACONS / 2,
            passed: VecDeque::new(),
            next: Time::MAX,
            config,
        };
        for station in made.config.stations.clone() {
            let number = made.add_station(station.signal, &station.name);
            for address in station.addresses {
                made.addresses.insert(address, number);
            }
        }
        made.plan(Time::ZERO);
        made
    }

    fn add_station(&mut self, signal: Signal, name: &str) -> usize {
        let number = self.receptions.len();
        let purpose = format!("station {name}");
        let reception = Reception::new(signal, &self.timing, self.seed, &purpose);
        self.receptions.push(reception);
        let random = Random::new(self.seed, &format!("{purpose} back-off"));
        let seed = self.seed.wrapping_add(1 + number as u64);
        let mut node = Node::new(Contender::new(random), self.uplink.build(seed));
        node.rate_changed(self.config.capacity());
        self.nodes.push(node);
        number
    }

    /// The number of the station with this address, which is new if no packet had it before.
    fn station(&mut self, address: IpAddr) -> usize {
        if let Some(number) = self.addresses.get(&address) {
            return *number;
        }
        let number = if self.receptions.len() < MOST_STATIONS {
            self.add_station(self.config.signal.clone(), &address.to_string())
        } else {
            MOST_STATIONS - 1
        };
        self.addresses.insert(address, number);
        number
    }

    /// Offers a packet to the link there or back at `now`, which must not be before the time of
    /// the last call. Packets that a queue gives up are appended to `dropped`.
    pub fn offer(&mut self, now: Time, port: Port, packet: P, dropped: &mut Vec<P>) {
        self.advance(now, dropped);
        let header = packet.header();
        let node = match port {
            Port::There => {
                self.station(header.destination);
                0
            }
            Port::Back => 1 + self.station(header.source),
        };
        self.nodes[node].enqueue(now, packet, dropped);
        self.fill(node, now, dropped);
        self.plan(now);
    }

    /// Lets a node's radio take packets from its queue.
    fn fill(&mut self, node: usize, now: Time, dropped: &mut Vec<P>) {
        let addresses = &self.addresses;
        let busy = now < self.free && !(self.config.answers_at_once && node > 0);
        let Some(own) = self.nodes.get_mut(node) else {
            return;
        };
        own.fill(
            now,
            self.config.buffer,
            |packet| {
                // A station's packets are its own, and the access point's have a station's address.
                node.checked_sub(1).unwrap_or_else(|| {
                    let to = packet.header().destination;
                    addresses.get(&to).copied().unwrap_or_default()
                })
            },
            dropped,
        );
        if own.has_work() {
            own.contender.begins(now, busy);
        } else {
            own.contender.ready = Time::MAX;
        }
    }

    /// When to call [`Wifi::poll`]; [`Time::MAX`] for never.
    #[must_use]
    pub fn deadline(&self) -> Time {
        let passed = self.passed.front().map(|(_, served)| served.finished);
        self.next.min(passed.unwrap_or(Time::MAX))
    }

    /// Takes a packet that has passed by `now`, and the link that it passed. Packets that a queue
    /// or a radio gives up are appended to `dropped`. Call it until it returns `None`, and before
    /// [`Wifi::offer`] with the same time.
    pub fn poll(&mut self, now: Time, dropped: &mut Vec<P>) -> Option<(Port, Served<P>)> {
        self.advance(now, dropped);
        let due = |(_, served): &mut (Port, Served<P>)| served.finished <= now;
        self.passed.pop_front_if(due)
    }

    /// Does everything that happens on the air by `now`.
    fn advance(&mut self, now: Time, dropped: &mut Vec<P>) {
        while self.next <= now {
            let at = self.next;
            self.step(at, dropped);
            self.plan(at);
        }
        self.pass_beacons(now);
    }

    /// Does what happens at `now`.
    fn step(&mut self, now: Time, dropped: &mut Vec<P>) {
        self.pass_beacons(now);
        let busy = now < self.free;
        for neighbour in &mut self.neighbours {
            neighbour.advance(now, busy);
        }
        for node in 0..self.nodes.len() {
            self.fill(node, now, dropped);
        }
        if self.first_start() <= now {
            self.transmit(now, dropped);
        }
    }

    /// When the next transmission begins, if nothing comes before.
    fn first_start(&self) -> Time {
        let nodes = self.nodes.iter().map(|node| &node.contender);
        let others = self.neighbours.iter().map(|other| &other.contender);
        let starts = nodes
            .chain(others)
            .map(|each| each.starts(self.free, &self.timing));
        starts.min().unwrap_or(Time::MAX)
    }

    /// Works out when something happens next.
    fn plan(&mut self, now: Time) {
        let start = self.first_start();
        let most = self.config.buffer;
        let events = self.neighbours.iter().map(Transmits::event);
        let queues = self.nodes.iter();
        let queues = queues.map(|node| node.queue_ready(now, most));
        // A beacon comes first, if somebody wants to send.
        let beacon = if start < Time::MAX && self.config.beacons {
            self.beacon.max(self.free)
        } else {
            Time::MAX
        };
        let others = events.chain(queues).min().unwrap_or(Time::MAX);
        self.next = start.min(others).min(beacon).max(now);
    }

    /// Sends the beacons that are due by `now`: each when the air is free.
    fn pass_beacons(&mut self, now: Time) {
        while self.config.beacons && self.beacon.max(self.free) <= now {
            let at = self.beacon.max(self.free);
            self.hold_back_offs(at);
            self.free = at + self.timing.beacon;
            self.beacon += BEACONS;
        }
    }

    /// Holds all back-offs, since somebody sends from `at` on.
    fn hold_back_offs(&mut self, at: Time) {
        let (free, timing) = (self.free, self.timing);
        self.contenders(|each| each.holds(at, free, &timing));
    }

    fn contenders(&mut self, mut act: impl FnMut(&mut Contender)) {
        for node in &mut self.nodes {
            act(&mut node.contender);
        }
        for other in &mut self.neighbours {
            act(&mut other.contender);
        }
    }

    /// Sends what is first, and whatever collides with it.
    fn transmit(&mut self, now: Time, dropped: &mut Vec<P>) {
        let senders = self.senders(now);
        let is_alone = senders.len() == 1;
        let timing = self.timing;
        let mut end = now;
        let mut sent = Vec::with_capacity(senders.len());
        for sender in &senders {
            let what = self.begin(*sender, now);
            let airtime = match &what {
                Sent::Packets(aggregate) => aggregate.airtime,
                Sent::Neighbour(airtime, _) => *airtime,
            };
            end = end.max(now + airtime + timing.acknowledgement());
            sent.push((*sender, what));
        }
        let free = self.free;
        self.contenders(|each| each.holds(now, free, &timing));
        self.free = end;
        if !is_alone {
            self.contenders(|each| each.heard_collision(&timing));
        }
        // The signal of a node that is near survives what neighbours send, but not another node.
        let nodes = senders
            .iter()
            .filter(|each| matches!(each, Sender::Node(_)));
        let may_survive = is_alone || nodes.count() == 1;
        for (sender, what) in sent {
            match (sender, what) {
                (Sender::Node(node), Sent::Packets(aggregate)) => {
                    self.finish(node, &aggregate, now, (is_alone, may_survive), dropped);
                }
                (Sender::Neighbour(number), Sent::Neighbour(_, bytes)) => {
                    let other = &mut self.neighbours[number];
                    if is_alone {
                        other.contender.succeeded();
                        other.sent(bytes);
                    } else if other.contender.failed() {
                        other.sent(bytes);
                    }
                }
                _ => {}
            }
        }
    }

    /// All that begin to send at `now`.
    fn senders(&self, now: Time) -> Vec<Sender> {
        let begins = |each: &Contender| each.starts(self.free, &self.timing) < now + UNHEARD;
        let nodes = self.nodes.iter().enumerate();
        let nodes = nodes.filter(|(_, node)| begins(&node.contender));
        let others = self.neighbours.iter().enumerate();
        let others = others.filter(|(_, other)| begins(&other.contender));
        let nodes = nodes.map(|(number, _)| Sender::Node(number));
        let others = others.map(|(number, _)| Sender::Neighbour(number));
        nodes.chain(others).collect()
    }

    /// What `sender` sends.
    fn begin(&mut self, sender: Sender, now: Time) -> Sent {
        match sender {
            Sender::Neighbour(number) => {
                let other = &self.neighbours[number];
                let (airtime, bytes) = other.transmission(&self.timing, self.config.longest);
                Sent::Neighbour(airtime, bytes)
            }
            Sender::Node(number) => {
                let node = &self.nodes[number];
                let station = node.next_station().unwrap_or_default();
                let rate = self.receptions[station].rate(now);
                let longest = self.config.longest;
                let bounds = Bounds { longest, rate };
                Sent::Packets(node.aggregate(station, &self.timing, bounds))
            }
        }
    }

    /// Ends the transmission of a node's `aggregate`, which was alone on the air or not, and may
    /// be understood or not.
    fn finish(
        &mut self,
        number: usize,
        aggregate: &Aggregate,
        now: Time,
        (is_alone, may_survive): (bool, bool),
        dropped: &mut Vec<P>,
    ) {
        let reception = &mut self.receptions[aggregate.station];
        let (signal, random) = (&reception.signal, &mut reception.random);
        let survives = is_alone || may_survive && random.chance(self.config.capture);
        let is_understood = survives && !random.chance(signal.failed);
        let node = &mut self.nodes[number];
        if is_understood {
            node.contender.succeeded();
            let lost = || random.chance(signal.lost);
            node.reached(now, aggregate, self.config.at_once, lost, dropped);
        } else {
            let gives_up = node.contender.failed();
            node.missed(now, aggregate, gives_up, dropped);
        }
        let port = if number == 0 { Port::There } else { Port::Back };
        for served in node.released(now, aggregate.station, self.free) {
            self.passed.push_back((port, served));
        }
        self.passed
            .make_contiguous()
            .sort_by_key(|(_, served)| served.finished);
        self.fill(number, now, dropped);
    }

    /// The rate that the network carries at most: that of the largest transmissions of one sender
    /// that is alone and near.
    #[must_use]
    pub fn capacity(&self) -> Rate {
        self.config.capacity()
    }

    /// The number of the queue in which a packet waits or would wait; see
    /// [`Queue::lane`](crate::queue::Queue::lane).
    #[must_use]
    pub fn lane(&self, port: Port, packet: &P) -> usize {
        // All stations have the same queues, so that any of them tells for one that is still to come.
        let own = self.nodes_of(port);
        own.first().map_or(0, |node| node.lane(packet))
    }

    /// Data that wait for the air in one direction, with those that the radios hold.
    #[must_use]
    pub fn backlog(&self, port: Port) -> Bytes {
        let nodes = self.nodes_of(port).iter().map(Node::backlog);
        nodes.fold(Bytes::ZERO, |sum, one| sum + one)
    }

    /// The nodes that send over one of the two links.
    fn nodes_of(&self, port: Port) -> &[Node<P>] {
        let (access_point, stations) = self.nodes.split_at(1);
        match port {
            Port::There => access_point,
            Port::Back => stations,
        }
    }

    /// Number of packets in the network in one direction.
    #[must_use]
    pub fn packets_of(&self, port: Port) -> usize {
        let nodes: usize = self.nodes_of(port).iter().map(Node::packets).sum();
        let passed = self.passed.iter().filter(|(own, _)| *own == port);
        nodes + passed.count()
    }
}
