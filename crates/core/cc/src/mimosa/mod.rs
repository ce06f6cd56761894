//! Mimosa: the project's own controller.
//!
//! Pudica's idea, that the share of time in which the bottleneck is busy says how much
//! room there is, with another estimate, one law, and an answer to falls by packets.
//! `docs/algorithms/mimosa-controller.md` derives it and has what it comes to.
//!
//! ```text
//! R  = (time the link is known to be busy + growth of its queue + a part of what stands) / L
//! B <- B (R* / R)^g e^(beta (1 - s))       once a feedback round; s = B over the link's rate
//! R* = target - drop clamp((o - a) / (b - a))   where o is the part of R that is not one's own
//! next frame <= C R* L - backlog           where a backlog stands
//! ```
//!
//! *Deviations*: none, for there is no paper. The estimate and the answer to falls go back
//! to experiments with Pudica's; what is Pudica's (S. Wang et al., NSDI 2024, section 4) is
//! named where it is used.

mod base;
mod busy;
mod config;
mod intervals;
mod release;
mod reports;
mod service;
#[cfg(test)]
mod tests;
mod train;

pub use config::Config;

use mimosa_facts::{
    Cause, Controller, Decision, Event, FrameId, Limits, Pacing, PacketKind, PacketOutcome,
    PacketReport, Probe, ProbeStart, SentPacket,
};
use mimosa_units::{Bytes, Ecn, PeerTime, Rate, Time, TimeDelta};

use crate::named::Named;
use crate::needs::{Arrivals, Needs};
use crate::parameter::ParameterError;

use base::Base;
use busy::{Interval, Reference};
use intervals::Intervals;
use release::{Belief, HeldUp, Release};
use reports::{Fill, ReportGap};
use service::Service;
use train::Trains;

/// Below this a share cannot be told from an idle link.
const LOWEST_SHARE: f64 = 0.01;
/// What one round may make of the bitrate.
const LEAST_FACTOR: f64 = 0.7;
const GREATEST_FACTOR: f64 = 2.0;
/// A frame this much larger than the link carries in its time is made smaller.
const BEYOND: f64 = 1.1;
/// The least part of a frame that trains may leave.
const LEAST_BY_TRAINS: f64 = 0.25;
/// Skipped frames have one among them this often, so that what comes back is heard of.
const LONGEST_SKIP: TimeDelta = TimeDelta::from_millis(100);
/// A backlog below three packets is none.
const LEAST_BACKLOG: Bytes = Bytes::new(3_600);

/// The controller.
#[derive(Debug)]
pub struct Mimosa {
    config: Config,
    limits: Limits,
    /// B: the bitrate, apart from answers with single frames.
    rate: Rate,
    intervals: Intervals,
    service: Service,
    trains: Trains,
    base: Base,
    report_gap: ReportGap,
    fill: Fill,
    /// L of the frame last asked for.
    interval: TimeDelta,
    /// The frame after the one last asked for: the first that a change reaches.
    next_frame: FrameId,
    /// No change before feedback of this frame.
    hold_until: FrameId,
    /// As the newest feedback had it, and what has left since.
    in_flight: Bytes,
    /// When the newest packet that arrived left the sender, and the link.
    newest: Option<(Time, Time)>,
    release: Release,
    /// Size of the newest probe.
    probe_size: Bytes,
    /// Packets accounted for in this round, and those of them that were lost.
    accounted: u32,
    lost: u32,
    silence_answered: Time,
    /// o: the others' part of the load.
    others: f64,
    /// The last frame that was let through while others were skipped.
    shown: Time,
    /// The rule behind `rate`.
    cause: Cause,
    decision: Decision,
}

impl Mimosa {
    /// One that begins at `limits.start()`.
    #[must_use]
    pub fn new(config: Config, limits: Limits) -> Self {
        Self {
            rate: limits.start(),
            intervals: Intervals::default(),
            service: Service::default(),
            trains: Trains::default(),
            base: Base::new(config.min_delay_window),
            report_gap: ReportGap::default(),
            fill: Fill::default(),
            interval: TimeDelta::ZERO,
            next_frame: FrameId(0),
            hold_until: FrameId(0),
            in_flight: Bytes::ZERO,
            newest: None,
            release: Release::default(),
            probe_size: Bytes::ZERO,
            accounted: 0,
            lost: 0,
            silence_answered: Time::ZERO,
            others: 0.0,
            shown: Time::ZERO,
            cause: Cause::Start,
            decision: Decision::starting_at(limits.start()),
            config,
            limits,
        }
    }

