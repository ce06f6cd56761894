//! Hierarchical token bucket (HTB): classes with guaranteed rates that share the excess.
//!
//! M. Devera, "Hierarchical token bucket theory" (2002), Linux's `sch_htb` and
//! `tc-htb(8)`. Of all leaves with data, those whose lender is lowest in the tree go
//! first: a leaf within its own rate goes before one that borrows. Among these the
//! leaves with the lowest priority number go first, and leaves of the same priority
//! take turns, each as long as its quantum lasts.
//!
//! *Deviations.* In Linux a bound on the work done at once may delay changes of mode;
//! here all changes that are due have happened. A leaf whose queue shapes may have
//! packets but let none leave: Linux warns, here the next leaf is asked, and `ready`
//! may be early for a leaf that has not been asked yet. The root's rate does not
//! follow the link's. A packet counts with its own size, in Linux with its Ethernet
//! header too.
//!
//! The modes of classes are in `bucket`, lending and charging in `class`, turns in
//! `round`, and classification in `classify`.

mod bucket;
mod class;
mod classify;
mod config;
mod read;
mod round;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt::Debug;

use mimosa_units::{Bytes, Rate, Time};

use crate::packet::Packet;
use crate::queue::{DropTail, Limit, Queue, Waiting};
use class::Tree;
pub use classify::{Filter, Prefix};
use config::LEVELS;
pub use config::{ClassConfig, ClassId, HtbConfig, HtbError};
pub use read::ClassesConfig;
use round::{Rounds, Sendable};

/// Bounds of a quantum that is derived from the rate, in bytes (Linux warns beyond them).
const QUANTUM: (u64, u64) = (1_000, 200_000);

/// A leaf: a class in which packets wait.
#[derive(Debug)]
struct Leaf<P> {
    id: ClassId,
    /// Index of the class in the tree.
    class: usize,
    priority: u8,
    quantum: i64,
    ceil: Rate,
    /// Bytes left of the leaf's turn, for each level of the class that lends to it.
    turn: [i64; LEVELS],
    queue: Box<dyn Queue<P>>,
}

/// The hierarchical token bucket scheduler.
#[derive(Debug)]
pub struct Htb<P> {
    tree: Tree,
    /// The leaves, from left to right in the tree.
    leaves: Vec<Leaf<P>>,
    /// The state of the rounds, from which follows whose turn it is.
    rounds: Rounds,
    /// Filters, and the indices of the leaves to which they lead.
    filters: Vec<(Filter, usize)>,
    default: Option<usize>,
    /// Packets of no class, which pass at once.
    direct: DropTail<P>,
    /// Leaves that may send at present; a field so that it is allocated once.
    sendable: Vec<Sendable>,
}

impl<P: Packet + Debug + Send + 'static> Htb<P> {
    /// An idle tree of classes with full buckets. `queues` are the queues of the
    /// leaves; a leaf without one gets a drop-tail queue of
    /// [`HtbConfig::direct_limit`] packets.
    ///
    /// # Errors
    ///
    /// [`HtbError`] when [`HtbConfig::check`] refuses the tree, or when a queue is for
    /// a class that is not a leaf.
    pub fn new(
        config: &HtbConfig,
        mut queues: BTreeMap<ClassId, Box<dyn Queue<P>>>,
    ) -> Result<Self, HtbError> {
        config.check()?;
        for class in queues.keys() {
            config.check_leaf(*class)?;
        }
        let limit = Limit::Packets(config.direct_limit);
        let (tree, found) = Tree::new(config);
        let places: BTreeMap<_, _> = (0..)
            .zip(&found)
            .map(|(i, (_, leaf))| (leaf.id, i))
            .collect();
        let leaves = found.into_iter().map(|(class, leaf)| Leaf {
            id: leaf.id,
            class,
            priority: leaf.priority,
            quantum: quantum(leaf, config.r2q),
            ceil: leaf.ceil,
            turn: [0; LEVELS],
            queue: (queues.remove(&leaf.id)).unwrap_or_else(|| Box::new(DropTail::new(limit))),
        });
        let place = |class: &ClassId| places.get(class).copied();
        let filters = config.filters.iter();
        Ok(Self {
            rounds: Rounds::new(tree.len()),
            tree,
            leaves: leaves.collect(),
            filters: filters
                .filter_map(|(filter, class)| Some((filter.clone(), place(class)?)))
                .collect(),
            default: config.default.as_ref().and_then(place),
            direct: DropTail::new(limit),
            sendable: Vec::new(),
        })
    }
}

/// The quantum of a leaf in bytes: the configured one, or the one that follows from its rate.
fn quantum(leaf: &ClassConfig, r2q: u32) -> i64 {
    let derived = leaf.rate.as_bps() / 8 / u64::from(r2q.max(1));
    let quantum = leaf
        .quantum
        .map_or(derived.clamp(QUANTUM.0, QUANTUM.1), Bytes::get);
    i64::try_from(quantum).unwrap_or(i64::MAX)
}

