//! Pudica: near-zero queueing delay for cloud gaming.
//!
//! S. Wang et al., *Pudica: Toward Near-Zero Queuing Delay in Congestion
//! Control for Cloud Gaming*, NSDI 2024: section 4 and appendices B, C and G.
//!
//! Each frame is a short train of packets. How long the bottleneck was busy with
//! it, as a share of the frame interval L, is the bandwidth utilisation ratio
//! (BUR). Below one, the queue that the frame left was gone before the next
//! frame.
//!
//! ```text
//!             smoothed BUR <= alpha   multiplicative increase     (eq. 7, 8)
//! steady  {   alpha < BUR <= 1        step towards the fair share (eq. 9, 10)
//!             one frame > 1           next frame 15 % smaller
//!   | three frames > 1        ^ first frame < 1
//!   v                         |
//! draining    alpha * receiving rate - in flight / 200 ms         (eq. 11)
//! ```
//!
//! *Deviations and readings.*
//! - `B_k` of equation 6 is the frame's own size over L, not the target for which
//!   the frame was encoded. With an exact encoder they are the same; with any
//!   other, a frame below its target would make the link look emptier than it is.
//!   The packets that arrived count (section 6), so that losses lower the bitrate.
//! - The additive term, garbled in the published text, is read as
//!   `I = (B_max + 2 tau / ln B) gamma_MD / 2`, B in Mbit/s, `tau` in frames
//!   (`Growth::Linear`); ln B counts as at least one.
//! - A fairness step follows each frame's feedback, with A within 1 Mbit/s and a
//!   tenth of the bitrate; only after a multiplicative increase is its own
//!   feedback waited for.
//! - A smoothed BUR above one begins `tau` anew and leaves the bitrate: fallback
//!   and drain answer it. With a fairness step in their place (`Overuse::Step`)
//!   the bitrate would rise below half of `B_max`, where A is positive.
//! - Each probe's delay counts less a noise floor (`noise.rs`). It is zero where
//!   probes without a queue have equal delays, which makes it equation 4.
//! - The BUR that triggers fallback and drain is that of equation 1 at the
//!   frame's last packet. The probes' correction, which arrives later, enters
//!   pacing and smoothing.
//! - The receiving rate is measured from the first arrival of the first frame
//!   whose BUR is above one. Recovery never goes above the bitrate before the
//!   congestion: a burst released after a stall arrives faster than any link
//!   could sustain.
//! - Added where the paper is silent, each a parameter: the answer to silence
//!   (`frame_timeout`), to an encoder that uses little
//!   (`application_headroom`), to a path that has become longer
//!   (`path_change_after`).
//! - Lost packets do not count in a frame's delay; only packets that arrived do.

mod adapt;
mod config;
mod drain;
mod estimate;
mod frames;
mod noise;
mod smooth;
#[cfg(test)]
mod tests;

pub use config::{Adaptation, Cadence, Config, Estimator, FrameSize, Growth, Overuse, PaceMode};

use mimosa_facts::{
    Cause, Controller, Decision, Event, FrameId, Limits, Pacing, PacketKind, PacketOutcome,
    PacketReport, Probe, ProbeStart, SentPacket,
};
use mimosa_units::{Bytes, PeerTime, Rate, Time, TimeDelta};

use crate::named::Named;
use crate::needs::{Arrivals, Needs, Reports};
use crate::parameter::ParameterError;
use crate::windowed_min::WindowedMin;
use drain::Drain;
use estimate::{Estimate, Received};
use frames::{Frame, Frames};
use noise::Noise;

/// Window of the minimum round trip, as long as the paper's window of the minimum
/// one-way delay.
const MIN_RTT_WINDOW: TimeDelta = TimeDelta::from_millis(10_000);
/// The Pudica controller.
#[derive(Debug)]
pub struct Pudica {
    config: Config,
    limits: Limits,
    /// B of the paper: the bitrate, apart from the sizes of single frames.
    rate: Rate,
    frames: Frames,
    estimate: Estimate,
    noise: Noise,
    received: Received,
    min_rtt: WindowedMin,
    /// L of the paper: the interval of the frame that was last asked for.
    interval: TimeDelta,
    /// The frame after the one last asked for: the first frame that a change of
    /// the bitrate reaches.
    next_frame: FrameId,
    /// The frame whose packets are leaving.
    sending: Option<FrameId>,
    /// The bitrate is not adjusted before feedback about this frame.
    hold_until: FrameId,
    /// tau of the paper: number of frames since the additive part began anew. By
    /// the clock, that happens next at `next_restart`.
    tau: f64,
    next_restart: Time,
    /// Number of consecutive frames with a BUR above one. `rate_before` is the
    /// bitrate before the first of them.
    above_one: u32,
    rate_before: Rate,
    /// Whether the next frame alone is to be smaller.
    fall_back: bool,
    drain: Option<Drain>,
    /// When a silence was last answered.
    last_timeout: Time,
    /// The rule that set `rate` or left it unchanged.
    cause: Cause,
    decision: Decision,
}

