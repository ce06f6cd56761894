//! C3G: congestion control for cloud gaming by the round-trip video latency (RTVL) of frames.
//!
//! A. Alós, F. Morán, P. Carballeira, D. Berjón, N. García: *Congestion Control for Cloud
//! Gaming Over UDP Based on Round-Trip Video Latency*, IEEE Access 7, 2019: sections III to V.
//!
//! *Deviations.* The windows of the data sent and of the data that arrives are aligned by the
//! smallest round trip, which the paper names as its next step (sections V-A and VII). ε does not
//! learn from the periods of a drain and the two after it. A frame is acknowledged with its last
//! packet if the receiver does not say that it is decoded. In a period in which nothing was
//! acknowledged, the age of the oldest frame is the RTVL. If nothing arrived at all, there is no
//! known capacity to return to: the rate stays at its minimum until a frame comes through.

mod config;
mod explore;
pub(crate) mod monitor;
#[cfg(test)]
pub(crate) mod stream;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use mimosa_facts::{Cause, Controller, Decision, Event, FrameId, Limits, Pacing};
use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use crate::named::Named;
use crate::needs::Needs;
use crate::parameter::ParameterError;

pub use config::{Config, Forget};
use explore::{Choice, Exploration};
use monitor::{Monitor, Period};

/// The most differences that the window of ε holds.
const MOST_DIFFERENCES: usize = 1_024;
/// Number of periods without a frame after which the control loop stops until the next frame.
const IDLE_PERIODS: u32 = 20;

/// ε: the largest difference of sent and received bitrate that came without a rising RTVL
/// (section V-A), in bytes per second.
#[derive(Debug, Default)]
struct Epsilon {
    /// Differences with their times: the newest is the last and the smallest.
    differences: VecDeque<(Time, f64)>,
}

impl Epsilon {
    fn add(&mut self, now: Time, difference: f64) {
        while self
            .differences
            .pop_back_if(|(_, older)| *older <= difference)
            .is_some()
        {}
        if self.differences.len() < MOST_DIFFERENCES {
            self.differences.push_back((now, difference));
        }
    }

    fn get(&mut self, now: Time, window: TimeDelta) -> f64 {
        while self
            .differences
            .pop_front_if(|(at, _)| now.since(*at) > window)
            .is_some()
        {}
        self.differences
            .front()
            .map_or(0.0, |(_, difference)| difference.max(0.0))
    }
}

/// The end of a drain, and the sent bitrate after it.
#[derive(Clone, Copy, Debug)]
enum Drain {
    /// The drain ends at this time.
    Until(Time, Rate),
    /// The drain ends when this frame or a newer one has come through, since nothing arrives.
    Heard(FrameId, Rate),
}

/// The C3G controller.
#[derive(Debug)]
pub struct C3g {
    config: Config,
    limits: Limits,
    decision: Decision,
    monitor: Monitor,
    epsilon: Epsilon,
    exploration: Exploration,
    /// λ / v: ratio of sent to target bitrate, smoothed; `None` before the first frame.
    ratio: Option<f64>,
    /// RTVL at the last run of the control loop that had one, in ms: `RTVL(t_prev)`.
    rtvl_before: Option<f64>,
    /// Bytes queued since congestion began: `qdData` since `t_cong`. `None` while there is no
    /// `t_cong`.
    queued: Option<f64>,
    drain: Option<Drain>,
    /// When the last drain ended.
    drained: Time,
    next_frame: FrameId,
    interval: TimeDelta,
    last_due: Time,
    next_run: Option<Time>,
}

impl C3g {
    /// A controller that has been told nothing.
    #[must_use]
    pub fn new(config: Config, limits: Limits) -> Self {
        Self {
            decision: Decision {
                pacing: Pacing::Burst,
                ..Decision::starting_at(limits.start())
            },
            monitor: Monitor::new(config.presentation_timeout, config.aligned),
            epsilon: Epsilon::default(),
            exploration: Exploration::new(),
            ratio: None,
            rtvl_before: None,
            queued: None,
            drain: None,
            drained: Time::ZERO,
            next_frame: FrameId(0),
            interval: TimeDelta::ZERO,
            last_due: Time::ZERO,
            next_run: None,
            config,
            limits,
        }
    }

    fn frame_due(&mut self, now: Time, frame: FrameId, interval: TimeDelta) {
        self.next_frame = FrameId(frame.0.saturating_add(1));
        self.interval = interval;
        self.last_due = now;
        self.monitor.frame_due(now, frame);
        if self.next_run.is_none() {
            self.monitor.begin(now);
            self.exploration.restart();
            self.next_run = Some(now + self.config.period);
        }
    }

