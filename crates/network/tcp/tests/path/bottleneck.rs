//! The smallest network: one queue in front of one link, and a way back.

use std::collections::{BTreeMap, VecDeque};

use mimosa_cc::window::{Algorithm, EcnUse};
use mimosa_tcp::{Ack, Config, Feedback, Receiver, Segment, Sender};
use mimosa_units::{Bytes, Ecn, Rate, Time, TimeDelta};

/// Headers of IPv4 and TCP without options.
pub(crate) const HEADERS: Bytes = Bytes::new(40);

/// A bottleneck.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    pub(crate) rate: Rate,
    /// Propagation there and back.
    pub(crate) rtt: TimeDelta,
    /// Packets the queue holds.
    pub(crate) limit: usize,
    /// Packets that waited this long are marked, if they can be.
    pub(crate) mark_after: Option<TimeDelta>,
    /// Probability of random loss.
    pub(crate) loss: f64,
    /// Probability of loss of an acknowledgement.
    pub(crate) ack_loss: f64,
    /// Probability that a packet is delayed by up to `reorder_by`.
    pub(crate) reorder: f64,
    pub(crate) reorder_by: TimeDelta,
    /// While this lasts, all packets are lost.
    pub(crate) blackout: Option<(Time, Time)>,
    pub(crate) seed: u64,
}

impl Path {
    /// 50 Mbit/s, 30 ms, 250 packets, as in the measurements of the kernel.
    pub(crate) fn kernel() -> Self {
        Self {
            rate: Rate::from_kbps(50_000),
            rtt: TimeDelta::from_millis(30),
            limit: 250,
            mark_after: None,
            loss: 0.0,
            ack_loss: 0.0,
            reorder: 0.0,
            reorder_by: TimeDelta::ZERO,
            blackout: None,
            seed: 1,
        }
    }
}

/// Knuth's MMIX generator, its upper bits.
pub(crate) struct Lcg(pub(crate) u64);

impl Lcg {
    /// Uniform in 0 to `limit - 1`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.uniform();
        (self.0 >> 32) % limit
    }

    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

enum Event {
    LinkFree,
    Segment(usize, Segment),
    Ack(usize, Ack),
}

pub(crate) struct Flow {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    /// What arrived beyond a gap, start to end, kept apart from the receiver.
    arrived: BTreeMap<u64, u64>,
    expected: u64,
    pub(crate) finished_at: Option<Time>,
}

pub(crate) struct Network {
    path: Path,
    pub(crate) flows: Vec<Flow>,
    pub(crate) now: Time,
    queue: VecDeque<(Time, usize, Segment)>,
    is_busy: bool,
    events: BTreeMap<(Time, u64), Event>,
    count: u64,
    lcg: Lcg,
    pub(crate) offered: u64,
    pub(crate) delivered: u64,
    pub(crate) dropped: u64,
    pub(crate) marked: u64,
    wait_sum: TimeDelta,
    wait_count: u32,
    pub(crate) wait_max: TimeDelta,
}

