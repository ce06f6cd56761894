//! Stochastic fairness queueing: flows hashed into buckets, buckets in turn.
//!
//! P. McKenney, "Stochastic Fairness Queueing", INFOCOM 1990, in the shape of
//! Linux's `sch_sfq`; the defaults are those of `tc-sfq(8)`. A flow with data
//! has an allotment. In its turn it sends while that is above zero, then it gets
//! a quantum more and goes to the end of the round. A queue above its limit gives
//! up a packet of the bucket with most packets; among equals, the one that
//! changed last.
//!
//! *Deviations.* The hash is `flow_hash` of `packet.rs`,
//! not Linux's, so other flows collide. As in Linux, a packet of a bucket that has
//! no flow yet is dropped when [`SfqConfig::flows`] of them are active, although
//! the queue may have room; with the defaults the limit of 127 packets is met
//! first. There is no timer: a due change of the hash happens with the next packet
//! that comes or goes, and the new key is the seed plus the number of periods
//! passed. After it flows follow each other as they did, in Linux as their slots lie,
//! and of a flow that is too long now Linux gives up the newest also with
//! [`SfqConfig::head_drop`]. Packets count as they are, in Linux with their Ethernet
//! header: there one of 1500 bytes uses up the default quantum, here it leaves 14
//! bytes, and a second goes in the first turn. A head drop at the depth changes a flow
//! last, in Linux not at all. A limit of one packet, which Linux refuses, is taken. The
//! optional RED per flow is not there, nor is Linux's bound of `limit` by `depth` times
//! `flows`, which could never be exceeded anyway.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Debug;

use mimosa_units::{Bytes, Time, TimeDelta};

use crate::packet::{Packet, flow_hash};
use crate::queue::{Fifo, Queue, Waiting};

/// How an [`Sfq`] is set up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SfqConfig {
    /// Packets held at most.
    pub limit: usize,
    /// Buckets with data at most.
    pub flows: usize,
    /// Buckets that the hash distinguishes; zero counts as one.
    pub divisor: u64,
    /// Bytes by which a flow's allotment grows in each round: not below the
    /// largest packet, or small packets wait for several rounds. Zero counts as
    /// one byte.
    pub quantum: Bytes,
    /// Packets of one flow at most.
    pub depth: usize,
    /// Time after which flows are hashed anew; `None` for never. A span that is
    /// not above zero is never too.
    pub perturb: Option<TimeDelta>,
    /// The first key of the hash.
    pub seed: u64,
    /// Whether the oldest packet of a flow is given up rather than the newest.
    pub head_drop: bool,
}

impl Default for SfqConfig {
    /// `tc-sfq(8)`: 127 packets, 128 flows, 1024 buckets, a depth of 127 packets,
    /// an Ethernet frame of 1514 bytes as the quantum (the device's MTU and its
    /// link header), no perturbation, tail drop.
    fn default() -> Self {
        Self {
            limit: 127,
            flows: 128,
            divisor: 1024,
            quantum: Bytes::new(1514),
            depth: 127,
            perturb: None,
            seed: 0,
            head_drop: false,
        }
    }
}

/// Those packets whose hash is the same.
#[derive(Debug)]
struct Flow<P> {
    waiting: Fifo<P>,
    /// Bytes that it may send in this turn; it may overdraw by one packet.
    allotment: i64,
    /// Which of all changes of a length was its last.
    changed: u64,
}

/// The stochastic fairness queue.
#[derive(Debug)]
pub struct Sfq<P> {
    config: SfqConfig,
    /// Flows with data, by bucket.
    flows: BTreeMap<u64, Flow<P>>,
    /// Their buckets in the order of their turns.
    round: VecDeque<u64>,
    /// Periods of perturbation that have passed.
    epoch: u64,
    changes: u64,
    packets: usize,
    backlog: Bytes,
}

impl<P> Sfq<P> {
    /// An empty queue.
    #[must_use]
    pub const fn new(config: SfqConfig) -> Self {
        Self {
            config,
            flows: BTreeMap::new(),
            round: VecDeque::new(),
            epoch: 0,
            changes: 0,
            packets: 0,
            backlog: Bytes::ZERO,
        }
    }

    fn quantum(&self) -> i64 {
        i64::try_from(self.config.quantum.get())
            .unwrap_or(i64::MAX)
            .max(1)
    }

