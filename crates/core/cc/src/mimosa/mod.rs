//! Mimosa: the project's own controller.
//!
//! The idea is Pudica's: the share of time in which the bottleneck is busy says how much room
//! there is. Mimosa estimates this share in another way, has one law for the bitrate, and
//! answers a fall of the link's rate by single packets rather than whole frames.
//! `docs/algorithms/mimosa-controller.md` derives the controller and has its results.
//!
//! ```text
//! R  = (time the link is known to be busy + growth of its queue + a part of a standing queue) / L
//! B <- B (R* / R)^g e^(beta (1 - s))       once a feedback round; s = B over the link's rate
//! R* = target - drop clamp((o - a) / (b - a))   where o is the part of R that others bring
//! next frame <= C R* L - backlog           while there is a backlog
//! ```
//!
//! A queue that others keep, such as that of TCP, is answered in another way: see `beside.rs`. Where the
//! link serves packets in turns, as radios do (`turns.rs`), R is the flow's own part of what the link serves
//! in the mean, frames leave several times as fast as that, and the size of frames is the one that does best
//! before a deadline (`deadline.rs`). A path that delays each packet by another time is told from such a link in `jitter.rs`.
//!
//! *Deviations*: none, because there is no paper. The estimate and the answer to falls come from
//! experiments with Pudica's. A rule that is Pudica's (section 4 of S. Wang et al., NSDI 2024) is
//! named as such where it is used.

mod base;
mod beside;
mod bottleneck;
mod busy;
mod config;
mod deadline;
mod encoding;
mod intervals;
mod jitter;
mod law;
mod marks;
mod release;
mod reports;
mod room;
mod service;
mod size;
#[cfg(test)]
mod tests;
mod train;
mod trial;
mod turns;

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
use beside::Beside;
use bottleneck::Bottleneck;
use busy::{Interval, Reference};
use deadline::Deadline;
use encoding::Encoding;
use intervals::Intervals;
use jitter::Jitter;
use marks::Marks;
use release::{Belief, HeldUp, Release};
use reports::{Fill, ReportGap};
use room::Room;

/// M: a full packet of TCP with its headers, as CUBIC and Prague count.
const FULL: Bytes = Bytes::new(1_500);

/// The Mimosa controller.
#[derive(Debug)]
pub struct Mimosa {
    config: Config,
    limits: Limits,
    /// B of the law: the bitrate, apart from the sizes of single frames.
    rate: Rate,
    intervals: Intervals,
    bottleneck: Bottleneck,
    deadline: Deadline,
    base: Base,
    jitter: Jitter,
    beside: Beside,
    marks: Marks,
    report_gap: ReportGap,
    encoding: Encoding,
    fill: Fill,
    room: Room,
    /// L: the interval of the frame that was last asked for.
    interval: TimeDelta,
    /// The frame after the one last asked for: the first frame that a change of the bitrate
    /// reaches.
    next_frame: FrameId,
    /// The bitrate is not changed by the law before feedback about this frame.
    hold_until: FrameId,
    /// Bytes in flight by the newest feedback, plus the packets that have left since.
    in_flight: Bytes,
    /// When the newest packet that arrived left the sender, and when it left the link.
    newest: Option<(Time, Time)>,
    release: Release,
    /// Size of the newest probe; zero before the first.
    probe_size: Bytes,
    /// Number of packets accounted for in this round. `lost` is how many of them were lost.
    accounted: u32,
    lost: u32,
    silence_answered: Time,
    /// o of the law: the part of the load that other flows bring, from 0 to 1.
    others: f64,
    /// When a frame was last let through although data waited before the link.
    shown: Time,
    /// The rule that set `rate` or left it unchanged.
    cause: Cause,
    decision: Decision,
}