impl<P: Packet> Htb<P> {
    /// Index of the leaf in which a packet belongs; `None` for a packet of no class.
    fn classify(&self, packet: &P) -> Option<usize> {
        let matching = self
            .filters
            .iter()
            .find(|(filter, _)| filter.matches(packet));
        matching.map(|(_, leaf)| *leaf).or(self.default)
    }

    /// Fills [`Self::sendable`] with the leaves that have packets and may send at `now`.
    fn find_sendable(&mut self, now: Time) {
        self.sendable.clear();
        for (index, leaf) in self.leaves.iter().enumerate() {
            if leaf.queue.is_empty() {
                continue;
            }
            let Some(lender) = self.tree.lender(leaf.class, now) else {
                continue;
            };
            self.sendable.push(Sendable {
                leaf: index,
                class: leaf.class,
                lender,
                level: self.tree.level(lender),
                priority: leaf.priority,
            });
        }
    }

    /// Takes a packet from the leaf `from`, which has been removed from `sendable`,
    /// and charges it to the classes. `None` when the leaf's queue gives none.
    fn take(&mut self, from: Sendable, now: Time, dropped: &mut Vec<P>) -> Option<Waiting<P>> {
        let leaf = self.leaves.get_mut(from.leaf)?;
        let waiting = leaf.queue.dequeue(now, dropped)?;
        let size = waiting.packet.size();
        if let Some(left) = leaf.turn.get_mut(from.level) {
            *left = left.saturating_sub(i64::try_from(size.get()).unwrap_or(i64::MAX));
            if *left < 0 {
                *left = left.saturating_add(leaf.quantum);
                self.rounds.end_turn(&self.tree, from, &self.sendable);
            }
        }
        self.tree.charge(leaf.class, from.level, now, size);
        let lends_to = |class| self.tree.lender(class, now) == Some(from.lender);
        let mut others = self.sendable.iter();
        let still_lends = !leaf.queue.is_empty() && lends_to(from.class)
            || others.any(|other| other.priority == from.priority && lends_to(other.class));
        if !still_lends {
            let (tree, others) = (&self.tree, &self.sendable);
            self.rounds.end_lenders_turn(tree, from, others);
        }
        Some(waiting)
    }
}

impl<P: Packet + Debug + Send> Queue<P> for Htb<P> {
    fn enqueue(&mut self, now: Time, packet: P, dropped: &mut Vec<P>) {
        let leaf = self.classify(&packet);
        match leaf.and_then(|leaf| self.leaves.get_mut(leaf)) {
            Some(leaf) => leaf.queue.enqueue(now, packet, dropped),
            None => self.direct.enqueue(now, packet, dropped),
        }
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Vec<P>) -> Option<Waiting<P>> {
        if let Some(waiting) = self.direct.dequeue(now, dropped) {
            return Some(waiting);
        }
        self.find_sendable(now);
        // The first leaf gives a packet, unless its queue shapes or drops all its packets.
        while let Some(next) = self.rounds.next(&self.tree, &self.sendable) {
            let from = self.sendable.swap_remove(next);
            let taken = self.take(from, now, dropped);
            if taken.is_some() {
                return taken;
            }
        }
        None
    }

    fn backlog(&self) -> Bytes {
        let leaves = self.leaves.iter().map(|leaf| leaf.queue.backlog());
        self.direct.backlog() + leaves.sum()
    }

    fn len(&self) -> usize {
        let leaves = self.leaves.iter().map(|leaf| leaf.queue.len());
        self.direct.len() + leaves.sum::<usize>()
    }

    fn ready(&self, now: Time) -> Time {
        let leaves = self.leaves.iter().filter(|leaf| !leaf.queue.is_empty());
        let ready = |leaf: &Leaf<P>| self.tree.lender_at(leaf.class).max(leaf.queue.ready(now));
        leaves
            .map(ready)
            .fold(self.direct.ready(now), Time::min)
            .max(now)
    }

    /// The lane of a packet: the number of its leaf's [`ClassId`]; zero for a packet of no class.
    fn lane(&self, packet: &P) -> usize {
        let leaf = self.classify(packet).and_then(|leaf| self.leaves.get(leaf));
        leaf.map_or(0, |leaf| leaf.id.0 as usize)
    }

    /// Tells each leaf's queue the smaller of the link's rate and the leaf's ceiling.
    fn rate_changed(&mut self, rate: Rate) {
        self.direct.rate_changed(rate);
        for leaf in &mut self.leaves {
            leaf.queue.rate_changed(rate.min(leaf.ceil));
        }
    }
}