    /// Whether another period has begun since the last call.
    fn epoch_changed(&mut self, now: Time) -> bool {
        let period = self.config.perturb.unwrap_or(TimeDelta::ZERO).as_nanos();
        if period <= 0 {
            return false;
        }
        let epoch = now.as_nanos() / period.unsigned_abs();
        std::mem::replace(&mut self.epoch, epoch) != epoch
    }
}

impl<P: Packet> Sfq<P> {
    /// Hashes all packets anew when a period is over.
    fn perturb(&mut self, now: Time, dropped: &mut Vec<P>) {
        if !self.epoch_changed(now) {
            return;
        }
        let mut before = std::mem::take(&mut self.flows);
        let round = std::mem::take(&mut self.round);
        (self.packets, self.backlog) = (0, Bytes::ZERO);
        for bucket in round {
            let Some(mut flow) = before.remove(&bucket) else {
                continue;
            };
            while let Some(waiting) = flow.waiting.pop() {
                self.insert(waiting, dropped);
            }
        }
    }

    /// Puts a packet to the end of its flow, which may have no room for it.
    fn insert(&mut self, waiting: Waiting<P>, dropped: &mut Vec<P>) {
        let key = self.config.seed.wrapping_add(self.epoch);
        let bucket = flow_hash(&waiting.packet.header(), key) % self.config.divisor.max(1);
        let full = self.flows.len() >= self.config.flows || self.config.depth == 0;
        let allotment = self.quantum();
        let flow = match self.flows.entry(bucket) {
            Entry::Occupied(flow) => flow.into_mut(),
            Entry::Vacant(_) if full => {
                dropped.push(waiting.packet);
                return;
            }
            Entry::Vacant(place) => {
                // At the end: before others, new flows could keep old ones waiting.
                self.round.push_back(bucket);
                place.insert(Flow {
                    waiting: Fifo::new(),
                    allotment,
                    changed: self.changes,
                })
            }
        };
        if flow.waiting.len() >= self.config.depth {
            if !self.config.head_drop {
                dropped.push(waiting.packet);
                return;
            }
            if let Some(oldest) = flow.waiting.pop() {
                self.packets -= 1;
                self.backlog -= oldest.packet.size();
                dropped.push(oldest.packet);
            }
        }
        self.changes += 1;
        flow.changed = self.changes;
        self.packets += 1;
        self.backlog += waiting.packet.size();
        flow.waiting.push(waiting.since, waiting.packet);
    }

    /// Gives up a packet of the longest flow.
    fn shorten(&mut self, dropped: &mut Vec<P>) {
        let longest = self
            .flows
            .iter()
            .max_by_key(|(_, flow)| (flow.waiting.len(), flow.changed))
            .map(|(bucket, flow)| (*bucket, flow.waiting.len()));
        let bucket = match longest {
            // All have one packet: the flow whose turn it is loses it, as in Linux.
            Some((bucket, 1)) => self.round.front().copied().unwrap_or(bucket),
            Some((bucket, _)) => bucket,
            None => return,
        };
        if let Some(waiting) = self.take(bucket, !self.config.head_drop) {
            dropped.push(waiting.packet);
        }
    }

    /// Takes a packet of a flow, which ends with its last one.
    fn take(&mut self, bucket: u64, newest: bool) -> Option<Waiting<P>> {
        let flow = self.flows.get_mut(&bucket)?;
        let waiting = if newest {
            flow.waiting.pop_newest()
        } else {
            flow.waiting.pop()
        }?;
        self.changes += 1;
        flow.changed = self.changes;
        if flow.waiting.is_empty() {
            self.flows.remove(&bucket);
            self.round.retain(|other| *other != bucket);
        }
        self.packets -= 1;
        self.backlog -= waiting.packet.size();
        Some(waiting)
    }
}

impl<P: Packet + Debug + Send> Queue<P> for Sfq<P> {
    fn enqueue(&mut self, now: Time, packet: P, dropped: &mut Vec<P>) {
        self.perturb(now, dropped);
        self.insert(Waiting { packet, since: now }, dropped);
        if self.packets > self.config.limit {
            self.shorten(dropped);
        }
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Vec<P>) -> Option<Waiting<P>> {
        self.perturb(now, dropped);
        let quantum = self.quantum();
        loop {
            let bucket = *self.round.front()?;
            let flow = self.flows.get_mut(&bucket)?;
            if flow.allotment <= 0 {
                flow.allotment = flow.allotment.saturating_add(quantum);
                self.round.rotate_left(1);
                continue;
            }
            let waiting = self.take(bucket, false)?;
            if let Some(flow) = self.flows.get_mut(&bucket) {
                let size = i64::try_from(waiting.packet.size().get()).unwrap_or(i64::MAX);
                flow.allotment = flow.allotment.saturating_sub(size);
            }
            return Some(waiting);
        }
    }