    fn frame_encoded(&mut self, now: Time, frame: FrameId, size: Bytes, packets: u32) {
        self.monitor.frame_encoded(now, frame, packets);
        self.exploration.frame(size, self.interval);
        let granted = self.decision.target.amount_in(self.interval);
        if granted > Bytes::ZERO {
            let used = size.get() as f64 / granted.get() as f64;
            let used = used.clamp(0.0, 1.0 / self.config.lowest_ratio);
            let ratio = self.ratio.unwrap_or(used);
            self.ratio = Some(ratio + self.config.ratio_weight * (used - ratio));
        }
    }

    /// Runs the control loop once.
    fn run(&mut self, now: Time) {
        let period = self.monitor.end_period(now);
        let is_idle = now.since(self.last_due) > self.config.period * IDLE_PERIODS;
        self.next_run = (!is_idle).then(|| now + self.config.period);
        let silent_for = self.overdue(now, &period);
        let rtvl = period.rtvl.mean().or(silent_for);
        let is_rising = match (rtvl, self.rtvl_before) {
            (Some(rtvl), Some(before)) => rtvl > before,
            (Some(_), None) => silent_for.is_some(),
            (None, _) => false,
        };
        self.rtvl_before = rtvl.or(self.rtvl_before);
        self.show(&period);
        if self.drain.is_some() {
            self.continue_drain(now);
            return;
        }
        let growth = period.growth();
        let difference = growth / period.span.as_secs().max(1e-9);
        let is_growing = difference > self.epsilon.get(now, self.config.epsilon_window);
        let is_steady = now.since(self.drained) > self.config.period * 2;
        if !is_rising && is_steady {
            self.epsilon.add(now, difference);
        }
        let is_congested = (is_growing || silent_for.is_some()) && is_rising;
        self.queue(growth, is_congested, &period);
        if !is_congested {
            self.explore(&period);
            return;
        }
        let is_drain_needed = self.is_drain_needed(now, &period);
        if is_drain_needed || self.config.forget == Forget::Congestion {
            self.exploration.forget();
        }
        if is_drain_needed {
            self.begin_drain(now, &period);
        } else {
            self.decision.cause = Cause::Overuse;
            self.explore(&period);
        }
    }

    /// Age of the oldest frame on its way, in ms, if the period has no RTVL and the age is above
    /// the last RTVL, or above `silence` before there is one; else `None`.
    fn overdue(&self, now: Time, period: &Period) -> Option<f64> {
        if period.rtvl.mean().is_some() {
            return None;
        }
        let usual = self.rtvl_before.unwrap_or(self.config.silence.as_millis());
        self.monitor.oldest_age(now).filter(|age| *age > usual)
    }

    /// Updates the queued data: `qdData` from `t_cong` on (sections III-C and IV-A).
    fn queue(&mut self, growth: f64, is_congested: bool, period: &Period) {
        let is_falling = period.rtvl.slope().is_some_and(|slope| slope < 0.0);
        self.queued = match self.queued {
            None if is_congested => Some(growth.max(0.0)),
            // "Naturally" drained: `t_cong` begins anew.
            Some(_) if growth < 0.0 && is_falling => None,
            Some(queued) if queued + growth > 0.0 => Some(queued + growth),
            _ => None,
        };
    }

    /// Whether one of the two predictions of RTVL at the next run is above the threshold
    /// (section IV-A).
    fn is_drain_needed(&self, now: Time, period: &Period) -> bool {
        let threshold = self.config.threshold.as_millis();
        let at = period.span + self.config.period;
        let by_line = period.rtvl.extrapolate(at);
        // If nothing was acknowledged, the oldest frame's age stands for the last RTVL.
        let last = if period.rtvl.mean().is_some() {
            self.monitor.last_rtvl()
        } else {
            self.monitor.oldest_age(now)
        };
        let arriving = period.arrival_rate();
        let by_queue = last.map(|last| {
            let queued = Bytes::from_f64(self.queued.unwrap_or(0.0));
            last + arriving.transmit_time(queued).as_millis()
        });
        by_line.is_some_and(|rtvl| rtvl > threshold)
            || by_queue.is_some_and(|rtvl| rtvl > threshold)
    }

    /// Begins a drain (section IV-A), with the retransmissions of section V-B.
    fn begin_drain(&mut self, now: Time, period: &Period) {
        let queued = Bytes::from_f64(self.queued.take().unwrap_or(0.0));
        let arriving = period.arrival_rate();
        if arriving == Rate::ZERO {
            let after = self
                .decision
                .target
                .scale(self.ratio() * self.config.after_silence);
            self.drain = Some(Drain::Heard(self.next_frame, after));
            self.set_sent(Rate::ZERO, Cause::FeedbackTimeout);
            return;
        }
        // Equation 2.
        let rate =
            arriving.scale(1.0 - period.resent_share()) - Rate::of(queued, self.config.period);
        // T_drain = qdData / (µ - v_min), in whole executions.
        let lasts = (arriving - self.limits.min()).transmit_time(queued);
        let lasts = lasts.min(self.config.longest_drain).max(self.config.period);
        self.drain = Some(Drain::Until(now + lasts, arriving));
        self.set_sent(rate, Cause::Drain);
    }