impl Mimosa {
    /// A controller that begins at `limits.start()`.
    #[must_use]
    pub fn new(config: Config, limits: Limits) -> Self {
        Self {
            rate: limits.start(),
            intervals: Intervals::default(),
            bottleneck: Bottleneck::default(),
            deadline: Deadline::default(),
            jitter: Jitter::default(),
            base: Base::new(config.min_delay_window),
            beside: Beside::default(),
            marks: Marks::new(config.mark_window, config.marks_at_rest),
            report_gap: ReportGap::default(),
            encoding: Encoding::default(),
            fill: Fill::default(),
            room: Room::default(),
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

    /// The values with which delays are compared now: the smallest delay, the noise and the
    /// link's rate.
    fn reference(&self) -> Reference {
        Reference {
            shortest: self.base.shortest(),
            noise: self.noise(),
            link: self.bottleneck.rate(),
            in_turns: self.bottleneck.serves_in_turns(),
            standing_gain: self.config.standing_gain,
        }
    }

    /// The noise: mean time by which delays without a queue exceed the smallest one.
    fn noise(&self) -> TimeDelta {
        let in_turns = self.bottleneck.serves_in_turns();
        let jitter = in_turns.then(|| self.jitter.noise(self.config.jitter_gain));
        jitter.flatten().unwrap_or_else(|| self.unevenness())
    }

    /// The noise as far as packets that leave together show it.
    fn unevenness(&self) -> TimeDelta {
        let most = self.interval.scale(self.config.most_noise);
        let noise = self.bottleneck.uneven().scale(self.config.noise_gain);
        noise.min(most)
    }

    /// Decides the size of the frame that the encoder asks for: smaller if there is a backlog,
    /// if an earlier frame is overdue, or to see the path without a queue. Halves the bitrate
    /// after silence.
    fn frame_due(&mut self, now: Time, frame: FrameId, interval: TimeDelta) {
        self.interval = interval.max(TimeDelta::ZERO);
        self.encoding.due(now, frame);
        self.next_frame = FrameId(frame.0.saturating_add(1));
        self.decision.cause = self.cause;
        let age = self.overdue(now);
        let silence = self.interval.scale(self.config.silence);
        if age > silence && now.since(self.silence_answered) > silence {
            self.silence_answered = now;
            self.set_rate(self.rate.scale(0.5), Cause::FeedbackTimeout);
        }
        let own = self.rate.amount_in(self.interval);
        let smallest = self.size_limit(now, age, own);
        self.decision.frame_limit = smallest.map(|(size, _)| size);
        // What a backlog makes a little smaller says as much about the encoder as other frames do.
        let granted = match smallest {
            None => Some(own),
            Some((size, Cause::FrameFallback)) if size >= own.scale(0.5) => Some(size),
            Some(_) => None,
        };
        self.fill.grant(granted);
        if let Some((_, cause)) = smallest {
            self.decision.cause = cause;
        }
    }

    /// Decides the pacing of a frame that is handed to the pacer, and the probes that follow
    /// the frame, as Pudica does (section 4.1) but by Mimosa's load. Of a frame in parts, `size` and
    /// `packets` are what is expected of all parts.
    fn handed_over(&mut self, now: Time, frame: FrameId, size: Bytes, packets: u32) {
        let interval = self.interval;
        self.encoding.encoded(now, frame, size);
        let reference = self.reference();
        let (load, before) = self
            .intervals
            .newest_load(&reference)
            .unwrap_or((0.0, Bytes::ZERO));
        let larger = size.get() as f64 / before.get().max(1) as f64;
        let config = &self.config;
        let is_marked = self.marks.are_met(now);
        let (share, gain) = match self.bottleneck.rate() {
            // A frame of a flow that is alone needs its own transmission time, whatever noise
            // adds to the load. Where a queue marks what waits, it leaves no faster than the link
            // serves it.
            Some(link) if self.others < self.taken_for_noise(now) => {
                let own = link.transmit_time(size).ratio(interval);
                let gain = if is_marked {
                    1.0
                } else {
                    config.alone_pace_gain
                };
                (own.min(load * larger), gain)
            }
            // The more evenly a frame's packets come to the queue, the fewer of them it marks.
            Some(_) if self.marks.are_recent(now) => (1.0, config.marked_pace_gain),
            Some(link) => {
                let more = link.transmit_time(size) - link.transmit_time(before);
                (load + more.ratio(interval), config.pace_gain)
            }
            None => (load, config.pace_gain),
        };
        let gain = if self.bottleneck.serves_in_turns() {
            gain.max(self.config.turns_pace_gain)
        } else {
            gain
        };
        let mut part = share.clamp(0.0, 1.0) / gain;
        if self.keeps_to_room() {
            part = self.room.frame(now, part);
        }
        let spread = interval.scale(part);
        self.decision.pacing = if part > 0.0 {
            Pacing::Spread {
                over: spread,
                lead: self.lead(now),
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

    /// Takes in the size of a whole frame, which was handed over just now or began to be earlier.
    fn frame_encoded(&mut self, now: Time, frame: FrameId, size: Bytes, packets: u32) {
        self.fill.took(size);
        if let Some(interval) = self.intervals.get_mut(frame) {
            self.encoding.whole(frame, size);
            interval.whole(size, packets);
        } else {
            self.handed_over(now, frame, size, packets);
        }
    }

    /// Whether losses say how much room the link's buffer has. A link that serves in turns loses packets
    /// for other reasons.
    const fn keeps_to_room(&self) -> bool {
        self.config.keeps_to_room && !self.bottleneck.serves_in_turns()
    }

    /// Number of packets at a frame's start that leave together.
    fn lead(&self, now: Time) -> u16 {
        if self.marks.are_met(now) || self.beside.competes_and_loses_many() {
            self.config.lead.min(self.config.short_lead)
        } else {
            self.config.lead
        }
    }

    /// Number of probes that follow a frame of `size`.
    fn probes(&self, size: Bytes) -> u16 {
        let most = size.scale(self.config.probe_share).get() / self.probe_size.get().max(1);
        self.config
            .probes
            .min(u16::try_from(most.max(1)).unwrap_or(u16::MAX))
    }

    fn packet_sent(&mut self, packet: &SentPacket) {
        self.in_flight += packet.size;
        self.encoding.sent(packet);
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
                    self.beside.resolved(packet.sent, true);
                    self.lost = self.lost.saturating_add(1);
                    if self.keeps_to_room() {
                        self.room.lost(now, packet.frame, packet.sent);
                    }
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
        self.marks.arrived(now, packet.size, is_marked);
        self.beside.resolved(packet.sent, false);
        if is_marked {
            self.beside.congested(packet.sent);
        }
        if packet.kind == PacketKind::Retransmission {
            return;
        }
        if packet.kind.is_first() {
            if self.jitter.is_first_of(packet.frame) {
                let own = self.reference().transmission(packet.size);
                let late = delay - self.base.shortest() - own;
                let differs = self.unevenness() > self.interval.scale(self.config.jitter_from);
                self.jitter.arrived(now, packet.frame, late, differs);
            }
            self.base.steady(packet.sent, delay);
            let unqueued = self.base.shortest() + self.noise();
            let service = &mut self.bottleneck.service;
            service.arrived(packet.sent, at, packet.size, unqueued);
        }
        if let Some(interval) = self.intervals.get_mut(packet.frame) {
            interval.arrived(packet.sequence, delay);
        }
        if packet.kind.is_first() {
            let link = self.bottleneck.rate();
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

    /// Takes the delays of the frames up to `newest` as those of a hold-up and not of a queue.
    /// If they lowered the bitrate, it is restored.
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

    /// Counts one more packet of the frame `id` as accounted for. With the frame's last packet
    /// its load is known, and the law is applied.
    fn resolved(&mut self, now: Time, id: FrameId) {
        let together = usize::from(self.lead(now));
        let Some(interval) = self.intervals.get_mut(id) else {
            return;
        };
        interval.resolved = interval.resolved.saturating_add(1);
        if interval.resolved != interval.packets {
            return;
        }
        interval.known = Some(now);
        if let Some(arrival) = interval.arrival() {
            self.bottleneck.frame(now, &arrival);
        }
        if let Some((sent, link)) = interval.first_sent().zip(self.bottleneck.rate()) {
            self.deadline.arrived(now.since(sent), interval.size, link);
        }
        if let Some(train) = interval.train(together) {
            self.bottleneck.train(now, train);
            // The rate of the train itself counts if it is higher: the link may have become
            // faster.
            let seen = self
                .bottleneck
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

    fn set_rate(&mut self, rate: Rate, cause: Cause) {
        self.rate = self.limits.clamp(rate);
        self.decision.target = self.rate;
        self.set_cause(cause);
    }

    /// Sets the rule behind the target, which is the decision's cause until a single frame has
    /// its own.
    fn set_cause(&mut self, cause: Cause) {
        self.cause = cause;
        self.decision.cause = cause;
    }
}

/// How the controller behaves when reports are fewer or contain less.
const WITH_LESS: &str = "\
    reports 50 or 100 ms apart cost nothing but their own delay where the link rests, and 1 % \
    of it where it falls and rises; 250 ms apart leave a third; times of a millisecond's \
    resolution (`rfc8888`) cost 1 to 2 % of the link";

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
            Event::FrameBegun {
                frame,
                size,
                packets,
            } => self.handed_over(now, frame, size, packets),
            Event::FrameEncoded {
                frame,
                size,
                packets,
            } => self.frame_encoded(now, frame, size, packets),
            Event::FrameDecoded { frame } => {
                if let Some(interval) = self.intervals.get_mut(frame) {
                    interval.is_decoded = true;
                }
            }
            Event::FrameGivenUp { frame } => {
                self.encoding.given_up(frame);
                // The frame gives no load, and is never overdue.
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
