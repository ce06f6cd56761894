//! The way back of one flow: what its receiver sends, until its sender has it.
//!
//! It goes over a path with delay and loss. Where the flow's reports pass links first,
//! each is a packet there: the receiver's end hands it out with its size, the event loop
//! takes it through the links, and says here what became of it.

use std::collections::{BTreeMap, VecDeque};

use mimosa_facts::Balance;
use mimosa_net::Path;
use mimosa_units::{Bytes, Time, TimeDelta};

use crate::delay_line::DelayLine;

/// Reports or acknowledgements on their way.
#[derive(Debug)]
pub(crate) struct WayBack<T> {
    path: Path,
    /// Whether links are passed before the path.
    is_linked: bool,
    /// What comes back within one such slot arrives together at its end.
    aggregation: TimeDelta,
    arriving: DelayLine<T>,
    /// Numbers and sizes of what has yet to be offered to the first link.
    leaving: VecDeque<(u64, Bytes)>,
    /// What is leaving or in the links, by number.
    in_links: BTreeMap<u64, T>,
    /// How many packets of those that pass links there have been.
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

    /// Whether links are passed, so that sizes matter.
    pub(crate) const fn is_linked(&self) -> bool {
        self.is_linked
    }

    /// Sends `item`, a packet of `size`, from the receiver at `now`. Gives it back when it
    /// is lost.
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

    /// A packet is through the last link at `now`, whose `conditions` are these. Gives it
    /// back when it is lost on the path.
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

    /// A link gave a packet up: it is given back.
    pub(crate) fn dropped(&mut self, number: u64) -> Option<T> {
        self.balance.lost += 1;
        self.in_links.remove(&number)
    }

    /// Takes what has reached the sender by `now`.
    pub(crate) fn pop(&mut self, now: Time) -> Option<T> {
        let item = self.arriving.pop(now)?;
        self.balance.arrived += u64::from(self.is_linked);
        Some(item)
    }

    /// When the next reaches the sender.
    pub(crate) fn deadline(&self) -> Time {
        self.arriving.deadline()
    }

    /// What became of the packets that passed links; those inside are on the path.
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