impl Pudica {
    /// A controller that begins at `limits.start()`.
    #[must_use]
    pub fn new(config: Config, limits: Limits) -> Self {
        Self {
            rate: limits.start(),
            rate_before: limits.start(),
            frames: Frames::default(),
            estimate: Estimate::new(&config),
            noise: Noise::new(config.noise_window),
            received: Received::default(),
            min_rtt: WindowedMin::new(MIN_RTT_WINDOW),
            interval: TimeDelta::ZERO,
            next_frame: FrameId(0),
            sending: None,
            hold_until: FrameId(0),
            tau: 0.0,
            next_restart: Time::ZERO + config.restart_every,
            above_one: 0,
            fall_back: false,
            drain: None,
            last_timeout: Time::ZERO,
            cause: Cause::Start,
            decision: Decision::starting_at(limits.start()),
            config,
            limits,
        }
    }

    /// Decides the size of the frame that the encoder asks for: smaller if an
    /// earlier frame is overdue or met a queue.
    fn frame_due(&mut self, now: Time, frame: FrameId, interval: TimeDelta) {
        self.interval = interval;
        self.next_frame = FrameId(frame.0.saturating_add(1));
        self.decision.frame_limit = None;
        self.decision.cause = self.cause;
        let overdue = self.next_delay(now);
        if overdue > interval.scale(self.config.frame_timeout) {
            self.answer_silence(now, interval);
        }
        if self.drain.is_some() {
            return;
        }
        let late = overdue > interval.scale(self.config.next_delay);
        let fell_back = std::mem::take(&mut self.fall_back);
        if self.config.fallback && (late || fell_back) {
            let smaller = self.rate.scale(1.0 - self.config.fallback_ratio);
            self.decision.frame_limit = Some(self.limits.clamp(smaller).amount_in(interval));
            let cause = if fell_back {
                Cause::FrameFallback
            } else {
                Cause::NextDelayFallback
            };
            self.decision.cause = cause;
        }
    }

    /// The paper's *next delay*: age of the oldest frame on its way, less the
    /// minimum round trip. Zero if no frame is on its way.
    fn next_delay(&mut self, now: Time) -> TimeDelta {
        let min_rtt = self.min_rtt.get().unwrap_or(TimeDelta::ZERO);
        let sent = self.frames.oldest_open().and_then(|frame| frame.first_sent);
        sent.map_or(TimeDelta::ZERO, |sent| now.since(sent) - min_rtt)
    }

    /// Halves the bitrate after a silence of `frame_timeout`, at most once in
    /// this time, and begins a drain if draining is switched on.
    fn answer_silence(&mut self, now: Time, interval: TimeDelta) {
        if now.since(self.last_timeout) < interval.scale(self.config.frame_timeout) {
            return;
        }
        self.last_timeout = now;
        if self.config.drain && self.drain.is_none() {
            self.rate_before = self.rate;
            self.begin_drain(now);
        }
        self.set_rate(self.rate.scale(0.5), Cause::FeedbackTimeout);
    }

    /// Decides the pacing of a frame that is handed to the pacer, and the probes
    /// that follow the frame.
    fn frame_encoded(&mut self, frame: FrameId, size: Bytes, packets: u32) {
        if let Some(begun) = self.frames.get_mut(frame) {
            // Its last part came: the frame leaves at the pace at which it began to.
            (begun.size, begun.packets) = (size, packets.max(1));
            return;
        }
        let interval = self.interval;
        let multiplier = self.pace_multiplier();
        let spread = multiplier.map_or(TimeDelta::ZERO, |rho| interval.scale(1.0 / rho));
        self.decision.pacing = match multiplier {
            Some(_) => Pacing::Spread {
                over: spread,
                lead: 1,
            },
            None => Pacing::Burst,
        };
        let probes = self.probes();
        // T_packet = (1 - 1 / rho) L / (N + 1)
        let probe_interval = (interval - spread) / (u32::from(probes) + 1);
        self.decision.probe = (probes > 0).then_some(Probe {
            id: frame.0,
            packets: probes,
            interval: probe_interval,
            size: None,
            start: ProbeStart::AfterFrame(frame),
        });
        self.frames.push(Frame {
            id: frame,
            interval,
            size,
            packets: packets.max(1),
            resolved: 0,
            arrived: 0,
            is_decoded: false,
            first_sent: None,
            first_arrival: None,
            last_arrival: None,
            first_delay: TimeDelta::ZERO,
            probe_interval,
            probe_delay: TimeDelta::ZERO,
            probes_back: 0,
            sample: None,
            sampled: Time::ZERO,
        });
    }