impl Network {
    pub(crate) fn new(path: Path, configs: &[Config]) -> Self {
        let flow = |config: &Config| Flow {
            sender: Sender::new(config.clone()),
            receiver: Receiver::new(
                match config.ecn {
                    EcnUse::Dctcp | EcnUse::L4s => Feedback::Accurate,
                    EcnUse::Off | EcnUse::Classic => Feedback::Classic,
                },
                config.receive_window,
            ),
            arrived: BTreeMap::new(),
            expected: 0,
            finished_at: None,
        };
        Self {
            path,
            flows: configs.iter().map(flow).collect(),
            now: Time::ZERO,
            queue: VecDeque::new(),
            is_busy: false,
            events: BTreeMap::new(),
            count: 0,
            lcg: Lcg(path.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            offered: 0,
            delivered: 0,
            dropped: 0,
            marked: 0,
            wait_sum: TimeDelta::ZERO,
            wait_count: 0,
            wait_max: TimeDelta::ZERO,
        }
    }

    /// Runs until `end`, or until every flow is finished.
    pub(crate) fn run(&mut self, end: Time) {
        self.poll();
        loop {
            let event_at = self.events.first_key_value().map(|((at, _), _)| *at);
            let deadline = self
                .flows
                .iter()
                .flat_map(|flow| [flow.sender.deadline(), flow.receiver.deadline()])
                .flatten()
                .min();
            let Some(at) = event_at.into_iter().chain(deadline).min() else {
                break;
            };
            if at > end || self.flows.iter().all(|flow| flow.finished_at.is_some()) {
                break;
            }
            assert!(at >= self.now || deadline == Some(at), "time runs back");
            self.now = self.now.max(at);
            if event_at == Some(at) {
                if let Some((_, event)) = self.events.pop_first() {
                    self.handle(&event);
                }
            } else {
                self.timers();
            }
            self.poll();
        }
        if self.flows.iter().any(|flow| flow.finished_at.is_none()) {
            self.now = end;
        }
    }

    /// Forgets the waits so far.
    pub(crate) fn reset_waits(&mut self) {
        (self.wait_sum, self.wait_count) = (TimeDelta::ZERO, 0);
        self.wait_max = TimeDelta::ZERO;
    }

    pub(crate) fn mean_wait(&self) -> TimeDelta {
        self.wait_sum / self.wait_count.max(1)
    }

    /// Packets still in the queue or on the way.
    pub(crate) fn inside(&self) -> u64 {
        let flying = self.events.values();
        let flying = flying.filter(|event| matches!(event, Event::Segment(..)));
        (self.queue.len() + flying.count()) as u64
    }

    fn poll(&mut self) {
        for index in 0..self.flows.len() {
            while let Some(segment) = self.flows[index].sender.poll(self.now) {
                self.offer(index, segment);
            }
            let flow = &mut self.flows[index];
            if flow.sender.is_finished() && flow.finished_at.is_none() {
                flow.finished_at = Some(self.now);
            }
        }
    }

    fn timers(&mut self) {
        for index in 0..self.flows.len() {
            let flow = &mut self.flows[index];
            if flow.sender.deadline().is_some_and(|at| at <= self.now) {
                flow.sender.timer(self.now);
            }
            if let Some(ack) = flow.receiver.timer(self.now) {
                self.send_back(index, ack);
            }
        }
    }

    fn offer(&mut self, flow: usize, segment: Segment) {
        self.offered += 1;
        let is_dark = self
            .path
            .blackout
            .is_some_and(|(from, to)| (from..to).contains(&self.now));
        let is_lost = self.lcg.uniform() < self.path.loss;
        if is_dark || is_lost || self.queue.len() >= self.path.limit {
            self.dropped += 1;
            return;
        }
        self.queue.push_back((self.now, flow, segment));
        if !self.is_busy {
            self.serve();
        }
    }

    fn serve(&mut self) {
        let Some((since, flow, mut segment)) = self.queue.pop_front() else {
            self.is_busy = false;
            return;
        };
        self.is_busy = true;
        let wait = self.now.since(since);
        self.wait_sum += wait;
        self.wait_count += 1;
        self.wait_max = self.wait_max.max(wait);
        let is_late = self.path.mark_after.is_some_and(|limit| wait > limit);
        if is_late && segment.ecn.is_capable() {
            segment.ecn = Ecn::Ce;
            self.marked += 1;
        }
        let sent = self.now + self.path.rate.transmit_time(segment.length + HEADERS);
        self.schedule(sent, Event::LinkFree);
        let mut arrives = sent + self.path.rtt / 2;
        if self.lcg.uniform() < self.path.reorder {
            arrives += self.path.reorder_by.scale(self.lcg.uniform());
        }
        self.schedule(arrives, Event::Segment(flow, segment));
    }

    fn send_back(&mut self, flow: usize, ack: Ack) {
        if self.lcg.uniform() >= self.path.ack_loss {
            self.schedule(self.now + self.path.rtt / 2, Event::Ack(flow, ack));
        }
    }

    fn schedule(&mut self, at: Time, event: Event) {
        self.count += 1;
        self.events.insert((at, self.count), event);
    }

    fn handle(&mut self, event: &Event) {
        match *event {
            Event::LinkFree => self.serve(),
            Event::Ack(flow, ref ack) => self.flows[flow].sender.acknowledge(self.now, ack),
            Event::Segment(index, ref segment) => {
                self.delivered += 1;
                let flow = &mut self.flows[index];
                let ack = flow.receiver.receive(self.now, segment);
                flow.check_order(segment);
                if let Some(ack) = ack {
                    self.send_back(index, ack);
                }
            }
        }
    }
}

impl Flow {
    /// The application has exactly what arrived without gap, no more.
    fn check_order(&mut self, segment: &Segment) {
        if segment.sequence >= self.expected {
            self.arrived.insert(segment.sequence, segment.end());
        }
        while let Some(end) = self.arrived.remove(&self.expected) {
            self.expected = end;
        }
        assert_eq!(self.receiver.delivered(), Bytes::new(self.expected));
    }
}

/// A bulk flow with what ECN its algorithm uses.
pub(crate) fn bulk(algorithm: Algorithm) -> Config {
    Config {
        algorithm,
        ..Config::default()
    }
}

/// Goodput of each flow between two times, in Mbit/s; waits are of that time.
pub(crate) fn goodput(network: &mut Network, from: Time, to: Time) -> Vec<f64> {
    network.run(from);
    network.reset_waits();
    let before: Vec<_> = network
        .flows
        .iter()
        .map(|flow| flow.receiver.delivered())
        .collect();
    network.run(to);
    let after = network.flows.iter().map(|flow| flow.receiver.delivered());
    after
        .zip(before)
        .map(|(after, before)| Rate::of(after - before, to.since(from)).as_mbps())
        .collect()
}
