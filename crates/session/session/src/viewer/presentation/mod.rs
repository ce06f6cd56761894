//! Paces pictures by the display's clock: one picture a refresh where the link allows it, with the least
//! hold that gives it.
//!
//! # Model
//!
//! ```text
//! decoder -> ready -> [waiting] -> decide, shortly before a refresh -> show | repeat
//!                        |
//!                        +-> dropped
//! display -> refreshed (RefreshClock: when is the next refresh?)
//! ```
//!
//! A picture is *due* a fixed time after its capture (`hold.rs`). Shortly before each refresh, the
//! driver asks which picture to show at it. The answer is the newest picture that is due, with one
//! exception: where a picture has only just become due, and the one before was shown a whole refresh after it
//! was due, it is left to the next refresh as well. Without the exception, captures that lie some microseconds
//! to one and the other side of a refresh would be dropped and repeated in turn.
//!
//! | the display, beside the stream | what is shown |
//! |---|---|
//! | as fast | each picture at one refresh, as long as a hold of less than two refreshes allows it |
//! | faster | each picture at the refresh after it is due, which is as even as the display can be |
//! | slower | the newest picture, without a hold: each refresh has one anyway |
//! | of unknown or variable refresh | each picture at once |
//!
//! # Sources
//!
//! R. Ramjee, J. Kurose, D. Towsley and H. Schulzrinne, "Adaptive playout mechanisms for packetized audio
//! applications in wide-area networks", INFOCOM 1994: a time of playout from the capture's time-stamp and
//! the delays observed. S. Moon, J. Kurose and D. Towsley, "Packet audio playout delay adjustment:
//! performance bounds and algorithms", Multimedia Systems 6, 1998: a quantile over a sliding window, and
//! delay spikes as a state of their own, of which the quantile is told nothing.
//!
//! # Deviations
//!
//! - The papers move a stream's playout between talkspurts. A game has none: the target moves with each
//!   picture, and its movement shows when it crosses a refresh.
//! - The target is raised by a refresh that was missed, not by the quantile alone: where the wait for the
//!   refresh covers the jitter, there is no hold.
//!
//! ```
//! use mimosa_session::viewer::presentation::{Cause, Pacer, PresentationConfig};
//! use mimosa_units::{PeerTime, Time, TimeDelta};
//!
//! let mut pacer = Pacer::new(PresentationConfig::default());
//! let interval = TimeDelta::from_micros(16_667);
//! let mut now = Time::from_secs(1);
//! for number in 0..30 {
//!     now += interval;
//!     pacer.refreshed(now);
//!     let captured = PeerTime::from_nanos(number * interval.as_nanos());
//!     pacer.ready(now + TimeDelta::from_millis(5), number as u64, captured);
//!     let due = pacer.due(now + TimeDelta::from_millis(5)).expect("a picture waits");
//!     let decision = pacer.decide(due).expect("it is due");
//!     assert_eq!(decision.show, Some(number as u64));
//!     assert!(decision.cause == Cause::Due || decision.cause == Cause::AtOnce);
//! }
//! assert!(pacer.interval(now).is_some(), "the display's refresh is known");
//! ```

mod capture;
mod config;
mod decision;
mod hold;
mod refresh;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use mimosa_units::{PeerTime, Time, TimeDelta};

pub use self::capture::CaptureClock;
pub use self::config::PresentationConfig;
pub use self::decision::{Cause, Decision, DropCause, PresentationCounts};
use self::hold::Hold;
pub use self::refresh::RefreshClock;

/// Share of the refresh interval below which the stream's interval makes the display the slower one.
const SLOWER: f64 = 0.95;
/// Steps between captures, the median of which is the stream's interval: half a second at 60 a second.
const STEPS: usize = 31;
/// Drawings, the longest of which is allowed for: a second at 60 a second.
const DRAWINGS: usize = 60;
/// Most pictures that wait; a pause of 100 ms is followed by six at 60 a second.
const MOST_WAITING: usize = 16;
/// Time without a picture after which refreshes are not waited for.
const SILENCE: TimeDelta = TimeDelta::from_millis(1_000);

/// A picture that is ready.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    number: u64,
    captured: PeerTime,
    at: Time,
}

