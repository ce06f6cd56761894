//! GCC, Google's congestion control for `WebRTC`, as libwebrtc implements it
//! (`modules/congestion_controller/goog_cc` and
//! `modules/remote_bitrate_estimator/aimd_rate_control.cc`): the sender watches the trend of the
//! one-way delay, the rate of arrival, loss, and the results of probes.
//!
//! Comments give libwebrtc's names of the constants. The draft (draft-ietf-rmcat-gcc-02) describes
//! an older form, with a Kalman filter instead of the trendline. The window in time, and the first
//! packet of a group in place of its last, are from ACE (SIGCOMM 2025, section 5.2). `version =
//! "classic"` has the increase of G. Carlucci et al., *Congestion Control for Web Real-Time
//! Communication*, IEEE/ACM Transactions on Networking 25(5), 2017.
//!
//! *Deviations.* Times are exact, not rounded to milliseconds. Probes are separate packets, spaced
//! evenly, beside the media; media packets sent among them count in their result. One group of
//! probes is sent at a time. There is no padding, no allocation of rates and no estimate by the
//! receiver. The acknowledged rate is libwebrtc's Bayesian estimate, which is no longer its
//! default. Before three observations of loss the delay alone decides. The events of frames and
//! feedback replace libwebrtc's step of 25 ms.

mod acknowledged;
mod aimd;
mod config;
mod delay;
mod inter_arrival;
mod limited;
mod loss;
mod observations;
mod probe_results;
mod probing;
mod trendline;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use mimosa_facts::{
    Cause, Controller, Decision, Event, Evidence, Limits, Pacing, PacketKind, PacketOutcome,
    PacketReport, SentPacket,
};
use mimosa_units::{Rate, Time, TimeDelta};

use self::acknowledged::Acknowledged;
use self::aimd::Step;
pub use self::config::{Config, GroupPacket, Version};
use self::delay::{Arrival, Delay};
use self::limited::Limited;
use self::loss::{Loss, LossState};
use self::probe_results::ProbeResults;
use self::probing::{LimitedBy, Probing};
use self::trendline::Usage;
use crate::named::Named;
use crate::needs::{Arrivals, Needs, Reports};
use crate::parameter::ParameterError;
use crate::windowed_min::WindowedMin;

/// Number of round trips whose mean is taken (`kMaxFeedbackRttWindow`).
const ROUND_TRIPS: usize = 32;
/// Time between two reductions of the rate for a long round trip (`WebRTC-Bwe-MaxRttLimit`,
/// `interval`).
const RTT_INTERVAL: TimeDelta = TimeDelta::from_millis(1_000);
/// Share of the acknowledged rate below which the result of a probe does not take the rate
/// (`kProbeDropThroughputFraction`).
const PROBE_DROP: f64 = 0.85;
/// Length of the window of the smallest one-way delay, which is used as evidence only. *Open.*
const MIN_DELAY_WINDOW: TimeDelta = TimeDelta::from_millis(10_000);

/// The GCC controller.
#[derive(Debug)]
pub struct Gcc {
    config: Config,
    limits: Limits,
    decision: Decision,
    delay: Delay,
    loss: Loss,
    acknowledged: Acknowledged,
    limited: Limited,
    was_limited: bool,
    probing: Probing,
    results: ProbeResults,
    round_trips: VecDeque<TimeDelta>,
    /// The newest round trip, without the wait for its report, and when it was measured.
    propagation: Option<(TimeDelta, Time)>,
    sent: Option<Time>,
    /// Rate allowed while the round trip is above its limit, and when it was last reduced; `None`
    /// while the round trip is within the limit.
    backoff: Option<(Rate, Time)>,
    min_delay: WindowedMin,
    queue_delay: Option<TimeDelta>,
    /// Arrivals in the present feedback message; a field only so that its memory is reused.
    arrivals: Vec<Arrival>,
}

impl Gcc {
    /// A controller that has sent nothing.
    #[must_use]
    pub fn new(config: Config, limits: Limits) -> Self {
        let start = limits.start();
        let mut gcc = Self {
            config,
            limits,
            decision: Decision::starting_at(start),
            delay: Delay::new(&config, start, limits.min()),
            loss: Loss::new(&config, limits.min(), limits.max()),
            acknowledged: Acknowledged::new(),
            limited: Limited::new(&config, start),
            was_limited: false,
            probing: Probing::new(start, limits.max()),
            results: ProbeResults::default(),
            round_trips: VecDeque::new(),
            propagation: None,
            sent: None,
            backoff: None,
            min_delay: WindowedMin::new(MIN_DELAY_WINDOW),
            queue_delay: None,
            arrivals: Vec::new(),
        };
        gcc.pace();
        gcc
    }