    fn backlog(&self) -> Bytes {
        self.backlog
    }

    fn len(&self) -> usize {
        self.packets
    }
}

#[cfg(test)]
mod tests {
    use mimosa_units::Rate;

    use super::*;
    use crate::Random;
    use crate::link::Link;
    use crate::packet::TestPacket;
    use crate::schedule::Schedule;

    fn packet(flow: u32, size: u64, number: u64) -> TestPacket {
        TestPacket {
            flow,
            number,
            ..TestPacket::sized(size)
        }
    }

    /// Bytes of each flow through a link of 10 Mbit/s in ten seconds, when each is
    /// offered packets of `size` every `every` microseconds.
    fn served(loads: &[(u64, u64)]) -> Vec<u64> {
        let mut link = Link::new(
            Box::new(Sfq::<TestPacket>::new(SfqConfig::default())),
            Schedule::constant(Rate::from_kbps(10_000)),
        );
        let mut dropped = Vec::new();
        let mut bytes = vec![0; loads.len()];
        for micros in (0..10_000_000_u64).step_by(250) {
            let now = Time::from_nanos(micros * 1_000);
            while let Some(served) = link.poll(now, &mut dropped) {
                bytes[served.packet.flow as usize] += served.packet.size;
            }
            for (flow, (size, every)) in (0_u32..).zip(loads) {
                if micros % every == 0 {
                    link.offer(now, packet(flow, *size, micros), &mut dropped);
                }
            }
        }
        bytes
    }

    #[test]
    fn unequal_loads_get_equal_shares() {
        // 40 Mbit/s of large packets against 8 Mbit/s of small ones.
        let bytes = served(&[(1_250, 250), (500, 500)]);
        let total = bytes[0] + bytes[1];
        assert!((12_400_000..12_500_001).contains(&total), "{total}");
        let share = bytes[0] as f64 / total as f64;
        assert!((0.495..0.505).contains(&share), "{share}");
    }

    #[test]
    fn a_flow_below_its_share_gets_all_it_asks_for() {
        let bytes = served(&[(1_250, 250), (500, 2_000)]);
        // 2 Mbit/s for ten seconds; the last packets may still wait.
        assert!((2_495_000..2_500_001).contains(&bytes[1]), "{bytes:?}");
        assert!((9_900_000..10_000_001).contains(&bytes[0]), "{bytes:?}");
    }

    #[test]
    fn the_longest_flow_gives_up_its_newest_or_oldest() {
        for (head_drop, victim) in [(false, 9), (true, 0)] {
            let config = SfqConfig {
                limit: 12,
                head_drop,
                ..SfqConfig::default()
            };
            let mut queue = Sfq::new(config);
            let mut dropped = Vec::new();
            for number in 0..10 {
                queue.enqueue(Time::ZERO, packet(1, 100, number), &mut dropped);
            }
            for number in 0..3 {
                queue.enqueue(Time::ZERO, packet(2, 1_500, number), &mut dropped);
            }
            assert_eq!(dropped, [packet(1, 100, victim)], "most packets, not bytes");
            assert_eq!((queue.len(), queue.backlog()), (12, Bytes::new(5_400)));
        }
    }

    #[test]
    fn flows_and_depth_are_limits_too() {
        let config = SfqConfig {
            flows: 2,
            depth: 3,
            ..SfqConfig::default()
        };
        let mut queue = Sfq::new(config);
        let mut dropped = Vec::new();
        for flow in [1, 1, 1, 1, 2, 3] {
            queue.enqueue(Time::ZERO, packet(flow, 100, 0), &mut dropped);
        }
        assert_eq!(dropped, [packet(1, 100, 0), packet(3, 100, 0)]);
        assert_eq!(queue.len(), 4);
    }