/// Decides which picture is shown at which refresh.
#[derive(Clone, Debug, Default)]
pub struct Pacer {
    config: PresentationConfig,
    refresh: RefreshClock,
    hold: Hold,
    waiting: VecDeque<Waiting>,
    overflown: Vec<(u64, DropCause)>,
    newest: Option<Waiting>,
    steps: VecDeque<TimeDelta>,
    drawings: VecDeque<TimeDelta>,
    /// The refresh for which was decided last.
    decided: Option<Time>,
    /// How long the last picture had been due at its refresh.
    overdue: TimeDelta,
    counts: PresentationCounts,
}

impl Pacer {
    /// A pacer that knows nothing of display and stream.
    #[must_use]
    pub fn new(config: PresentationConfig) -> Self {
        Self {
            config,
            ..Self::default()
        }
    }

    /// Forgets the stream, and keeps the display: another session begins.
    pub fn restart(&mut self) {
        *self = Self {
            config: self.config,
            refresh: std::mem::take(&mut self.refresh),
            drawings: std::mem::take(&mut self.drawings),
            ..Self::default()
        };
    }

    /// Notes that the display refreshed at `at`.
    pub fn refreshed(&mut self, at: Time) {
        self.refresh.refreshed(at);
    }

    /// Notes how long a picture took from the decision until the display could have it.
    pub fn drawn(&mut self, took: TimeDelta) {
        self.drawings.push_back(took);
        if self.drawings.len() > DRAWINGS {
            self.drawings.pop_front();
        }
    }

    /// Takes a picture that was ready at `at`. `captured` is by the host's clock, with any origin. Pictures
    /// come in the order of their numbers.
    pub fn ready(&mut self, at: Time, number: u64, captured: PeerTime) {
        let picture = Waiting {
            number,
            captured,
            at,
        };
        if let Some(before) = self.newest.replace(picture) {
            let frames = number.saturating_sub(before.number).max(1);
            let frames = u32::try_from(frames).unwrap_or(u32::MAX);
            self.steps.push_back((captured - before.captured) / frames);
            if self.steps.len() > STEPS {
                self.steps.pop_front();
            }
        }
        if let Some(interval) = self.refresh.interval(at) {
            let (refresh, lead) = (&self.refresh, self.lead(interval));
            let misses = |target| {
                let due = due(captured, target) + lead;
                let shown = refresh.at_or_after(due);
                shown.is_some_and(|shown| at + lead > shown)
            };
            let spans = [interval, lead];
            self.hold.ready(&self.config, (at, captured), spans, misses);
        } else {
            self.hold = Hold::default();
        }
        self.waiting.push_back(picture);
        if self.waiting.len() > MOST_WAITING {
            let oldest = self.waiting.pop_front();
            self.overflown
                .extend(oldest.map(|oldest| (oldest.number, DropCause::TooMany)));
        }
    }

    /// When to call [`Self::decide`] next; `None` while there is nothing to decide.
    #[must_use]
    pub fn due(&self, now: Time) -> Option<Time> {
        let Some(interval) = self.refresh.interval(now) else {
            return (!self.waiting.is_empty()).then_some(now);
        };
        let newest = self.newest?;
        if self.waiting.is_empty() && now.since(newest.at) > SILENCE {
            return None;
        }
        let refresh = self.next(now, interval)?;
        Some((refresh - self.lead(interval)).max(now))
    }

    /// Decides what is shown at the next refresh; `None` before [`Self::due`].
    pub fn decide(&mut self, now: Time) -> Option<Decision> {
        if self.due(now)? > now {
            return None;
        }
        let mut decision = Decision {
            refresh: None,
            show: None,
            cause: Cause::AtOnce,
            dropped: std::mem::take(&mut self.overflown),
        };
        if let Some(interval) = self.refresh.interval(now) {
            let refresh = self.next(now, interval)?;
            decision.refresh = Some(refresh);
            self.decided = Some(refresh);
            self.choose(refresh, interval, &mut decision);
        } else {
            self.leave_out(&mut decision, |pacer| pacer.waiting.len() > 1);
            decision.show = self.waiting.pop_front().map(|shown| shown.number);
        }
        let counts = &mut self.counts;
        counts.dropped += decision.dropped.len() as u64;
        match decision.cause {
            Cause::NothingReady => counts.repeated += 1,
            Cause::Held => counts.held += 1,
            _ => counts.shown += 1,
        }
        Some(decision)
    }