    /// What delays are compared with: the smallest, and above it what others may queue.
    fn reference(&self) -> Reference {
        Reference {
            shortest: self.base.shortest() + self.allowed(),
            noise: self.noise(),
            link: self.trains.rate(),
            standing_gain: self.config.standing_gain,
        }
    }

    /// By how much delays are longer than the smallest one for no queue's sake, in the mean.
    fn noise(&self) -> TimeDelta {
        let most = self.interval.scale(self.config.most_noise);
        let noise = self.trains.uneven().scale(self.config.noise_gain);
        noise.min(most)
    }

    /// The part of a queue that stands which is not answered.
    fn allowed(&self) -> TimeDelta {
        let budget = self.config.delay_budget;
        if budget > TimeDelta::ZERO {
            self.base.standing().min(budget)
        } else {
            TimeDelta::ZERO
        }
    }

    /// The encoder asks for a frame: smaller where a backlog stands or one is overdue.
    fn frame_due(&mut self, now: Time, frame: FrameId, interval: TimeDelta) {
        self.interval = interval.max(TimeDelta::ZERO);
        self.next_frame = FrameId(frame.0.saturating_add(1));
        self.decision.cause = self.cause;
        let age = self.overdue(now);
        let silence = self.interval.scale(self.config.silence);
        if age > silence && now.since(self.silence_answered) > silence {
            self.silence_answered = now;
            self.set_rate(self.rate.scale(0.5), Cause::FeedbackTimeout);
        }
        let own = self.rate.amount_in(self.interval);
        let least = self.limits.min().amount_in(self.interval);
        let backlog = self.beside_backlog(now, own);
        let backlog = backlog.map(|size| (size.max(least), Cause::FrameFallback));
        let late = self.beside_overdue(now, age, own, least);
        let late = late.map(|size| (size, Cause::NextDelayFallback));
        let anew = self.seeing_the_path(now, own);
        let anew = anew.map(|size| (size.max(least), Cause::PathChange));
        let smallest = [backlog, late, anew]
            .into_iter()
            .flatten()
            .filter(|(size, _)| *size < own)
            .min_by_key(|(size, _)| *size);
        self.decision.frame_limit = smallest.map(|(size, _)| size);
        self.fill.grant(smallest.is_none().then_some(own));
        if let Some((_, cause)) = smallest {
            self.decision.cause = cause;
        }
    }

    /// What the next frame may have while the oldest one is overdue by `age`.
    fn beside_overdue(
        &mut self,
        now: Time,
        age: TimeDelta,
        own: Bytes,
        least: Bytes,
    ) -> Option<Bytes> {
        let config = &self.config;
        if age <= self.interval.scale(config.overdue) {
            None
        } else if age <= self.interval.scale(config.stalled) {
            Some(own.scale(0.5))
        } else if age <= self.interval.scale(config.skipping)
            || now.since(self.shown) >= LONGEST_SKIP
        {
            self.shown = now;
            Some(least)
        } else {
            Some(Bytes::ZERO)
        }
    }

    /// A queue stands for so long that the path without it is being forgotten.
    fn seeing_the_path(&mut self, now: Time, own: Bytes) -> Option<Bytes> {
        let is_busy = self.decision.evidence.smoothed_utilization? > self.config.target_share;
        if !is_busy || !self.base.is_stale(now) {
            return None;
        }
        self.base.asked(now);
        Some(own.scale(0.5))
    }

    /// Age of the oldest frame on its way, above the smallest round trip and what reports
    /// make frames wait.
    fn overdue(&mut self, now: Time) -> TimeDelta {
        let waits = (self.report_gap.get() - self.interval).max(TimeDelta::ZERO);
        let expected = self.base.round_trip().unwrap_or(TimeDelta::ZERO) + waits;
        let oldest = self.intervals.oldest_open().and_then(Interval::first_sent);
        oldest.map_or(TimeDelta::ZERO, |sent| now.since(sent) - expected)
    }

