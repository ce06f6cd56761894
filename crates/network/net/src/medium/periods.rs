//! Periods and pauses of others, whose lengths are distributed exponentially.

use mimosa_units::{Time, TimeDelta};

use crate::random::Random;

/// Mean lengths of the periods in which others want something, and of their pauses.
pub(super) type Means = (TimeDelta, TimeDelta);

/// Whether others want something: always, or in periods.
#[derive(Debug)]
pub(super) struct Periods {
    means: Option<Means>,
    is_on: bool,
    /// When the period or the pause ends; [`Time::MAX`] for never.
    until: Time,
}

impl Periods {
    /// Periods and pauses with these mean lengths, of which a pause comes first; `None` for a
    /// period without end.
    pub(super) fn new(means: Option<Means>, random: &mut Random) -> Self {
        Self {
            means,
            is_on: means.is_none(),
            until: means.map_or(Time::MAX, |(_, off)| Time::ZERO + random.exponential(off)),
        }
    }

    /// Whether a period lasts at `now`, which must not be before the time of the last call.
    pub(super) fn is_on(&mut self, now: Time, random: &mut Random) -> bool {
        let (on, off) = self.means.unwrap_or_default();
        while self.until <= now {
            self.is_on = !self.is_on;
            self.until += random.exponential(if self.is_on { on } else { off });
        }
        self.is_on
    }
}
