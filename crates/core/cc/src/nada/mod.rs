//! NADA: X. Zhu, R. Pan, M. Ramalho, S. Mena, *Network-Assisted Dynamic Adaptation
//! (NADA): A Unified Congestion Control Scheme for Real-Time Media*, RFC 8698. Section
//! and equation numbers are the RFC's; `docs/algorithms/nada.md` has the model.
//!
//! Delay, losses and marks become one congestion signal, an equivalent delay. While there is no
//! sign of congestion, the rate follows the receiving rate upwards. Otherwise it moves with the
//! signal's change and with the signal's distance from `PRIO XREF RMAX / rate`.
//!
//! *Deviations.* Everything is calculated at the sender, as section 6.4 allows. The first rate is
//! that of the limits, and not `RMIN`. A packet is lost when the session says so, and not when it
//! is out of order. `FPS` is the stream's own frame rate. We add bounds of the gradual growth, of
//! the time that counts for one step and of the signal, and a reaction to silence.

mod config;
mod log;
#[cfg(test)]
mod tests;

pub use config::Config;

use std::collections::VecDeque;

use mimosa_facts::{
    Cause, Controller, Decision, Event, Limits, Pacing, PacketOutcome, PacketReport,
};
use mimosa_units::{Bytes, Ecn, Rate, Time, TimeDelta};

use crate::named::Named;
use crate::needs::{Arrivals, Needs, Reports};
use crate::parameter::ParameterError;
use crate::send_queue::SendQueue;
use crate::windowed_min::WindowedMin;
use log::{Log, LossIntervals};

/// Gain of the smoothed round trip (RFC 6298); RFC 8698 leaves the estimate open.
const RTT_GAIN: f64 = 1.0 / 8.0;
/// Largest share of the rate by which the sender's queue moves target and pacing rate (equations 11
/// and 12).
const HIGHEST_SHAPING: f64 = 0.05;
/// Lowest rate of the gradual update and of pacing: `RMAX` over a lower rate has no meaning.
const LOWEST_RATE: Rate = Rate::from_kbps(1);

/// The NADA controller.
#[derive(Debug)]
pub struct Nada {
    config: Config,
    limits: Limits,
    base: WindowedMin,
    /// The newest queueing delays, of which the smallest counts.
    delays: VecDeque<TimeDelta>,
    log: Log,
    losses: LossIntervals,
    loss_share: f64,
    mark_share: f64,
    /// Congestion signal, `x_curr`, which is `x_prev` in the next update.
    signal: TimeDelta,
    rtt: Option<TimeDelta>,
    /// Reference rate, `r_ref`.
    rate: Rate,
    updated: Option<Time>,
    queue: SendQueue,
    period: TimeDelta,
    in_flight: Bytes,
    /// When something last arrived, silence last halved the rate, or data left with nothing in
    /// flight.
    silent_since: Time,
    decision: Decision,
}

impl Nada {
    /// A controller that begins at the first rate of `limits`.
    #[must_use]
    pub fn new(config: Config, limits: Limits) -> Self {
        let mut nada = Self {
            config,
            limits,
            base: WindowedMin::new(config.base_delay_window),
            delays: VecDeque::with_capacity(config.filter_samples),
            log: Log::new(config.log_window),
            losses: LossIntervals::default(),
            loss_share: 0.0,
            mark_share: 0.0,
            signal: TimeDelta::ZERO,
            rtt: None,
            rate: limits.start(),
            updated: None,
            queue: SendQueue::default(),
            period: TimeDelta::ZERO,
            in_flight: Bytes::ZERO,
            silent_since: Time::ZERO,
            decision: Decision::starting_at(limits.start()),
        };
        nada.shape();
        nada
    }