    /// The pace multiplier rho (eq. 2); `None` for a burst. The estimators of
    /// Tab. 3 come with the pacing of their own papers: twice the bitrate for
    /// SQP, bursts for Salsify.
    fn pace_multiplier(&self) -> Option<f64> {
        match (self.config.estimator, self.config.pacing) {
            (Estimator::Pudica, PaceMode::Adaptive) => {
                // Samples are forgotten after a drain; the last one still says
                // more about the link than a burst would assume.
                let newest = self.frames.newest_sample();
                let bur = newest.or(self.decision.evidence.utilization).unwrap_or(0.0);
                (bur > 0.0).then(|| self.config.pace_gain / bur.min(1.0))
            }
            (Estimator::Pudica, PaceMode::Burst) | (Estimator::Salsify, _) => None,
            (Estimator::Pudica, PaceMode::Fixed) | (Estimator::Sqp, _) => {
                Some(self.config.fixed_multiplier)
            }
        }
    }

    /// Number of probes after a frame; zero with an estimator other than Pudica's
    /// own.
    fn probes(&self) -> u16 {
        match self.config.estimator {
            Estimator::Pudica => self.config.probes,
            Estimator::Sqp | Estimator::Salsify => 0,
        }
    }

    /// Records when a frame's first packet leaves, which is when the frame's
    /// delay begins.
    fn packet_sent(&mut self, packet: &SentPacket) {
        if packet.kind.is_first() && self.sending != Some(packet.frame) {
            self.sending = Some(packet.frame);
            if let Some(frame) = self.frames.get_mut(packet.frame) {
                frame.first_sent.get_or_insert(packet.sent);
            }
        }
    }

    fn feedback(&mut self, now: Time, reports: &[PacketReport], in_flight: Bytes) {
        for report in reports {
            match report.outcome {
                PacketOutcome::Arrived { at, after_loss, .. } => {
                    self.arrived(now, &report.packet, at, after_loss, in_flight);
                }
                PacketOutcome::Lost if report.packet.kind.is_first() => {
                    if let Some(frame) = self.frames.get_mut(report.packet.frame) {
                        frame.resolved = frame.resolved.saturating_add(1);
                        if frame.resolved == frame.packets {
                            self.frame_known(now, report.packet.frame, in_flight);
                        }
                    }
                }
                PacketOutcome::Lost => {}
            }
        }
    }

    fn arrived(
        &mut self,
        now: Time,
        packet: &SentPacket,
        at: PeerTime,
        after_loss: bool,
        in_flight: Bytes,
    ) {
        let rtt = now.since(packet.sent);
        self.min_rtt.add(now, rtt);
        self.estimate.arrival(now, packet, at);
        self.estimate.round_trip(rtt);
        self.received.arrival(at, packet.size);
        let delay = at - packet.sent;
        let queue_delay = self.estimate.queue_delay(delay);
        self.decision.evidence.queue_delay = Some(queue_delay);
        let Some(frame) = self.frames.get_mut(packet.frame) else {
            return;
        };
        match packet.kind {
            PacketKind::Media | PacketKind::Repair => {
                if frame.first_arrival.is_none_or(|first| at < first) {
                    frame.first_arrival = Some(at);
                    frame.first_delay = delay;
                }
                frame.last_arrival = Some(frame.last_arrival.map_or(at, |last| last.max(at)));
                frame.arrived = frame.arrived.saturating_add(1);
                if !after_loss {
                    frame.resolved = frame.resolved.saturating_add(1);
                    if frame.resolved == frame.packets {
                        self.frame_known(now, packet.frame, in_flight);
                    }
                }
            }
            PacketKind::Probe => {
                if let Some(last) = frame.last_arrival {
                    // Equation 4.
                    let after_frame = (at - last).max(TimeDelta::ZERO);
                    let met = queue_delay.min(after_frame).min(frame.probe_interval);
                    self.noise.probe(now, frame.probes_back, met);
                    frame.probes_back = frame.probes_back.saturating_add(1);
                    let floor = self.noise.floor().scale(self.config.noise_floor);
                    frame.probe_delay += met - floor;
                }
            }
            PacketKind::Retransmission => {}
        }
    }