    fn choose(&mut self, refresh: Time, interval: TimeDelta, decision: &mut Decision) {
        // Pictures that came before the refresh was known have no target.
        let aim = self.hold.target();
        let target = aim.unwrap_or_default();
        let lead = self.lead(interval);
        let overdue = |waiting: Option<&Waiting>| {
            waiting.map(|waiting| refresh - (due(waiting.captured, target) + lead))
        };
        let is_slower = self
            .stream_interval()
            .is_some_and(|stream| stream.as_secs() < SLOWER * interval.as_secs());
        let is_slower = is_slower || aim.is_none();
        if is_slower {
            self.leave_out(decision, |pacer| pacer.waiting.len() > 1);
        } else {
            let tolerance = self.config.tolerance;
            self.leave_out(decision, |pacer| {
                overdue(pacer.waiting.get(1)).is_some_and(|overdue| overdue > tolerance)
            });
            if let [first, _, ..] = *self.waiting.make_contiguous()
                && refresh.since(first.at) >= interval * 2
            {
                self.waiting.pop_front();
                decision
                    .dropped
                    .push((first.number, DropCause::HeldTooLong));
            }
        }
        let is_due = |place| overdue(self.waiting.get(place)) >= Some(TimeDelta::ZERO);
        decision.cause = match self.waiting.front() {
            None => Cause::NothingReady,
            Some(_) if is_slower => Cause::Newest,
            Some(_) if is_due(1) => Cause::Kept,
            Some(first) if is_due(0) && !self.leaves(first, refresh, interval, target) => {
                Cause::Due
            }
            Some(_) => Cause::Held,
        };
        if decision.cause != Cause::Held {
            self.overdue = overdue(self.waiting.front()).unwrap_or_default();
            decision.show = self.waiting.pop_front().map(|shown| shown.number);
        }
    }

    /// Whether a picture that is due is left to the next refresh, as the one before it was.
    fn leaves(
        &self,
        picture: &Waiting,
        refresh: Time,
        interval: TimeDelta,
        target: TimeDelta,
    ) -> bool {
        let tolerance = self.config.tolerance;
        let overdue = refresh - (due(picture.captured, target) + self.lead(interval));
        let is_short = refresh.since(picture.at) < interval;
        overdue < tolerance && self.overdue >= interval - tolerance && is_short
    }

    /// Drops the oldest picture for as long as `is_wanted`.
    fn leave_out(&mut self, decision: &mut Decision, is_wanted: impl Fn(&Self) -> bool) {
        while is_wanted(self)
            && let Some(oldest) = self.waiting.pop_front()
        {
            decision.dropped.push((oldest.number, DropCause::NewerDue));
        }
    }

    /// The next refresh that can show a picture which is decided on now or later, and for which was not
    /// decided yet.
    fn next(&self, now: Time, interval: TimeDelta) -> Option<Time> {
        let earliest = now + self.drawing(interval);
        let undecided = self.decided.map(|decided| decided + interval / 2);
        self.refresh
            .at_or_after(undecided.map_or(earliest, |undecided| undecided.max(earliest)))
    }

    /// How long before a refresh is decided what it shows: at most three quarters of the interval.
    fn lead(&self, interval: TimeDelta) -> TimeDelta {
        (self.drawing(interval) + self.config.margin).min(interval * 3 / 4)
    }

    fn drawing(&self, interval: TimeDelta) -> TimeDelta {
        let longest = self.drawings.iter().max().copied().unwrap_or_default();
        longest.min(interval / 2)
    }

    fn stream_interval(&self) -> Option<TimeDelta> {
        let mut sorted: Vec<_> = self.steps.iter().copied().collect();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied()
    }

    /// Time between refreshes of the display; `None` while it is unknown and pictures are shown at once.
    #[must_use]
    pub fn interval(&self, now: Time) -> Option<TimeDelta> {
        self.refresh.interval(now)
    }

    /// What was decided so far in this session.
    #[must_use]
    pub const fn counts(&self) -> PresentationCounts {
        self.counts
    }
}

/// When a picture is due that was `captured` and is shown `target` later.
fn due(captured: PeerTime, target: TimeDelta) -> Time {
    let nanos = captured.as_nanos().saturating_add(target.as_nanos());
    Time::from_nanos(u64::try_from(nanos).unwrap_or(0))
}
