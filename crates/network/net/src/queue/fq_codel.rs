//! Fair queueing with controlled delay: flows take turns, those that have just begun
//! go first, and each has a CoDel of its own.
//!
//! RFC 8290: classification (section 4.1.1), the two lists and deficit round robin
//! (4.1.2, 4.2), the limits (4.1.3, 5.2.2). CoDel itself is [`super::codel`].
//!
//! *Deviations.* The hash is `flow_hash` of `packet.rs`. When
//! the whole is full, the fattest queue loses up to half its bytes from its head, at
//! most [`FqCodelConfig::drop_batch`] packets (Linux; the RFC drops one). The limit
//! on memory counts packets' sizes, not buffers.

use std::collections::VecDeque;

use mimosa_units::{Bytes, Time};

use super::codel::{CodelConfig, Control};
use crate::packet::{Packet, flow_hash};
use crate::queue::{Fifo, Queue, Waiting};

/// Parameters of FQ-CoDel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FqCodelConfig {
    /// Queues that flows are hashed into: 1024 (section 5.2.4).
    pub flows: usize,
    /// Bytes that a flow may send in its turn: an Ethernet frame, 1514 (5.2.5).
    pub quantum: Bytes,
    /// Packets in all: 10 240 (5.2.2).
    pub limit: usize,
    /// Bytes in all: 32 MiB (Linux).
    pub memory: Bytes,
    /// Most packets dropped at once when that is exceeded: 64 (Linux).
    pub drop_batch: usize,
    /// CoDel of each queue; its limit is not used.
    pub codel: CodelConfig,
    /// Another hash.
    pub perturbation: u64,
}

impl Default for FqCodelConfig {
    fn default() -> Self {
        Self {
            flows: 1_024,
            quantum: Bytes::new(1_514),
            limit: 10_240,
            memory: Bytes::new(32 << 20),
            drop_batch: 64,
            codel: CodelConfig::default(),
            perturbation: 0,
        }
    }
}

/// Which list a queue is in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum List {
    None,
    New,
    Old,
}

#[derive(Debug)]
struct Flow<P> {
    fifo: Fifo<P>,
    control: Control,
    /// Bytes that it may still send in its turn.
    deficit: i64,
    list: List,
}

/// Queues for each flow, under CoDel.
#[derive(Debug)]
pub struct FqCodel<P> {
    config: FqCodelConfig,
    flows: Vec<Flow<P>>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    backlog: Bytes,
    packets: usize,
}

impl<P> FqCodel<P> {
    /// Empty queues: at least one, whatever `config` says.
    #[must_use]
    pub fn new(config: FqCodelConfig) -> Self {
        let flows = (0..config.flows.max(1))
            .map(|_| Flow {
                fifo: Fifo::new(),
                control: Control::default(),
                deficit: 0,
                list: List::None,
            })
            .collect();
        Self {
            config,
            flows,
            new: VecDeque::new(),
            old: VecDeque::new(),
            backlog: Bytes::ZERO,
            packets: 0,
        }
    }

    fn quantum(&self) -> i64 {
        // A quantum of nothing would never let anybody send.
        self.config.quantum.get().max(1).cast_signed()
    }
}

impl<P: Packet> FqCodel<P> {
    /// Drops from the head of the fattest queue.
    fn shed(&mut self, dropped: &mut Vec<P>) {
        let fattest = self.flows.iter_mut().max_by_key(|flow| flow.fifo.backlog());
        let Some(flow) = fattest else { return };
        let half = Bytes::new(flow.fifo.backlog().get() / 2);
        for _ in 0..self.config.drop_batch.max(1) {
            let Some(oldest) = flow.fifo.pop() else { break };
            self.backlog -= oldest.packet.size();
            self.packets -= 1;
            dropped.push(oldest.packet);
            if flow.fifo.backlog() <= half {
                break;
            }
        }
    }