    fn packet_sent(&mut self, now: Time, packet: &SentPacket) {
        self.sent = Some(now);
        // Until there is feedback, the time without feedback counts from the first packet.
        self.propagation.get_or_insert((TimeDelta::ZERO, now));
        self.limited.sent(&self.config, now, packet.size);
        if packet.kind == PacketKind::Probe {
            self.probing.sent();
            self.results.sent(now, packet.sequence);
        }
        if self.config.probing {
            self.probing.start(&self.config, now);
            self.poll_probe(now);
        }
    }

    fn feedback(&mut self, now: Time, reports: &[PacketReport]) {
        self.arrivals.clear();
        for report in reports {
            if let PacketOutcome::Arrived { at, .. } = report.outcome {
                self.arrivals.push((at, report.packet));
            }
        }
        self.arrivals
            .sort_by_key(|&(at, ref packet)| (at, packet.sequence));
        self.measure(now);
        let is_limited = self.limited.since().is_some();
        if self.was_limited && !is_limited {
            self.acknowledged.limited_ended(now);
            self.probing.limited_ended(now);
        }
        self.was_limited = is_limited;
        let mut probed = None;
        for &(at, ref packet) in &self.arrivals {
            self.acknowledged
                .add(&self.config, packet.sent, at, packet.size);
            probed = self.results.arrived(now, packet, at).or(probed);
        }
        let acknowledged = self.acknowledged.rate();
        let probed = probed.map(|rate| self.limits.clamp(self.bounded_probe(rate, acknowledged)));
        let has_recovered = !self.arrivals.is_empty()
            && self.delay.update(
                &self.config,
                now,
                &self.arrivals,
                acknowledged,
                probed,
                is_limited,
            );
        let allowed = self.delay.rate();
        if self.config.loss_based {
            self.loss
                .update(&self.config, reports, allowed, acknowledged, is_limited);
        }
        self.decide(now);
        if has_recovered && self.config.probing {
            self.probing.set_limited(self.limited.since());
            self.probing.recovered(&self.config, now);
        }
        self.poll_probe(now);
    }

    /// Measures the round trip and the queueing delay, from the arrivals in one feedback message.
    fn measure(&mut self, now: Time) {
        let Some(&(newest, _)) = self.arrivals.last() else {
            return;
        };
        let (mut longest, mut shortest) = (TimeDelta::ZERO, TimeDelta::MAX);
        for &(at, ref packet) in &self.arrivals {
            let round_trip = now.since(packet.sent);
            longest = longest.max(round_trip);
            shortest = shortest.min(round_trip - (newest - at));
            let delay = at - packet.sent;
            self.min_delay.add(now, delay);
            self.queue_delay = self.min_delay.get().map(|min| delay - min);
        }
        if self.round_trips.len() == ROUND_TRIPS {
            self.round_trips.pop_front();
        }
        self.round_trips.push_back(longest);
        let mean = self
            .round_trips
            .iter()
            .map(|round_trip| round_trip.as_secs())
            .sum::<f64>()
            / self.round_trips.len() as f64;
        self.delay.aimd().set_rtt(TimeDelta::from_secs(mean));
        self.propagation = Some((shortest.max(TimeDelta::ZERO), now));
    }

    /// Returns the result of a probe, raised where it would take the rate far below the
    /// acknowledged rate.
    fn bounded_probe(&self, probed: Rate, acknowledged: Option<Rate>) -> Rate {
        acknowledged.map_or(probed, |rate| {
            probed.max(self.delay.rate().min(rate.scale(PROBE_DROP)))
        })
    }

    /// Updates the decision at the time of a frame, with or without feedback.
    fn process(&mut self, now: Time) {
        self.back_off(now);
        self.decide(now);
        if self.config.probing {
            self.probing.set_limited(self.limited.since());
            self.probing.process(&self.config, now);
            self.poll_probe(now);
        }
    }

    /// Returns the last round trip plus the time from its measurement to the newest packet sent;
    /// zero before the first packet.
    fn round_trip(&self) -> TimeDelta {
        let (Some((round_trip, measured)), Some(sent)) = (self.propagation, self.sent) else {
            return TimeDelta::ZERO;
        };
        round_trip + sent.since(measured)
    }