    /// Offers a packet of each of `flows`; what is given up, and what comes in turn.
    fn order(limit: usize, flows: &[u32]) -> (Vec<u32>, Vec<u32>) {
        let mut queue = Sfq::new(SfqConfig {
            limit,
            ..SfqConfig::default()
        });
        let mut dropped = Vec::new();
        for flow in flows {
            queue.enqueue(Time::ZERO, packet(*flow, 1_514, 0), &mut dropped);
        }
        let next = || Some(queue.dequeue(Time::ZERO, &mut Vec::new())?.packet.flow);
        let back = std::iter::from_fn(next).collect();
        (dropped.iter().map(|p| p.flow).collect(), back)
    }

    #[test]
    fn new_flows_wait_for_old_ones() {
        assert_eq!(
            order(9, &[1, 1, 1, 2, 2, 3]),
            (vec![], vec![1, 2, 3, 1, 2, 1])
        );
    }

    #[test]
    fn among_flows_of_a_length_the_last_to_change_gives_up() {
        for (one, other) in [(1, 2), (2, 1)] {
            let (dropped, _) = order(3, &[one, one, other, other]);
            assert_eq!(dropped, [other]);
        }
        // Flows of one packet: that whose turn it is.
        for flows in [[1, 2, 3], [3, 2, 1], [2, 3, 1]] {
            assert_eq!(order(2, &flows), (vec![flows[0]], flows[1..].to_vec()));
        }
    }

    /// Two flows that share a bucket part when the hash changes.
    #[test]
    fn perturbation_parts_flows_that_collide() {
        let config = SfqConfig {
            divisor: 2,
            perturb: Some(TimeDelta::from_millis(10)),
            ..SfqConfig::default()
        };
        let mut queue = Sfq::new(config);
        let mut dropped = Vec::new();
        let mut apart = [false; 2];
        for epoch in 0..32 {
            let now = Time::from_millis(10 * epoch);
            queue.enqueue(now, packet(1, 100, epoch), &mut dropped);
            queue.enqueue(now, packet(2, 100, epoch), &mut dropped);
            apart[usize::from(queue.round.len() == 2)] = true;
        }
        assert_eq!(apart, [true, true]);
        assert_eq!((queue.len(), dropped.len()), (64, 0));
        // What was offered before the last change is still in order.
        let mut last = [0; 3];
        while let Some(next) = queue.dequeue(Time::from_millis(310), &mut dropped) {
            let flow = next.packet.flow as usize;
            assert!(next.packet.number >= last[flow]);
            assert_eq!(next.since, Time::from_millis(10 * next.packet.number));
            last[flow] = next.packet.number;
        }
    }

    /// From zero on, up to `most`.
    fn draw(random: &mut Random, most: u32) -> u64 {
        Bytes::from_f64(random.uniform() * f64::from(most)).get()
    }

    #[test]
    fn every_packet_comes_back_once() {
        for seed in 0..20 {
            let mut random = Random::new(seed, "sfq");
            let config = SfqConfig {
                limit: 20,
                flows: 5,
                divisor: 16,
                depth: 8,
                quantum: Bytes::new(if seed % 3 == 0 { 0 } else { 300 }),
                perturb: (seed % 2 == 0).then_some(TimeDelta::from_millis(5)),
                seed,
                head_drop: seed % 5 == 0,
            };
            let mut queue = Sfq::new(config);
            let (mut back, mut dropped) = (Vec::new(), Vec::new());
            let mut offered = 0;
            for millis in 0..2_000 {
                let now = Time::from_millis(millis);
                if random.chance(0.6) {
                    let flow = u32::try_from(draw(&mut random, 12)).unwrap();
                    let size = 40 + draw(&mut random, 1_460);
                    queue.enqueue(now, packet(flow, size, offered), &mut dropped);
                    offered += 1;
                }
                if random.chance(0.5) {
                    back.extend(queue.dequeue(now, &mut dropped).map(|next| next.packet));
                }
                assert_eq!(queue.is_empty(), queue.backlog() == Bytes::ZERO);
                assert!(queue.len() <= 20 && queue.round.len() <= 5);
            }
            while let Some(next) = queue.dequeue(Time::from_secs(3), &mut dropped) {
                back.push(next.packet);
            }
            assert_eq!((queue.len(), queue.backlog()), (0, Bytes::ZERO));
            assert!(!dropped.is_empty() && back.len() > 300, "seed {seed}");
            let mut numbers: Vec<_> = back.iter().chain(&dropped).map(|p| p.number).collect();
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..offered), "seed {seed}");
        }
    }
}
