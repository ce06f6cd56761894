//! The trait that every algorithm implements.

use std::fmt::Debug;

use mimosa_units::{Rate, Time};

use crate::decision::Decision;
use crate::event::Event;

/// A congestion controller: a pure state machine driven by `handle`.
///
/// The same sequence of `(now, event)` gives the same decisions. No sequence makes a controller
/// panic, leave its [`Limits`] or grow without bound: feedback may be lost, late, repeated or out
/// of order, and may be about packets that the controller never saw.
pub trait Controller: Debug + Send {
    /// Takes an event that happened at `now`, which never decreases, and returns the decision after
    /// it.
    fn handle(&mut self, now: Time, event: Event<'_>) -> &Decision;

    /// The present decision.
    fn decision(&self) -> &Decision;

    /// When to give the controller [`Event::Timer`], unless another event comes before; `None` for
    /// never.
    fn deadline(&self) -> Option<Time> {
        None
    }

    /// Why the controller decides no more, and what to do about it, on one line; `None` while it
    /// decides. Its last decision stands from then on. Only a controller that runs outside the
    /// program, as a process or a module, can fail.
    fn failure(&self) -> Option<&str> {
        None
    }
}

/// The bounds of a controller's target, and the target with which it begins.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    min: Rate,
    start: Rate,
    max: Rate,
}

impl Limits {
    /// Limits with `min <= start <= max`. A `max` below `min` is raised to `min`, and `start` is
    /// clamped to the two.
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
