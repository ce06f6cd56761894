//! The cycle of probing for bandwidth (section 5.3.3).

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use super::model::BETA;
use super::{Bbr3, LOSS_THRESHOLD, Probing, State, UP_GAIN};
use crate::window::congestion::AckSample;

/// The least time between probes, unless enough rounds pass before
/// (section 5.3.3).
const PROBE_WAIT: TimeDelta = TimeDelta::from_millis(2_000);
/// Bound of the random time that is added to the wait, in milliseconds
/// (section 5.3.3).
const PROBE_WAIT_SPREAD_MS: u64 = 1_000;
/// The most rounds between probes, for the sake of Reno (section 5.3.3).
const RENO_ROUNDS: u64 = 63;
/// The most doublings of the growth in `Up` (section 5.3.3).
const MOST_DOUBLINGS: u32 = 30;
/// The part of the probing cycle in which the data that is now acknowledged was
/// sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Feedback {
    Init,
    Refilling,
    Starting,
    Probing,
    Stopping,
}

/// The state of the cycle of probing for bandwidth.
#[derive(Clone, Debug)]
pub(super) struct Cycle {
    pub(super) start: Time,
    pub(super) wait: TimeDelta,
    pub(super) rounds_since_up: u64,
    pub(super) feedback: Feedback,
    /// Whether the data that arrives was sent by a probe that has not been
    /// judged yet.
    pub(super) is_sample: bool,
    pub(super) was_too_high: bool,
    pub(super) was_cautious: bool,
    pub(super) doublings: u32,
    pub(super) acked: Bytes,
    pub(super) acked_per_segment: Bytes,
}

impl Cycle {
    pub(super) const fn new() -> Self {
        Self {
            start: Time::ZERO,
            wait: PROBE_WAIT,
            rounds_since_up: 0,
            feedback: Feedback::Init,
            is_sample: false,
            was_too_high: false,
            was_cautious: false,
            doublings: 0,
            acked: Bytes::ZERO,
            acked_per_segment: Bytes::MAX,
        }
    }
}

impl Bbr3 {
    pub(super) fn start_down(&mut self, now: Time, delivered: Bytes) {
        self.short_term.reset_signals();
        self.cycle.acked_per_segment = Bytes::MAX;
        self.cycle.rounds_since_up = self.dice.below(2);
        let spread = self.dice.below(PROBE_WAIT_SPREAD_MS).cast_signed();
        self.cycle.wait = PROBE_WAIT + TimeDelta::from_millis(spread);
        self.cycle.start = now;
        self.cycle.feedback = Feedback::Stopping;
        self.rounds.restart(delivered);
        self.state = State::Down;
    }

    fn start_refill(&mut self, delivered: Bytes) {
        self.short_term.reset();
        self.cycle.doublings = 0;
        self.cycle.acked = Bytes::ZERO;
        self.cycle.was_cautious = false;
        self.cycle.feedback = Feedback::Refilling;
        self.rounds.restart(delivered);
        self.state = State::Refill;
    }

    fn start_up(&mut self, now: Time, sample: &AckSample) {
        self.cycle.feedback = Feedback::Starting;
        self.cycle.start = now;
        self.rounds.restart(sample.delivered);
        self.full_pipe.reset(sample_rate(sample));
        self.state = State::Up;
        self.raise_slope();
    }

    /// Begins the next phase of the cycle if it is time:
    /// `UpdateProbeBWCyclePhase`.
    pub(super) fn update_cycle(&mut self, now: Time, begins: bool, sample: &AckSample) {
        if !self.full_pipe.was_full || self.adapt_long_term(now, begins, sample) {
            return;
        }
        match self.state {
            State::Down | State::Cruise if self.is_time_to_probe(now) => {
                self.start_refill(sample.delivered);
            }
            State::Down if self.is_time_to_cruise(sample) => self.state = State::Cruise,
            State::Refill if begins => {
                self.cycle.is_sample = true;
                self.start_up(now, sample);
            }
            State::Up => self.check_end_of_up(now, sample),
            _ => {}
        }
    }

    fn check_end_of_up(&mut self, now: Time, sample: &AckSample) {
        if self.is_time_to_go_down(now, sample) {
            self.cycle.was_too_high = false;
            self.start_down(now, sample.delivered);
        }
    }

    fn is_time_to_probe(&self, now: Time) -> bool {
        let rounds = self.target().get() / self.mss.get().max(1);
        now > self.cycle.start + self.cycle.wait
            || self.cycle.rounds_since_up >= rounds.min(RENO_ROUNDS)
    }