    /// Computes the BUR of the frame `id`, whose last packet is now accounted
    /// for, and reacts to it.
    fn frame_known(&mut self, now: Time, id: FrameId, in_flight: Bytes) {
        let Some(frame) = self.frames.get_mut(id) else {
            return;
        };
        let Some(bur) = self.estimate.sample(frame) else {
            return;
        };
        frame.sample = Some(bur);
        frame.sampled = now;
        self.tau += 1.0;
        self.decision.evidence.utilization = Some(bur);
        let first_delay = frame.first_delay;
        let onset = frame
            .first_arrival
            .map(|at| (at, frame.size.scale(1.0 - 1.0 / f64::from(frame.packets))));
        self.short_term(now, bur, onset, first_delay, in_flight);
        if self.drain.is_none() {
            self.adapt(now, id);
        }
    }

    /// Reacts to the newest frame's BUR alone (section 4.3).
    fn short_term(
        &mut self,
        now: Time,
        bur: f64,
        onset: Option<(PeerTime, Bytes)>,
        first_delay: TimeDelta,
        in_flight: Bytes,
    ) {
        if bur > 1.0 {
            if self.above_one == 0 {
                self.rate_before = self.rate_before.max(self.rate);
                if let Some((at, rest)) = onset {
                    self.received.mark(at, rest);
                }
            }
            self.above_one = self.above_one.saturating_add(1);
            self.fall_back = true;
            if self.config.drain && self.above_one == self.config.drain_after {
                self.begin_drain(now);
            }
        }
        if self.drain.is_some() {
            if bur < 1.0 {
                self.recover();
            } else {
                self.continue_drain(now, first_delay, in_flight);
            }
        }
        if bur <= 1.0 {
            self.above_one = 0;
            self.received.unmark();
            self.rate_before = self.rate;
        }
    }

    fn set_rate(&mut self, rate: Rate, cause: Cause) {
        self.rate = self.limits.clamp(rate);
        self.decision.target = self.rate;
        self.set_cause(cause);
    }

    /// Sets the rule behind the target, which is the decision's cause until a
    /// single frame has its own.
    fn set_cause(&mut self, cause: Cause) {
        self.cause = cause;
        self.decision.cause = cause;
    }
}

/// How the controller behaves when reports are fewer or contain less.
const WITH_LESS: &str = "\
    a frame without a report for two intervals is overdue, and the next one is 15 % smaller: \
    a little less of the link up to reports 100 ms apart; after ten intervals it is silence, \
    which halves the rate: 250 ms apart leave it the lowest";

impl Named for Pudica {
    const NAME: &'static str = "pudica";
    const NEEDS: Needs = Needs {
        made_for: Reports::PerFrame,
        arrivals: Arrivals::Packets,
        ..Needs::by_round_trips(WITH_LESS)
    };
    type Config = Config;

    fn start(config: Config, limits: Limits) -> Result<Box<dyn Controller>, ParameterError> {
        config.check()?;
        Ok(Box::new(Self::new(config, limits)))
    }
}

impl Controller for Pudica {
    fn handle(&mut self, now: Time, event: Event<'_>) -> &Decision {
        match event {
            Event::FrameDue { frame, interval } => self.frame_due(now, frame, interval),
            Event::FrameBegun {
                frame,
                size,
                packets,
            }
            | Event::FrameEncoded {
                frame,
                size,
                packets,
            } => self.frame_encoded(frame, size, packets),
            Event::FrameDecoded { frame } => {
                if let Some(frame) = self.frames.get_mut(frame) {
                    frame.is_decoded = true;
                }
            }
            Event::FrameGivenUp { frame } => {
                // The frame gives no sample, and is never overdue.
                if let Some(frame) = self.frames.get_mut(frame) {
                    frame.resolved = frame.resolved.max(frame.packets);
                }
            }
            Event::PacketSent(packet) => self.packet_sent(&packet),
            Event::Feedback { reports, in_flight } => self.feedback(now, reports, in_flight),
            _ => {}
        }
        &self.decision
    }

    fn decision(&self) -> &Decision {
        &self.decision
    }
}
