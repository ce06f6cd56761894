//! Fair queueing with controlled delay (FQ-CoDel): flows take turns, flows that have
//! just begun go first, and each flow has a CoDel of its own.
//!
//! RFC 8290: classification (section 4.1.1), the two lists and deficit round robin
//! (sections 4.1.2 and 4.2), the limits (sections 4.1.3 and 5.2.2). CoDel itself is
//! in [`super::codel`].
//!
//! *Deviations.* The hash is `flow_hash` of `packet.rs`. When all queues together
//! are above a limit, the queue with the most bytes loses packets from its head
//! until half of its bytes are left, but at most [`FqCodelConfig::drop_batch`]
//! packets (Linux; the RFC drops one). The limit on memory counts the sizes of
//! packets, not of buffers.

use std::collections::VecDeque;
use std::fmt::Debug;

use mimosa_units::{Bytes, Time};

use super::codel::{CodelConfig, Control};
use crate::keys::{Keys, MOST_FLOWS, MOST_PACKETS, Read};
use crate::packet::{Packet, flow_hash};
use crate::queue::{Discipline, Fifo, Queue, Surroundings, Waiting};

/// Parameters of FQ-CoDel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FqCodelConfig {
    /// Number of queues into which flows are hashed. Default: 1024 (section 5.2.4).
    pub flows: usize,
    /// Bytes that a flow may send in its turn. Default: 1514, an Ethernet frame (section 5.2.5).
    pub quantum: Bytes,
    /// Most packets in all queues together. Default: 10 240 (section 5.2.2).
    pub limit: usize,
    /// Most bytes in all queues together. Default: 32 MiB (Linux).
    pub memory: Bytes,
    /// Most packets dropped at once when either limit is exceeded. Default: 64 (Linux).
    pub drop_batch: usize,
    /// Parameters of the CoDel of each queue; its limit is not used.
    pub codel: CodelConfig,
    /// Key of the hash: each value gives another hash. Default: 0.
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

impl Discipline for FqCodelConfig {
    const NAME: &'static str = "fq-codel";

    fn read(keys: &mut Keys<'_>, _around: &Surroundings<'_>) -> Read<Self> {
        let default = Self::default();
        Ok(Self {
            limit: keys.packets(default.limit)?,
            codel: CodelConfig::read_with(keys, MOST_PACKETS)?,
            flows: keys.number("flows", default.flows, 1..=MOST_FLOWS)?,
            quantum: keys.size("quantum", default.quantum)?,
            memory: keys.size("memory", default.memory)?,
            drop_batch: keys.number("drop_batch", default.drop_batch, 1..=MOST_PACKETS)?,
            perturbation: default.perturbation,
        })
    }

    fn build<P: Packet + Debug + Send + 'static>(&self, _seed: u64) -> Box<dyn Queue<P>> {
        Box::new(FqCodel::new(*self))
    }
}

/// The list in which a queue is.
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
    /// Bytes that the flow may still send in its turn; negative when its last packet exceeded them.
    deficit: i64,
    list: List,
}

/// The FQ-CoDel queue.
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
    /// An empty queue with these parameters, and with at least one queue for flows.
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
        // With a quantum of zero no flow could ever send.
        self.config.quantum.get().max(1).cast_signed()
    }
}

impl<P: Packet> FqCodel<P> {
    /// Drops packets from the head of the queue with the most bytes.
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

    /// Puts a queue whose turn is over into `list`: at the end of the old queues, or in none.
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
                // An empty new queue goes behind the old ones, if there are any, so
                // that a flow cannot stay new by sending little at a time.
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
mod tests;
