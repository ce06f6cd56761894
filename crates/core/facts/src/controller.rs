//! The trait that every algorithm implements.

use std::fmt::Debug;

use mimosa_units::{Rate, Time};

use crate::decision::Decision;
use crate::event::Event;

/// A congestion controller: a pure state machine driven by `handle`.
///
/// The same sequence of `(now, event)` gives the same decisions. No sequence
/// makes it panic, leave its [`Limits`] or grow without bound: feedback may be
/// lost, late, repeated or out of order, and may speak of packets that the
/// controller never saw.
pub trait Controller: Debug + Send {
    /// Feeds one event that happened at `now`; `now` never decreases.
    fn handle(&mut self, now: Time, event: Event<'_>) -> &Decision;

    /// The decision that stands.
    fn decision(&self) -> &Decision;

    /// When to give [`Event::Timer`] if nothing happens before; `None` for never.
    fn deadline(&self) -> Option<Time> {
        None
    }
}

/// The rates between which a controller moves, and where it begins.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    min: Rate,
    start: Rate,
    max: Rate,
}

impl Limits {
    /// Limits with `min <= start <= max`; `start` is moved between the others,
    /// and a `max` below `min` is raised to it.
    #[must_use]
    pub fn new(min: Rate, start: Rate, max: Rate) -> Self {
        let max = max.max(min);
        Self {
            min,
            start: start.clamp(min, max),
            max,
        }
    }

    /// The lowest target.
    #[must_use]
    pub const fn min(&self) -> Rate {
        self.min
    }

    /// The first target.
    #[must_use]
    pub const fn start(&self) -> Rate {
        self.start
    }

    /// The highest target.
    #[must_use]
    pub const fn max(&self) -> Rate {
        self.max
    }

    /// The nearest rate within the limits.
    #[must_use]
    pub fn clamp(&self, rate: Rate) -> Rate {
        rate.clamp(self.min, self.max)
    }
}