    /// What the next frame may have where a backlog stands; `own` is what it would have.
    fn beside_backlog(&mut self, now: Time, own: Bytes) -> Option<Bytes> {
        let carried = self.trains.newest(now).map(|link| {
            let link = link
                .scale(self.config.target_share)
                .amount_in(self.interval);
            let probes = self.probe_size.scale(f64::from(self.probes(own)));
            (link - probes).scale(1.0 / self.fill.get())
        });
        // No more than that by trains alone: noise may have stretched them.
        let carried = carried.map(|carried| carried.max(own.scale(LEAST_BY_TRAINS)));
        let carried = carried.filter(|carried| own > carried.scale(BEYOND));
        match (self.left_by_backlog(now, own), carried) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// Since the newest packet that arrived left the link, that has served what left after it.
    fn left_by_backlog(&mut self, now: Time, own: Bytes) -> Option<Bytes> {
        let service = self.service.rate()?;
        let (_, left) = self.newest?;
        self.decision.evidence.service_rate = Some(service);
        let backlog = self.in_flight - service.amount_in(now.since(left));
        self.decision.evidence.backlog = Some(backlog);
        let counts = own.scale(self.config.backlog_share).max(LEAST_BACKLOG);
        let fits = service
            .scale(self.config.target_share)
            .amount_in(self.interval);
        (backlog > counts).then(|| fits - backlog)
    }

    /// How the frame is sent, and what follows it: Pudica's pacing and probes (section 4.1),
    /// by this busy share.
    fn frame_encoded(&mut self, frame: FrameId, size: Bytes, packets: u32) {
        let interval = self.interval;
        self.fill.took(size);
        let reference = self.reference();
        let (load, before) = self
            .intervals
            .newest_load(&reference)
            .unwrap_or((0.0, Bytes::ZERO));
        let larger = size.get() as f64 / before.get().max(1) as f64;
        let gain = &self.config;
        let (share, gain) = match self.trains.rate() {
            // Alone, a frame needs its own time of the link, whatever noise adds to the load.
            Some(link) if self.others < self.config.alone => {
                let own = link.transmit_time(size).ratio(interval);
                (own.min(load * larger), gain.alone_pace_gain)
            }
            Some(link) => {
                let more = link.transmit_time(size) - link.transmit_time(before);
                (load + more.ratio(interval), gain.pace_gain)
            }
            None => (load, gain.pace_gain),
        };
        let spread = interval.scale(share.clamp(0.0, 1.0) / gain);
        self.decision.pacing = if share > 0.0 {
            Pacing::Spread {
                over: spread,
                lead: self.config.lead,
            }
        } else {
            Pacing::Burst
        };
        let probes = self.probes(size);
        self.decision.probe = (probes > 0).then_some(Probe {
            id: frame.0,
            packets: probes,
            interval: (interval - spread) / (u32::from(probes) + 1),
            size: None,
            start: ProbeStart::AfterFrame(frame),
        });
        self.intervals
            .push(Interval::new(frame, interval, size, packets));
    }

    /// How many probes follow a frame of `size`.
    fn probes(&self, size: Bytes) -> u16 {
        let most = size.scale(self.config.probe_share).get() / self.probe_size.get().max(1);
        self.config
            .probes
            .min(u16::try_from(most.max(1)).unwrap_or(u16::MAX))
    }

    fn packet_sent(&mut self, packet: &SentPacket) {
        self.in_flight += packet.size;
        if packet.kind == PacketKind::Probe {
            self.probe_size = packet.size;
        }
        if packet.kind != PacketKind::Retransmission
            && let Some(interval) = self.intervals.get_mut(packet.frame)
        {
            interval.sent(packet.sequence, packet.sent, packet.size);
        }
    }

    fn feedback(&mut self, now: Time, reports: &[PacketReport], in_flight: Bytes) {
        self.in_flight = in_flight;
        self.report_gap.came(now);
        for report in reports {
            let packet = &report.packet;
            let is_first = packet.kind.is_first();
            self.accounted = self.accounted.saturating_add(1);
            match report.outcome {
                PacketOutcome::Arrived {
                    at,
                    after_loss,
                    ecn,
                    ..
                } => {
                    self.arrived(now, packet, at, ecn == Ecn::Ce);
                    if is_first && !after_loss {
                        self.resolved(now, packet.frame);
                    }
                }
                PacketOutcome::Lost => {
                    self.lost = self.lost.saturating_add(1);
                    if is_first {
                        self.resolved(now, packet.frame);
                    }
                }
            }
        }
    }

    fn arrived(&mut self, now: Time, packet: &SentPacket, at: PeerTime, is_marked: bool) {
        let delay = at - packet.sent;
        let waited = self.base.arrived(now, delay, now.since(packet.sent));
        self.decision.evidence.queue_delay = Some(waited);
        if self.newest.is_none_or(|(sent, _)| sent <= packet.sent) {
            let reference = self.reference();
            let busy = reference.busy(delay).max(TimeDelta::ZERO);
            self.newest = Some((packet.sent, packet.sent + busy));
        }
        if packet.kind == PacketKind::Retransmission {
            return;
        }
        if packet.kind.is_first() {
            let unqueued = self.base.shortest() + self.noise();
            self.service.arrived(packet.sent, at, packet.size, unqueued);
        }
        if let Some(interval) = self.intervals.get_mut(packet.frame) {
            interval.arrived(packet.sequence, delay, is_marked);
        }
        if packet.kind.is_first() {
            let link = self.trains.rate();
            let soonest =
                link.map(|link| link.scale(self.config.release).transmit_time(packet.size));
            let belief = Belief {
                rate: self.rate,
                cause: self.cause,
                load: self.decision.evidence.smoothed_utilization,
            };
            let held_up = self
                .release
                .arrived(packet, at, soonest, self.interval, belief);
            if let Some(held_up) = held_up {
                self.held_up(&held_up, packet.frame);
            }
        }
    }

    /// What the frames up to `newest` found was no queue. An answer to it is taken back.
    fn held_up(&mut self, held_up: &HeldUp, newest: FrameId) {
        let before = held_up.before;
        for interval in self.intervals.among(held_up.from, newest) {
            interval.usual = before.load.or(Some(1.0));
        }
        if self.rate < before.rate && self.cause == Cause::AboveQueueTarget {
            self.set_rate(before.rate, before.cause);
            self.decision.evidence.smoothed_utilization = before.load;
        }
    }

    /// One more packet of a frame is accounted for. With the last one its load is known.
    fn resolved(&mut self, now: Time, id: FrameId) {
        let Some(interval) = self.intervals.get_mut(id) else {
            return;
        };
        interval.resolved = interval.resolved.saturating_add(1);
        if interval.resolved != interval.packets {
            return;
        }
        interval.known = Some(now);
        if let Some(train) = interval.train(usize::from(self.config.lead)) {
            self.trains.add(now, train);
            // The rate of the train itself: the link may be faster than it was.
            let seen = self
                .trains
                .rate()
                .map(|link| train.rate().map_or(link, |rate| link.max(rate)));
            if let Some(delay) = seen.and_then(|rate| interval.unloaded(rate)) {
                self.base.unloaded(now, delay);
            }
        }
        let reference = self.reference();
        let Some(interval) = self.intervals.get_mut(id) else {
            return;
        };
        let Some(load) = interval.load(&reference, None) else {
            return;
        };
        self.decision.evidence.utilization = Some(load);
        self.adapt(now, id, &reference);
    }

    /// The law: one change a feedback round.
    fn adapt(&mut self, now: Time, newest: FrameId, reference: &Reference) {
        let since = now - self.config.smoothing_window;
        let expected = self.rate.scale(self.fill.get());
        let Some(share) = self.intervals.smoothed(since, expected, reference) else {
            return;
        };
        self.decision.evidence.smoothed_utilization = Some(share);
        if newest < self.hold_until {
            self.set_cause(Cause::AwaitFeedback);
            return;
        }
        let lost = f64::from(self.lost) / f64::from(self.accounted.max(1));
        (self.lost, self.accounted) = (0, 0);
        let (rate, cause) = if lost > self.config.loss {
            (self.rate.scale(1.0 - lost / 2.0), Cause::Loss)
        } else {
            let factor = self.factor(share.max(LOWEST_SHARE));
            let cause = if factor >= 1.0 {
                Cause::BelowQueueTarget
            } else {
                Cause::AboveQueueTarget
            };
            (self.rate.scale(factor), cause)
        };
        // A small frame says little about a rate many times its own.
        let tried = self.intervals.get_mut(newest).map(|each| each.bitrate());
        let bound = tried.map_or(Rate::MAX, |tried| {
            tried.scale(self.config.application_headroom / self.fill.get())
        });
        if rate >= self.rate && bound <= self.rate {
            self.set_cause(Cause::ApplicationLimited);
            return;
        }
        let is_highest = self.rate == self.limits.max() && rate >= self.rate;
        self.set_rate(
            rate.min(bound.max(self.rate)),
            if is_highest { Cause::AtMaximum } else { cause },
        );
        self.hold_until = self.next_frame;
    }

    /// What a round makes of the bitrate at load `load`.
    fn factor(&mut self, load: f64) -> f64 {
        let config = &self.config;
        let sent = self.rate.scale(self.fill.get());
        let link = self.trains.rate();
        let own = link.map_or(1.0, |link| sent.ratio(link).min(1.0));
        self.others = (1.0 - own / load.min(1.0)).clamp(0.0, 1.0);
        // A link whose rate varies looks as if others were there.
        let alone = config.alone + config.spread_part * self.trains.spread();
        let beside = (self.others - alone) / (config.shared_from - config.alone);
        let reserve = config.shared_drop * beside.clamp(0.0, 1.0);
        let target = config.target_share - reserve;
        let gain = if load < config.knee * target {
            config.far_gain
        } else {
            config.near_gain
        };
        let pull = libm::exp(config.pull * (1.0 - own));
        let factor = libm::pow(target / load, gain) * pull;
        factor.clamp(LEAST_FACTOR, GREATEST_FACTOR)
    }

    fn set_rate(&mut self, rate: Rate, cause: Cause) {
        self.rate = self.limits.clamp(rate);
        self.decision.target = self.rate;
        self.set_cause(cause);
    }

    /// The rule behind the target, as long as no single frame has its own.
    fn set_cause(&mut self, cause: Cause) {
        self.cause = cause;
        self.decision.cause = cause;
    }
}

/// What becomes of the controller when reports are fewer or say less.
const WITH_LESS: &str = "\
    reports 50 or 100 ms apart cost nothing but their own delay where the link rests, and 2 \
    to 3 % of it where it falls and rises; 250 ms apart leave a third; times of a \
    millisecond's resolution (`rfc8888`) leave nine tenths of a link that rests and five \
    sixths of one that changes";

impl Named for Mimosa {
    const NAME: &'static str = "mimosa";
    const NEEDS: Needs = Needs {
        arrivals: Arrivals::Packets,
        uses_ecn: true,
        ..Needs::by_round_trips(WITH_LESS)
    };
    type Config = Config;

    fn start(config: Config, limits: Limits) -> Result<Box<dyn Controller>, ParameterError> {
        config.check()?;
        Ok(Box::new(Self::new(config, limits)))
    }
}

impl Controller for Mimosa {
    fn handle(&mut self, now: Time, event: Event<'_>) -> &Decision {
        match event {
            Event::FrameDue { frame, interval } => self.frame_due(now, frame, interval),
            Event::FrameEncoded {
                frame,
                size,
                packets,
            } => self.frame_encoded(frame, size, packets),
            Event::FrameDecoded { frame } => {
                if let Some(interval) = self.intervals.get_mut(frame) {
                    interval.is_decoded = true;
                }
            }
            Event::FrameGivenUp { frame } => {
                // No share comes of it, and nothing of it is overdue.
                if let Some(interval) = self.intervals.get_mut(frame) {
                    interval.resolved = interval.resolved.max(interval.packets);
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
