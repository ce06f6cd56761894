//! A page's clock and the host's.

use std::collections::VecDeque;

use mimosa_units::{Time, TimeDelta};

use crate::PageTime;

/// How long an answer counts. Clocks drift apart by 15 us a second (RFC 5905, PHI):
/// 0.15 ms in this time, which is less than a page's round trip leaves open. Longer
/// would let the drift count, shorter would leave few answers to choose from.
const WINDOW: TimeDelta = TimeDelta::from_millis(10_000);
/// Answers kept, so that a page that answers without being asked costs nothing.
/// Only one that takes longer than all newer ones has to be kept at all.
const MOST: usize = 64;

/// Converts a page's times to the host's.
///
/// The host asks, the page answers at once with its time, which is taken for that in
/// the middle between question and answer. It cannot be wrong by more than half of
/// that round trip (RFC 5905, section 8), so the answer with the least of the last
/// ten seconds is used.
#[derive(Clone, Debug, Default)]
pub struct ClockMap {
    /// In the order in which they came; each took longer than the one before.
    answers: VecDeque<Answer>,
}

#[derive(Clone, Copy, Debug)]
struct Answer {
    came: Time,
    round_trip: TimeDelta,
    /// Host's time less the page's.
    offset: TimeDelta,
}

impl ClockMap {
    /// How often to ask: ten answers to choose from.
    pub const INTERVAL: TimeDelta = TimeDelta::from_millis(1_000);

    /// No answer yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            answers: VecDeque::new(),
        }
    }

    /// An answer came at `now` to what was asked at `asked`; `answered` is what it
    /// says. One to a question of the future is passed over.
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

    /// The host's time at this time of the page; `None` before the first answer.
    /// Stays with the best answer known while no others come.
    #[must_use]
    pub fn to_host(&self, time: PageTime) -> Option<Time> {
        let best = self.answers.front()?;
        Some(Time::ZERO + (time.since_beginning() + best.offset))
    }

    /// By how much [`Self::to_host`] may be wrong, either way, apart from drift.
    #[must_use]
    pub fn uncertainty(&self) -> Option<TimeDelta> {
        self.answers.front().map(|best| best.round_trip / 2)
    }
}
