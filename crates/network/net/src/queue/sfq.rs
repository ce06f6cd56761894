//! Stochastic fairness queueing (SFQ): flows are hashed into buckets, which are served in turn.
//!
//! P. McKenney, "Stochastic Fairness Queueing", INFOCOM 1990, in the form of Linux's
//! `sch_sfq`; the defaults are those of `tc-sfq(8)`. "Flow" means all packets of one
//! bucket. A flow with data has an allotment. In its turn it sends while the allotment
//! is above zero; then the allotment grows by a quantum, and the flow goes to the end
//! of the round. A queue above its limit gives up a packet of the flow with the most
//! packets; among equals, of the flow that changed last.
//!
//! *Deviations.* The hash is `flow_hash` of `packet.rs`, not Linux's, so other flows
//! collide. As in Linux, a packet of a bucket without data is dropped when
//! [`SfqConfig::flows`] buckets have data, although the queue may have room; with the
//! defaults the limit of 127 packets is reached first. There is no timer: a due change
//! of the hash happens with the next packet that comes or goes, and the new key is the
//! seed plus the number of periods passed. After a change the flows take turns in the
//! same order as before, in Linux in the order of their slots; from a flow that is
//! longer than its depth after a change, Linux drops the newest packet even with
//! [`SfqConfig::head_drop`]. Packets count with their own size, in Linux with their
//! Ethernet header too: there a packet of 1500 bytes uses up the default quantum, here
//! it leaves 14 bytes, so that a second packet leaves in the first turn. A drop from
//! the head of a flow at its depth counts as a change of the flow, in Linux it does
//! not. A limit of one packet is accepted, which Linux refuses. Linux's optional RED
//! for each flow is missing, and so is its bound of `limit` by `depth` times `flows`,
//! which could never be exceeded anyway.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Debug;

use mimosa_units::{Bytes, Time, TimeDelta};

use crate::keys::{Keys, MOST_FLOWS, MOST_PACKETS, Read};
use crate::packet::{Packet, flow_hash};
use crate::queue::{Discipline, Fifo, Queue, Surroundings, Waiting};

/// Parameters of an [`Sfq`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SfqConfig {
    /// Most packets held.
    pub limit: usize,
    /// Most buckets with data at one time.
    pub flows: usize,
    /// Number of buckets that the hash distinguishes; zero counts as one.
    pub divisor: u64,
    /// Bytes by which a flow's allotment grows in each round; zero counts as one byte.
    /// With less than the largest packet a flow may have to wait for several rounds.
    pub quantum: Bytes,
    /// Most packets of one flow.
    pub depth: usize,
    /// Time after which flows are hashed with a new key; `None`, or a span that is not
    /// above zero, for never.
    pub perturb: Option<TimeDelta>,
    /// Key of the hash in the first period.
    pub seed: u64,
    /// Whether a flow that has to give up a packet gives up the oldest instead of the newest.
    pub head_drop: bool,
}

impl Default for SfqConfig {
    /// The defaults of `tc-sfq(8)`: 127 packets, 128 flows, 1024 buckets, a depth of
    /// 127 packets, an Ethernet frame of 1514 bytes as the quantum (the device's MTU
    /// and its link header), no perturbation, tail drop.
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

/// A flow: the packets of one bucket.
#[derive(Debug)]
struct Flow<P> {
    waiting: Fifo<P>,
    /// Bytes that the flow may send in this turn; it may overdraw them by one packet.
    allotment: i64,
    /// Number of the last change of this flow's length, among the changes of all flows.
    changed: u64,
}

/// The stochastic fairness queue.
#[derive(Debug)]
pub struct Sfq<P> {
    config: SfqConfig,
    /// Flows with data, by their bucket.
    flows: BTreeMap<u64, Flow<P>>,
    /// Buckets of the flows with data, in the order of their turns.
    round: VecDeque<u64>,
    /// Number of periods of perturbation that have passed.
    epoch: u64,
    /// Number of changes of the length of any flow.
    changes: u64,
    packets: usize,
    backlog: Bytes,
}

impl<P> Sfq<P> {
    /// An empty queue with these parameters.
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
    /// Hashes all packets with the new key if a period is over.
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

    /// Puts a packet at the end of its flow. If there is no room, a packet is appended
    /// to `dropped`.
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
                // A new flow goes to the end of the round: at its front, new flows
                // could keep old ones waiting.
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

    /// Drops a packet of the longest flow.
    fn shorten(&mut self, dropped: &mut Vec<P>) {
        let longest = self
            .flows
            .iter()
            .max_by_key(|(_, flow)| (flow.waiting.len(), flow.changed))
            .map(|(bucket, flow)| (*bucket, flow.waiting.len()));
        let bucket = match longest {
            // All flows have one packet: the flow whose turn it is loses its packet, as in Linux.
            Some((bucket, 1)) => self.round.front().copied().unwrap_or(bucket),
            Some((bucket, _)) => bucket,
            None => return,
        };
        if let Some(waiting) = self.take(bucket, !self.config.head_drop) {
            dropped.push(waiting.packet);
        }
    }

    /// Takes the newest or the oldest packet of a flow, and removes the flow with its last packet.
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
