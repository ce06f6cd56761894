//! Last in, first out; what finds the queue full is dropped.
//!
//! A toy that counts the places which a queue needs: no link serves its newest packet first.

use std::fmt::Debug;

use mimosa_units::{Bytes, Time};

use crate::packet::Packet;
use crate::queue::keys::{Keys, Read};
use crate::queue::{Discipline, Fifo, Queue, Surroundings, Waiting};

/// How a `Lifo` is set up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LifoConfig {
    /// Packets held.
    pub limit: usize,
}

impl Discipline for LifoConfig {
    const NAME: &'static str = "lifo";

    fn read(keys: &mut Keys<'_>, _around: &Surroundings<'_>) -> Read<Self> {
        Ok(Self {
            limit: keys.packets(1_000)?,
        })
    }

    fn build<P: Packet + Debug + Send + 'static>(&self, _seed: u64) -> Box<dyn Queue<P>> {
        Box::new(Lifo {
            limit: self.limit,
            waiting: Fifo::new(),
        })
    }
}

/// The stack of packets.
#[derive(Debug)]
struct Lifo<P> {
    limit: usize,
    waiting: Fifo<P>,
}

impl<P: Packet + Debug + Send> Queue<P> for Lifo<P> {
    fn enqueue(&mut self, now: Time, packet: P, dropped: &mut Vec<P>) {
        if self.waiting.len() < self.limit {
            self.waiting.push(now, packet);
        } else {
            dropped.push(packet);
        }
    }

    fn dequeue(&mut self, _now: Time, _dropped: &mut Vec<P>) -> Option<Waiting<P>> {
        self.waiting.pop_newest()
    }

    fn backlog(&self) -> Bytes {
        self.waiting.backlog()
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }
}
