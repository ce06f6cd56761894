//! The return path of one flow, from its receiver to its sender.
//!
//! It is a path with delay and loss. If the flow's reports pass links before, each is a packet
//! there: the return path hands the packet out with its size, the event loop takes it through the
//! links, and then says here whether it passed or was dropped.

use std::collections::{BTreeMap, VecDeque};

use mimosa_facts::Balance;
use mimosa_net::Path;
use mimosa_units::{Bytes, Time, TimeDelta};

use crate::delay_line::DelayLine;

/// The reports or acknowledgements on their way.
#[derive(Debug)]
pub(crate) struct WayBack<T> {
    path: Path,
    /// Whether packets pass links before the path.
    is_linked: bool,
    /// Length of a slot: what would arrive within one arrives together at its end.
    aggregation: TimeDelta,
    arriving: DelayLine<T>,
    /// Numbers and sizes of the packets that have not been offered to the first link.
    leaving: VecDeque<(u64, Bytes)>,
    /// Packets that wait for the first link or are in the links, by number.
    in_links: BTreeMap<u64, T>,
    /// Counts of the packets that pass links.
    balance: Balance,
}

impl<T> WayBack<T> {
    pub(crate) fn new(path: Path, is_linked: bool, aggregation: TimeDelta) -> Self {
        Self {
            path,
            is_linked,
            aggregation,
            arriving: DelayLine::default(),
            leaving: VecDeque::new(),
            in_links: BTreeMap::new(),
            balance: Balance::default(),
        }
    }

    /// Whether packets pass links, so that their sizes matter.
    pub(crate) const fn is_linked(&self) -> bool {
        self.is_linked
    }

    /// Sends `item` as a packet of `size` from the receiver at `now`. Returns the item if it is
    /// lost.
    pub(crate) fn send(&mut self, now: Time, size: Bytes, item: T) -> Option<T> {
        if !self.is_linked {
            return self.along_path(now, (None, None), item);
        }
        let number = self.balance.offered;
        self.balance.offered += 1;
        self.leaving.push_back((number, size));
        self.in_links.insert(number, item);
        None
    }

    /// The next packet for the first link: its number and size.
    pub(crate) fn next_leaving(&mut self) -> Option<(u64, Bytes)> {
        self.leaving.pop_front()
    }

    /// Notes that a packet has passed the last link at `now`, under these `conditions`. Returns the
    /// item if it is lost on the path.
    pub(crate) fn through(
        &mut self,
        number: u64,
        now: Time,
        conditions: (Option<TimeDelta>, Option<f64>),
    ) -> Option<T> {
        let item = self.in_links.remove(&number)?;
        let lost = self.along_path(now, conditions, item);
        self.balance.lost += u64::from(lost.is_some());
        lost
    }

    /// Notes that a link dropped a packet. Returns the item.
    pub(crate) fn dropped(&mut self, number: u64) -> Option<T> {
        self.balance.lost += 1;
        self.in_links.remove(&number)
    }

    /// Takes the next item that has reached the sender by `now`.
    pub(crate) fn pop(&mut self, now: Time) -> Option<T> {
        let item = self.arriving.pop(now)?;
        self.balance.arrived += u64::from(self.is_linked);
        Some(item)
    }

    /// When the next item reaches the sender.
    pub(crate) fn deadline(&self) -> Time {
        self.arriving.deadline()
    }

    /// Counts of the packets that passed links; `inside` are those on the path.
    pub(crate) fn balance(&self) -> Balance {
        let inside = if self.is_linked {
            self.arriving.len()
        } else {
            0
        };
        Balance {
            inside: inside as u64,
            ..self.balance
        }
    }

    fn along_path(
        &mut self,
        now: Time,
        conditions: (Option<TimeDelta>, Option<f64>),
        item: T,
    ) -> Option<T> {
        let Some(at) = self.path.send(now, conditions) else {
            return Some(item);
        };
        let slot = self.aggregation.as_nanos().unsigned_abs();
        let at = if slot == 0 {
            at
        } else {
            Time::from_nanos(at.as_nanos().div_ceil(slot).saturating_mul(slot))
        };
        self.arriving.push(at, item);
        None
    }
}
