//! The map from a page's clock to the host's.

use std::collections::VecDeque;

use mimosa_units::{Time, TimeDelta};

use crate::PageTime;

/// How long an answer counts. Clocks drift apart by 15 us a second (RFC 5905, PHI), which is 0.15
/// ms in this time, less than the uncertainty that a page's round trip leaves. A longer time would
/// let the drift matter, a shorter one would leave few answers to choose from.
const WINDOW: TimeDelta = TimeDelta::from_millis(10_000);
/// Most answers that are kept, which bounds the cost of a page that answers without being asked. An
/// answer need only be kept while all newer ones had a longer round trip.
const MOST: usize = 64;

/// Converts a page's times to the host's.
///
/// The host asks, and the page answers at once with its time, which is taken for the time halfway
/// between question and answer. The error is at most half the round trip (RFC 5905, section 8), so
/// that the answer with the shortest round trip of the last ten seconds is used.
#[derive(Clone, Debug, Default)]
pub struct ClockMap {
    /// The answers in the order in which they came; each had a longer round trip than the one
    /// before.
    answers: VecDeque<Answer>,
}

#[derive(Clone, Copy, Debug)]
struct Answer {
    came: Time,
    round_trip: TimeDelta,
    /// The host's time less the page's.
    offset: TimeDelta,
}

impl ClockMap {
    /// Time between questions, which leaves ten answers to choose from.
    pub const INTERVAL: TimeDelta = TimeDelta::from_millis(1_000);

    /// A map without any answer.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            answers: VecDeque::new(),
        }
    }

    /// Takes an answer that came at `now` to the question asked at `asked`, with the page's time
    /// `answered`. An answer to a question in the future is ignored.
    pub fn answer(&mut self, now: Time, asked: Time, answered: PageTime) {
        if asked > now {
            return;
        }
        let round_trip = now.since(asked);
        let middle = asked + round_trip / 2;
        let answer = Answer {
            came: now,
            round_trip,
            offset: middle.since(Time::ZERO) - answered.since_beginning(),
        };
        let is_old = |old: &Answer| now.since(old.came) > WINDOW;
        while self.answers.front().is_some_and(is_old) {
            self.answers.pop_front();
        }
        let is_worse = |other: &Answer| other.round_trip >= round_trip;
        while self.answers.back().is_some_and(is_worse) || self.answers.len() >= MOST {
            self.answers.pop_back();
        }
        self.answers.push_back(answer);
    }

    /// The host's time for a time of the page; `None` before the first answer. The best answer is
    /// kept until another comes.
    #[must_use]
    pub fn to_host(&self, time: PageTime) -> Option<Time> {
        let best = self.answers.front()?;
        Some(Time::ZERO + (time.since_beginning() + best.offset))
    }

    /// Largest error of [`Self::to_host`] in either direction, apart from drift; `None` before the
    /// first answer.
    #[must_use]
    pub fn uncertainty(&self) -> Option<TimeDelta> {
        self.answers.front().map(|best| best.round_trip / 2)
    }
}