    fn continue_drain(&mut self, now: Time) {
        match self.drain {
            Some(Drain::Until(end, after)) if now >= end => self.recover(now, after),
            Some(Drain::Heard(frame, after))
                if self
                    .monitor
                    .newest_ended()
                    .is_some_and(|ended| ended >= frame) =>
            {
                self.recover(now, after);
            }
            _ => {}
        }
    }

    /// Ends the drain. `rate` is `λ_OOP`, the capacity estimated before the drain.
    fn recover(&mut self, now: Time, rate: Rate) {
        self.drain = None;
        self.drained = now;
        self.exploration.forget();
        self.set_sent(rate, Cause::Recover);
    }

    /// Explores other rates (section IV-B), and sets the target at the end of an exploration
    /// period.
    fn explore(&mut self, period: &Period) {
        let Some((choice, factor)) = self.exploration.period(&self.config, period) else {
            return;
        };
        // The ratio of v to λ is as in the period explored.
        let target = self.decision.target.scale(factor);
        let is_limited = self
            .ratio
            .is_some_and(|ratio| ratio < self.config.lowest_ratio);
        self.decision.cause = match choice {
            Choice::Keep => Cause::Hold,
            Choice::Up if is_limited => Cause::ApplicationLimited,
            Choice::Up if target > self.limits.max() => {
                self.decision.target = self.limits.max();
                Cause::AtMaximum
            }
            Choice::Up => {
                self.decision.target = self.limits.clamp(target);
                Cause::AdditiveIncrease
            }
            Choice::Down => {
                self.decision.target = self.limits.clamp(target);
                Cause::StepBack
            }
        };
    }

    /// λ / v, but at least `lowest_ratio`; one before the first frame.
    fn ratio(&self) -> f64 {
        self.ratio.unwrap_or(1.0).max(self.config.lowest_ratio)
    }

    /// Sets the encoder's target so that `rate` is sent (section V-C).
    fn set_sent(&mut self, rate: Rate, cause: Cause) {
        self.decision.target = self.limits.clamp(rate.scale(1.0 / self.ratio()));
        self.decision.cause = cause;
    }

    fn show(&mut self, period: &Period) {
        let arriving = period.arrival_rate();
        let evidence = &mut self.decision.evidence;
        evidence.service_rate = (arriving > Rate::ZERO).then_some(arriving);
        evidence.backlog = self.queued.map(Bytes::from_f64);
        evidence.queue_delay = self.monitor.queue_delay();
    }
}

/// How the controller behaves when reports are fewer or contain less.
const WITH_LESS: &str = "\
    it uses less of the link; a report that comes 100 ms after its frame is congestion by \
    itself, so that reports 250 ms apart leave it the lowest rate";

impl Named for C3g {
    const NAME: &'static str = "c3g";
    const NEEDS: Needs = Needs::by_round_trips(WITH_LESS);
    type Config = Config;

    fn start(config: Config, limits: Limits) -> Result<Box<dyn Controller>, ParameterError> {
        config.check()?;
        Ok(Box::new(Self::new(config, limits)))
    }
}

impl Controller for C3g {
    fn handle(&mut self, now: Time, event: Event<'_>) -> &Decision {
        // A run of the control loop that is due comes before the event.
        if self.next_run.is_some_and(|due| due <= now) {
            self.run(now);
        }
        match event {
            Event::FrameDue { frame, interval } => self.frame_due(now, frame, interval),
            Event::FrameBegun { frame, packets, .. } => {
                self.monitor.frame_encoded(now, frame, packets);
            }
            Event::FrameEncoded {
                frame,
                size,
                packets,
            } => self.frame_encoded(now, frame, size, packets),
            Event::FrameGivenUp { frame } => self.monitor.frame_given_up(frame),
            Event::FrameDecoded { frame } => self.monitor.frame_decoded(now, frame),
            Event::PacketSent(packet) => self.monitor.packet_sent(&packet),
            Event::Feedback { reports, .. } => self.monitor.feedback(now, reports),
            _ => {}
        }
        &self.decision
    }

    fn decision(&self) -> &Decision {
        &self.decision
    }

    fn deadline(&self) -> Option<Time> {
        self.next_run
    }
}