    /// Reduces the rate once in every `RTT_INTERVAL` while the round trip is too long.
    fn back_off(&mut self, now: Time) {
        if self.round_trip() <= self.config.rtt_limit {
            self.backoff = None;
            return;
        }
        let (rate, since) = match self.backoff {
            None => (self.decision.target, None),
            Some((rate, since)) => (rate, Some(since)),
        };
        if since.is_none_or(|since| now.since(since) >= RTT_INTERVAL) {
            let rate = rate.scale(self.config.rtt_drop).max(self.limits.min());
            self.backoff = Some((rate, now));
        }
    }

    /// Sets the target to the lowest of the rates that delay, loss and round trip allow.
    fn decide(&mut self, now: Time) {
        let delay = self.delay.rate();
        let loss = self.loss.rate().filter(|_| self.config.loss_based);
        let allowed = delay.min(loss.unwrap_or(Rate::MAX));
        let mut cause = self.cause(allowed);
        let mut target = self.limits.clamp(allowed);
        if allowed >= self.limits.max() {
            cause = Cause::AtMaximum;
        }
        if let Some((rate, _)) = self.backoff
            && rate <= target
        {
            (target, cause) = (self.limits.clamp(rate), Cause::FeedbackTimeout);
        }
        let has_changed = target != self.decision.target;
        self.decision.target = target;
        self.decision.cause = cause;
        self.decision.evidence = Evidence {
            service_rate: self.acknowledged.rate(),
            queue_delay: self.queue_delay,
            ..Evidence::NONE
        };
        if has_changed {
            self.pace();
            self.limited.set_rate(&self.config, target);
        }
        if self.config.probing {
            let by = self.limited_by();
            self.probing.set_rate(&self.config, now, target, by);
        }
    }

    /// Returns the rule behind `allowed`, the lower of the rates by delay and by loss.
    fn cause(&self, allowed: Rate) -> Cause {
        // Between its observations the loss-based rate lags behind the growth of the delay-based
        // rate.
        if allowed < self.delay.rate() && self.loss.state() != LossState::Delay {
            return Cause::Loss;
        }
        match self.delay.step() {
            Step::Start => Cause::Start,
            Step::Hold => Cause::Hold,
            Step::Multiplicative => Cause::MultiplicativeIncrease,
            Step::Additive => Cause::AdditiveIncrease,
            Step::Limited => Cause::ApplicationLimited,
            Step::Decrease => Cause::DelayTrend,
            Step::Probe => Cause::ProbeResult,
        }
    }

    fn limited_by(&self) -> LimitedBy {
        if self.delay.usage() != Usage::Normal || self.backoff.is_some() {
            return LimitedBy::Congestion;
        }
        match self.loss.state() {
            LossState::Delay => LimitedBy::Delay,
            LossState::Decreasing => LimitedBy::Congestion,
            LossState::Increasing => LimitedBy::LossRecovering,
        }
    }

    fn pace(&mut self) {
        let rate = self.decision.target.scale(self.config.pace);
        self.decision.pacing = Pacing::Bucket {
            rate,
            burst: rate.amount_in(self.config.pace_step),
        };
    }

    fn poll_probe(&mut self, now: Time) {
        if let Some(probe) = self.probing.poll(&self.config, now) {
            self.results
                .begin(now, probe.packets, probing::size(&probe));
            self.decision.probe = Some(probe);
        }
    }
}

impl Named for Gcc {
    const NAME: &'static str = "gcc";
    const NEEDS: Needs = Needs::by_arrivals(
        Reports::every(50),
        Arrivals::Packets,
        "the same rates and the same queue",
    );
    type Config = Config;

    fn start(config: Config, limits: Limits) -> Result<Box<dyn Controller>, ParameterError> {
        config.check()?;
        Ok(Box::new(Self::new(config, limits)))
    }
}

impl Controller for Gcc {
    fn handle(&mut self, now: Time, event: Event<'_>) -> &Decision {
        match event {
            Event::PacketSent(packet) => self.packet_sent(now, &packet),
            Event::Feedback { reports, .. } if !reports.is_empty() => {
                self.feedback(now, reports);
            }
            Event::FrameDue { .. } => self.process(now),
            _ => {}
        }
        &self.decision
    }

    fn decision(&self) -> &Decision {
        &self.decision
    }
}