    /// Moves a queue whose turn is over to the end of the old ones, or out.
    fn put_behind(&mut self, index: usize, list: List) {
        if let Some(flow) = self.flows.get_mut(index) {
            flow.list = list;
        }
        if list == List::Old {
            self.old.push_back(index);
        }
    }
}

impl<P: Packet + std::fmt::Debug + Send> Queue<P> for FqCodel<P> {
    fn enqueue(&mut self, now: Time, packet: P, dropped: &mut Vec<P>) {
        let hash = flow_hash(&packet.header(), self.config.perturbation);
        let quantum = self.quantum();
        let count = self.flows.len() as u64;
        #[expect(clippy::cast_possible_truncation, reason = "below a length")]
        let index = (hash % count) as usize;
        let size = packet.size();
        let Some(flow) = self.flows.get_mut(index) else {
            dropped.push(packet);
            return;
        };
        flow.fifo.push(now, packet);
        if flow.list == List::None {
            flow.list = List::New;
            flow.deficit = quantum;
            self.new.push_back(index);
        }
        self.backlog += size;
        self.packets += 1;
        if self.packets > self.config.limit || self.backlog > self.config.memory {
            self.shed(dropped);
        }
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Vec<P>) -> Option<Waiting<P>> {
        let quantum = self.quantum();
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let index = *list.front()?;
            let flow = self.flows.get_mut(index)?;
            if flow.deficit <= 0 {
                flow.deficit += quantum;
                list.pop_front();
                self.put_behind(index, List::Old);
                continue;
            }
            let before = dropped.len();
            let next = flow
                .control
                .dequeue(&self.config.codel, &mut flow.fifo, now, dropped);
            for packet in dropped.iter().skip(before) {
                self.backlog -= packet.size();
                self.packets -= 1;
            }
            let Some(next) = next else {
                // A new queue goes round once more, so that a flow cannot stay new
                // by sending little at a time.
                list.pop_front();
                let behind = if is_new && !self.old.is_empty() {
                    List::Old
                } else {
                    List::None
                };
                self.put_behind(index, behind);
                continue;
            };
            let size = next.packet.size();
            flow.deficit -= size.get().cast_signed();
            self.backlog -= size;
            self.packets -= 1;
            return Some(next);
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
    use mimosa_units::TimeDelta;

    use super::*;
    use crate::packet::TestPacket;
    use crate::random::Random;

    fn packet(flow: u32, size: u64) -> TestPacket {
        TestPacket {
            flow,
            ..TestPacket::sized(size)
        }
    }

    /// Bytes that each flow gets in `millis` at 1500 bytes a millisecond, all queues
    /// always full.
    fn shares(sizes: &[u64], millis: u64) -> Vec<u64> {
        let mut queue = FqCodel::new(FqCodelConfig::default());
        let mut got = vec![0; sizes.len()];
        let mut dropped = Vec::new();
        let mut budget = 0;
        for ms in 0..millis {
            let now = Time::from_millis(ms);
            for (flow, &size) in (0..).zip(sizes) {
                for _ in 0..=1_500 / size {
                    queue.enqueue(now, packet(flow, size), &mut dropped);
                }
            }
            budget += 1_500;
            while budget >= 1_500 {
                let next = queue.dequeue(now, &mut dropped).unwrap().packet;
                budget -= next.size;
                got[next.flow as usize] += next.size;
            }
            dropped.clear();
        }
        got
    }

    #[test]
    fn flows_share_bytes_whatever_their_packets_sizes() {
        let got = shares(&[1_500, 300, 1_000], 6_000);
        let mean = got.iter().sum::<u64>() / 3;
        assert!(
            got.iter().all(|bytes| bytes.abs_diff(mean) < mean / 50),
            "{got:?}"
        );
    }

    #[test]
    fn a_sparse_flow_waits_for_nobody() {
        let mut queue = FqCodel::new(FqCodelConfig::default());
        let mut dropped = Vec::new();
        for _ in 0..200 {
            queue.enqueue(Time::ZERO, packet(1, 1_500), &mut dropped);
        }
        let mut waits = Vec::new();
        for ms in 0..150 {
            let now = Time::from_millis(ms);
            if ms % 10 == 0 {
                queue.enqueue(now, packet(2, 200), &mut dropped);
            }
            let next = queue.dequeue(now, &mut dropped).unwrap();
            if next.packet.flow == 2 {
                waits.push(now.since(next.since));
            }
        }
        // At first the other one is new as well.
        assert_eq!(waits[0], TimeDelta::from_millis(2));
        assert_eq!(waits[1..], [TimeDelta::ZERO; 14]);
    }

    #[test]
    fn a_flow_does_not_stay_new_by_sending_little_at_a_time() {
        let mut queue = FqCodel::new(FqCodelConfig::default());
        let mut dropped = Vec::new();
        let mut got = [0_u32; 2];
        for step in 0..1_000 {
            let now = Time::from_nanos(step * 1_000);
            // One flow keeps just a packet there, the other a queue.
            for (flow, keeps) in [(0, 1), (1, 10)] {
                let hash = flow_hash(&packet(flow, 1).header(), 0) % 1_024;
                while queue.flows[usize::try_from(hash).unwrap()].fifo.len() < keeps {
                    queue.enqueue(now, packet(flow, 1_514), &mut dropped);
                }
            }
            let next = queue.dequeue(now, &mut dropped).unwrap();
            got[next.packet.flow as usize] += 1;
        }
        assert!(got[0].abs_diff(got[1]) <= 2, "{got:?}");
    }

    #[test]
    fn the_fattest_pays_for_the_limit_from_its_head() {
        let config = FqCodelConfig {
            limit: 100,
            ..FqCodelConfig::default()
        };
        let mut queue = FqCodel::new(config);
        let mut dropped = Vec::new();
        queue.enqueue(Time::ZERO, packet(2, 1_500), &mut dropped);
        for number in 0..100 {
            let packet = TestPacket {
                number,
                ..packet(1, 1_000)
            };
            queue.enqueue(Time::ZERO, packet, &mut dropped);
        }
        assert!(dropped.iter().all(|packet| packet.flow == 1));
        let numbers: Vec<_> = dropped.iter().map(|packet| packet.number).collect();
        assert_eq!(numbers, (0..50).collect::<Vec<_>>());
        assert_eq!(queue.len(), 51);
    }

    #[test]
    fn every_packet_comes_back_once() {
        for seed in 1..=16 {
            let mut random = Random::new(seed, "load");
            let config = FqCodelConfig {
                flows: 8,
                limit: 200,
                memory: Bytes::new(150_000),
                ..FqCodelConfig::default()
            };
            let mut queue = FqCodel::new(config);
            let (mut offered, mut served, mut dropped) = (0, 0, Vec::new());
            for step in 0..20_000_u64 {
                let now = Time::from_nanos(step * 200_000);
                let load = if step % 5_000 < 3_000 { 0.9 } else { 0.2 };
                for _ in 0..2 {
                    if random.chance(load) {
                        offered += 1;
                        let flow = if random.chance(0.5) { 0 } else { offered % 13 };
                        let size = 100 + u64::from(offered % 7) * 200;
                        queue.enqueue(now, packet(flow, size), &mut dropped);
                    }
                }
                served += u32::from(queue.dequeue(now, &mut dropped).is_some());
                let inside = u32::try_from(queue.len() + dropped.len()).unwrap();
                assert_eq!(offered, served + inside, "seed {seed}, step {step}");
            }
            while queue.dequeue(Time::from_secs(5), &mut dropped).is_some() {}
            assert_eq!((queue.len(), queue.backlog()), (0, Bytes::ZERO));
            assert!(dropped.len() > 1_000);
        }
    }
}