    fn feedback(&mut self, now: Time, reports: &[PacketReport], in_flight: Bytes) {
        self.in_flight = in_flight;
        self.log.advance(now);
        for report in reports {
            self.losses.packet();
            match report.outcome {
                PacketOutcome::Arrived { at, ecn, .. } => {
                    self.silent_since = now;
                    let rtt = now.since(report.packet.sent);
                    let smoothed = self.rtt.unwrap_or(rtt);
                    self.rtt = Some(smoothed + (rtt - smoothed).scale(RTT_GAIN));
                    let delay = self.queue_delay(now, at - report.packet.sent);
                    self.log.arrived(report.packet.size, delay, ecn == Ecn::Ce);
                }
                PacketOutcome::Lost => {
                    self.log.lost();
                    self.losses.lost(now, self.rtt.unwrap_or(TimeDelta::ZERO));
                }
            }
        }
        if reports.is_empty() {
            return;
        }
        let since = *self.updated.get_or_insert(now);
        let step = now.since(since);
        if step >= self.config.interval {
            self.updated = Some(now);
            self.update(step.min(self.config.longest_step));
        }
        self.shape();
    }

    /// Returns the queueing delay of one packet, `d_queue` (5.1.1), and keeps it among the newest.
    fn queue_delay(&mut self, now: Time, one_way: TimeDelta) -> TimeDelta {
        self.base.add(now, one_way);
        let base = self.base.get().unwrap_or(one_way);
        let delay = (one_way - base).max(TimeDelta::ZERO);
        if self.delays.len() == self.config.filter_samples {
            self.delays.pop_front();
        }
        self.delays.push_back(delay);
        delay
    }

    /// Calculates the congestion signal (4.2) and moves the rate (4.3). `step` is the time that
    /// counts for the update.
    fn update(&mut self, step: TimeDelta) {
        // Equation 10 smooths the shares.
        let (lost, marked) = self.log.shares();
        self.loss_share += self.config.smoothing * (lost - self.loss_share);
        self.mark_share += self.config.smoothing * (marked - self.mark_share);
        let delay = self.delays.iter().min().copied().unwrap_or_default();
        let signal = self.congestion(delay);
        let receiving = self.log.receiving();
        self.decision.evidence.queue_delay = Some(delay);
        self.decision.evidence.service_rate = Some(receiving);
        let (rate, cause) = if self.log.is_calm(self.config.ramp_up_delay) {
            self.ramp_up(receiving)
        } else {
            self.gradual(step, signal, receiving)
        };
        self.signal = signal;
        self.decision.cause = if rate >= self.limits.max() {
            Cause::AtMaximum
        } else {
            cause
        };
        self.rate = self.limits.clamp(rate);
    }

    /// Returns the congestion signal, `x_curr` (equation 2).
    fn congestion(&self, delay: TimeDelta) -> TimeDelta {
        let square = |share: f64, reference: f64| (share / reference) * (share / reference);
        let config = &self.config;
        let marks = square(self.mark_share, config.mark_reference);
        let losses = square(self.loss_share, config.loss_reference);
        let signal = self.perceived(delay)
            + config.mark_penalty.scale(marks)
            + config.loss_penalty.scale(losses);
        signal.min(config.highest_signal)
    }

    /// Returns the perceived delay, `d_tilde` (equation 1): warped while the last loss is
    /// remembered, and less and less so over one more loss interval.
    fn perceived(&self, delay: TimeDelta) -> TimeDelta {
        let threshold = self.config.warp_delay;
        let Some(interval) = self.losses.mean() else {
            return delay;
        };
        if delay < threshold {
            return delay;
        }
        let excess = (delay - threshold).ratio(threshold);
        let warped = threshold.scale(libm::exp(-self.config.warp_gain * excess));
        let forgotten = (self.losses.current / interval - self.config.loss_memory).clamp(0.0, 1.0);
        warped + (delay - warped).scale(forgotten)
    }

    /// Returns the rate of the ramp-up (equations 3 and 4), and the cause.
    fn ramp_up(&self, receiving: Rate) -> (Rate, Cause) {
        let config = &self.config;
        let loop_time = self.rtt.unwrap_or(TimeDelta::ZERO) + config.interval + config.filter_delay;
        let gamma = config.ramp_up_bound.ratio(loop_time);
        let reached = receiving.scale(1.0 + gamma.min(config.highest_ramp_up));
        if reached > self.rate {
            (reached, Cause::MultiplicativeIncrease)
        } else {
            (self.rate, Cause::ApplicationLimited)
        }
    }

