//! When decoded pictures go to the window: at once, or paced by the display's refresh.

use std::collections::VecDeque;
use std::time::Duration;

use mimosa_session::viewer::presentation::{CaptureClock, Pacer, PresentationConfig};
use mimosa_system::clock::{self, Clock};
use mimosa_units::{Time, TimeDelta};
use mimosa_window::{Refreshes, Window};

use super::decode::Decoded;

/// Pictures shown, whose wait is averaged: a second at 60 a second.
const WAITS: usize = 60;
/// Time between lines in the log.
const LOG_EVERY: TimeDelta = TimeDelta::from_millis(1_000);

/// When pictures are shown.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Presentation {
    /// At the display's refreshes, one at each, where something tells of them; at once elsewhere.
    #[default]
    Paced,
    /// As soon as they are decoded.
    AtOnce,
}

/// A picture that is to be shown, and the refresh for which it is.
pub(super) struct Showing {
    pub(super) frame: Decoded,
    pub(super) refresh: Option<Time>,
    decided: Time,
}

/// Keeps decoded pictures until they are shown.
pub(super) struct Presenter {
    clock: Clock,
    pacer: Pacer,
    captures: CaptureClock,
    refreshes: Option<Refreshes>,
    /// Why pictures are shown at once, unless they are paced.
    reason: String,
    /// Whether presents wait for the refresh at present, and whether they do without pacing.
    waits: bool,
    always_waits: bool,
    waiting: VecDeque<Decoded>,
    /// How long the last pictures waited for the screen after they were decoded.
    waits_of_pictures: VecDeque<TimeDelta>,
    next_log: Time,
}

impl Presenter {
    /// A presenter for `window`, whose pictures wait for the refresh even at once if `always_waits`.
    pub(super) fn new(
        clock: Clock,
        window: &Window,
        presentation: Presentation,
        always_waits: bool,
    ) -> Self {
        let watched = match presentation {
            Presentation::Paced => window.refreshes().map_err(|error| error.to_string()),
            Presentation::AtOnce => Err("as asked".to_owned()),
        };
        let (refreshes, reason) = match watched {
            Ok(refreshes) => (
                Some(refreshes),
                "the display's refresh is unknown".to_owned(),
            ),
            Err(reason) => (None, reason),
        };
        Self {
            clock,
            pacer: Pacer::new(PresentationConfig::default()),
            captures: CaptureClock::default(),
            refreshes,
            reason,
            waits: always_waits,
            always_waits,
            waiting: VecDeque::new(),
            waits_of_pictures: VecDeque::new(),
            next_log: Time::ZERO,
        }
    }

    /// Begins another session.
    pub(super) fn restart(&mut self) {
        self.pacer.restart();
        self.captures = CaptureClock::default();
        self.waiting.clear();
    }

    /// How long to wait for events, at most `longest`: whole milliseconds, as SDL waits.
    pub(super) fn patience(&mut self, longest: Duration) -> Duration {
        self.observe();
        let rest = self.rest().map_or(longest, |rest| rest.min(longest));
        Duration::from_millis(u64::try_from(rest.as_millis()).unwrap_or(u64::MAX))
    }

    /// Waits for what is left of the last millisecond before a decision.
    pub(super) fn settle(&self) {
        if let Some(rest) = self.rest().filter(|rest| *rest < Duration::from_millis(1)) {
            clock::wait(rest);
        }
    }

    /// The time until the next decision.
    fn rest(&self) -> Option<Duration> {
        let now = self.clock.now();
        let rest = self.pacer.due(now)?.since(now);
        Some(Duration::from_nanos(
            u64::try_from(rest.as_nanos()).unwrap_or(0),
        ))
    }

    /// Tells the pacer of the display's refreshes.
    fn observe(&mut self) {
        for at in self.refreshes.iter().flat_map(Refreshes::take) {
            self.pacer.refreshed(self.clock.at(at));
        }
    }

    /// Takes a picture that was decoded.
    pub(super) fn ready(&mut self, frame: Decoded) {
        let captured = self.captures.at(frame.frame.timestamp);
        self.pacer.ready(frame.at, frame.frame.number, captured);
        self.waiting.push_back(frame);
    }

    /// The picture that has to be shown.
    pub(super) fn decide(&mut self, window: &mut Window) -> Option<Showing> {
        self.observe();
        let now = self.clock.now();
        let waits = self.always_waits || self.pacer.interval(now).is_some();
        if waits != self.waits {
            self.waits = waits;
            let does = window.set_refresh_wait(waits);
            tracing::debug!(wanted = waits, does, "presents wait for the refresh");
        }
        let decision = self.pacer.decide(now)?;
        tracing::trace!(?decision, "presentation");
        let shown = decision.show?;
        // Older ones are dropped: they stand before it.
        while let Some(frame) = self.waiting.pop_front() {
            if frame.frame.number == shown {
                return Some(Showing {
                    frame,
                    refresh: decision.refresh,
                    decided: now,
                });
            }
        }
        None
    }

    /// Notes that a picture was drawn at `drawn`, and handed to the window. Returns when it is on the screen.
    pub(super) fn shown(&mut self, showing: &Showing, drawn: Time) -> Time {
        self.pacer.drawn(drawn.since(showing.decided));
        let now = self.clock.now();
        let shown = showing.refresh.map_or(now, |refresh| refresh.max(drawn));
        self.waits_of_pictures
            .push_back(shown.since(showing.frame.at));
        if self.waits_of_pictures.len() > WAITS {
            self.waits_of_pictures.pop_front();
        }
        if now >= self.next_log {
            self.next_log = now + LOG_EVERY;
            tracing::debug!("{}", self.line());
        }
        shown
    }

    /// How pictures are shown, in a line.
    pub(super) fn line(&self) -> String {
        let counts = self.pacer.counts();
        let waits = self.waits_of_pictures.iter();
        let sum: f64 = waits.map(|wait| wait.as_millis()).sum();
        let held = sum / self.waits_of_pictures.len().max(1) as f64;
        let how = match self.pacer.interval(self.clock.now()) {
            Some(interval) => format!("paced at {:.2} Hz", 1.0 / interval.as_secs()),
            None => format!("shown at once ({})", self.reason),
        };
        let (shown, repeated) = (counts.shown, counts.repeated);
        format!(
            "{how}; shown {shown}, repeated {repeated}, dropped {}, held {held:.1} ms",
            counts.dropped
        )
    }
}
