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
use crate::queue::keys::{Keys, MOST_FLOWS, MOST_PACKETS, Read};
use crate::queue::{Discipline, Fifo, Queue, Surroundings, Waiting};

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

impl Discipline for SfqConfig {
    const NAME: &'static str = "sfq";

    fn read(keys: &mut Keys<'_>, _around: &Surroundings<'_>) -> Read<Self> {
        let default = Self::default();
        let limit = keys.packets(default.limit)?;
        Ok(Self {
            limit,
            flows: keys.number("flows", default.flows, 1..=MOST_FLOWS)?,
            divisor: keys.number("divisor", default.divisor, 1..=65_536)?,
            quantum: keys.size("quantum", default.quantum)?,
            depth: keys.number("depth", default.depth.max(limit), 1..=MOST_PACKETS)?,
            perturb: keys.given("perturb")?,
            head_drop: keys.or("head_drop", default.head_drop)?,
            ..default
        })
    }

    fn build<P: Packet + Debug + Send + 'static>(&self, _seed: u64) -> Box<dyn Queue<P>> {
        Box::new(Sfq::new(*self))
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
mod tests;