    /// Returns the rate of the gradual update (equations 5 to 7), and the cause.
    fn gradual(&self, step: TimeDelta, signal: TimeDelta, receiving: Rate) -> (Rate, Cause) {
        let config = &self.config;
        let rate = self.rate.max(LOWEST_RATE);
        let aim = config.priority * self.limits.max().ratio(rate);
        let offset = signal.ratio(config.tau) - aim * config.reference.ratio(config.tau);
        let change = (signal - self.signal).ratio(config.tau);
        let factor = 1.0
            - config.kappa * step.ratio(config.tau) * offset
            - config.kappa * config.eta * change;
        let moved = rate.scale(factor);
        let most = receiving.scale(config.application_headroom).max(self.rate);
        if moved > most {
            (most, Cause::ApplicationLimited)
        } else {
            (moved, Cause::GradualUpdate)
        }
    }

    /// Sets target and pacing, from the rate and the data that waits in the sender (5.2.2).
    fn shape(&mut self) {
        let waiting = Rate::of(self.queue.bytes(), self.period);
        let most = self.rate.scale(HIGHEST_SHAPING);
        let slower = waiting.scale(self.config.video_gain).min(most);
        let faster = waiting.scale(self.config.send_gain).min(most);
        self.decision.target = self.limits.clamp(self.rate - slower);
        let pace = self.limits.clamp(self.rate + faster).max(LOWEST_RATE);
        self.decision.pacing = Pacing::Bucket {
            rate: pace,
            burst: Bytes::ZERO,
        };
    }

    /// Halves the rate when silence has lasted too long.
    fn timer(&mut self, now: Time) {
        if self.deadline().is_some_and(|due| due <= now) {
            self.silent_since = now;
            self.rate = self.limits.clamp(self.rate.scale(0.5));
            self.decision.cause = Cause::FeedbackTimeout;
            self.shape();
        }
    }
}

/// How the controller behaves when reports are fewer or contain less.
const WITH_LESS: &str = "\
    the same rates and the same queue up to reports 100 ms apart; 250 ms apart it uses less \
    of a link that changes; without ECN it goes by delay and losses";

impl Named for Nada {
    const NAME: &'static str = "nada";
    const NEEDS: Needs = Needs {
        uses_ecn: true,
        ..Needs::by_arrivals(Reports::every(100), Arrivals::Packets, WITH_LESS)
    };
    type Config = Config;

    fn start(config: Config, limits: Limits) -> Result<Box<dyn Controller>, ParameterError> {
        config.check()?;
        Ok(Box::new(Self::new(config, limits)))
    }
}

impl Controller for Nada {
    fn handle(&mut self, now: Time, event: Event<'_>) -> &Decision {
        match event {
            Event::FrameDue { interval, .. } => {
                self.period = interval.max(TimeDelta::ZERO);
                self.shape();
            }
            Event::FrameBegun {
                frame,
                size,
                packets,
            }
            | Event::FrameEncoded {
                frame,
                size,
                packets,
            } => {
                self.queue.push(now, frame, size, packets);
                self.shape();
            }
            Event::FrameGivenUp { frame } => self.queue.given_up(frame),
            Event::PacketSent(packet) => {
                self.queue.sent(&packet);
                if self.in_flight == Bytes::ZERO {
                    self.silent_since = now;
                }
                self.in_flight += packet.size;
            }
            Event::Feedback { reports, in_flight } => self.feedback(now, reports, in_flight),
            Event::Timer => self.timer(now),
            _ => {}
        }
        &self.decision
    }

    fn decision(&self) -> &Decision {
        &self.decision
    }

    /// Returns the time at which silence has lasted too long; `None` while nothing is in flight.
    fn deadline(&self) -> Option<Time> {
        let due = self.silent_since + self.config.feedback_timeout;
        (self.in_flight > Bytes::ZERO).then_some(due)
    }
}