    fn is_time_to_cruise(&self, sample: &AckSample) -> bool {
        let drained = self.with_budget(self.product(self.most_rate(), 1.0));
        sample.in_flight <= self.with_headroom() && sample.in_flight <= drained
    }

    fn is_time_to_go_down(&mut self, now: Time, sample: &AckSample) -> bool {
        if self.cycle.was_too_high && sample.in_flight >= self.long_term {
            self.cycle.was_cautious = true;
            return true;
        }
        if self.version.probing == Probing::UntilInFlight {
            let least_rtt = self.least_rtt.unwrap_or(TimeDelta::ZERO);
            let enough = self.with_budget(self.product(self.most_rate(), UP_GAIN));
            return now > self.cycle.start + least_rtt && sample.in_flight >= enough;
        }
        if sample.is_window_limited && self.window >= self.long_term {
            // The bound, not the path, limits the rate.
            self.full_pipe.reset(sample_rate(sample));
            return false;
        }
        self.full_pipe.is_full_now
    }

    /// Adapts the long-term bound of the flight: `AdaptLongTermModel`. Returns
    /// whether it has set the state.
    fn adapt_long_term(&mut self, now: Time, begins: bool, sample: &AckSample) -> bool {
        if self.cycle.feedback == Feedback::Starting && begins {
            self.cycle.feedback = Feedback::Probing;
        }
        if self.cycle.feedback == Feedback::Stopping && begins {
            self.cycle.is_sample = false;
            self.cycle.feedback = Feedback::Init;
            let is_app_limited = sample
                .delivery
                .is_none_or(|delivery| delivery.is_app_limited);
            if self.is_in_probe_bw() && !is_app_limited {
                self.cycles += 1;
                self.rate.expire(self.cycles);
            }
            if self.is_in_probe_bw() && self.cycle.was_cautious && !self.cycle.was_too_high {
                self.start_refill(sample.delivered);
                return true;
            }
        }
        if is_too_high(sample) {
            let was_up = self.state == State::Up;
            if self.cycle.is_sample
                && let Some(delivery) = sample.delivery
            {
                self.on_too_high(
                    now,
                    delivery.sent_in_flight,
                    delivery.is_app_limited,
                    sample.delivered,
                );
            }
            return was_up && self.state != State::Up;
        }
        if self.long_term != Bytes::MAX {
            if let Some(delivery) = sample.delivery {
                self.long_term = self.long_term.max(delivery.sent_in_flight);
            }
            if self.state == State::Up {
                self.raise_long_term(begins, sample);
            }
        }
        false
    }

    /// Lowers the long-term bound after too many losses at a flight of
    /// `in_flight`, and ends `Up`: `HandleInflightTooHigh`.
    pub(super) fn on_too_high(
        &mut self,
        now: Time,
        in_flight: Bytes,
        is_app_limited: bool,
        delivered: Bytes,
    ) {
        self.cycle.was_too_high = true;
        self.cycle.is_sample = false;
        if !is_app_limited {
            self.long_term = in_flight.max(self.target().scale(BETA));
        }
        if self.state == State::Up {
            self.start_down(now, delivered);
        }
    }

    /// Doubles the growth of the long-term bound: `RaiseInflightLongtermSlope`.
    fn raise_slope(&mut self) {
        let growth = 1_u64 << self.cycle.doublings;
        self.cycle.doublings = (self.cycle.doublings + 1).min(MOST_DOUBLINGS);
        self.cycle.acked_per_segment = Bytes::new(self.window.get() / growth).max(self.mss);
    }

    /// Raises the long-term bound if the window uses it up:
    /// `ProbeInflightLongtermUpward`.
    fn raise_long_term(&mut self, begins: bool, sample: &AckSample) {
        if !sample.is_window_limited || self.window < self.long_term {
            return;
        }
        self.cycle.acked += sample.acked;
        let step = self.cycle.acked_per_segment.get().max(1);
        let steps = self.cycle.acked.get() / step;
        self.cycle.acked -= Bytes::new(steps * step);
        self.long_term += self.segments(steps);
        if begins {
            self.raise_slope();
        }
    }
}

/// Whether a sample has more losses than the threshold: `IsInflightTooHigh`.
pub(super) fn is_too_high(sample: &AckSample) -> bool {
    sample
        .delivery
        .is_some_and(|delivery| delivery.lost > delivery.sent_in_flight.scale(LOSS_THRESHOLD))
}

fn sample_rate(sample: &AckSample) -> Rate {
    let rate = sample.delivery.and_then(|delivery| delivery.rate());
    rate.unwrap_or(Rate::ZERO)
}
