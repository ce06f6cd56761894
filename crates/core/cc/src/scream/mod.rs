//! SCReAM version 2: I. Johansson, M. Westerlund, M. Kühlewind, *Self-Clocked Rate
//! Adaptation for Multimedia*, draft-ietf-ccwg-rfc8298bis-screamv2-01, successor of RFC
//! 8298. Section numbers are the draft's; `docs/algorithms/scream.md` has the model. The parameter
//! `version` takes the constants and rules of the algorithm of 2024, or of libwebrtc's.
//!
//! A *reference window* bounds the data in flight, with room to spare. Losses, marks and an average
//! queueing delay above half of its target reduce the window, at most once in the shorter of a
//! round trip and 25 ms; data that arrives unmarked raises it. The target is the window over the
//! round trip, with a margin.
//!
//! *Deviations.* The first target is that of the limits, and not that of the smallest window. The
//! session decides what is lost and what is in flight: a packet is in flight until it has arrived
//! or is lost, and not only until a later one has arrived. During silence one packet leaves at a
//! time, at the lowest pace. The bound of the window at the highest target is left out: the window
//! does not grow there.

mod config;
mod delay;
mod media;
#[cfg(test)]
mod tests;
mod versions;
mod window;

pub use config::{Config, Inflection, L4s};
pub use versions::Version;

use mimosa_facts::{
    Cause, Controller, Decision, Event, FrameId, Limits, PacketOutcome, PacketReport, SentPacket,
};
use mimosa_units::{Bytes, Ecn, PeerTime, Rate, Time, TimeDelta};

use crate::named::Named;
use crate::needs::{Arrivals, Needs, Reports};
use crate::parameter::ParameterError;
use crate::send_queue::SendQueue;
use delay::Delays;
use media::Media;
use window::{Signals, View, Window};

/// Shortest round trip: anything below it is the resolution of the clock.
const SHORTEST_RTT: TimeDelta = TimeDelta::from_micros(1);
/// Shortest silence before a packet is sent into it: time has to pass between two such packets.
const SHORTEST_SILENCE: TimeDelta = TimeDelta::from_millis(10);
/// Shortest time for which the target is halved after the base delay was forgotten (4.5.1).
const LEAST_CAUTION: TimeDelta = TimeDelta::from_millis(200);
/// Number of round trips for which the target is halved after the base delay was forgotten (4.5.1).
const CAUTION_RTTS: u32 = 5;
/// Largest packet that UDP can carry.
const LARGEST_PACKET: Bytes = Bytes::new(65_535);

/// The SCReAM controller.
#[derive(Debug)]
pub struct Scream {
    config: Config,
    limits: Limits,
    delays: Delays,
    window: Window,
    media: Media,
    queue: SendQueue,
    /// How long the oldest frame had waited when the first part of the newest frame came; `None` if that
    /// frame came whole.
    found: Option<TimeDelta>,
    /// Smoothed round trip, `s_rtt`; `None` before an arrival is known.
    srtt: Option<TimeDelta>,
    /// Average time for which the receiver holds feedback; `None` before an arrival is known.
    feedback_hold: Option<TimeDelta>,
    is_l4s: bool,
    marks: Marks,
    loss_rate: f64,
    in_flight: Bytes,
    /// Largest amounts in flight, in this round trip and in the one before.
    flight: (Bytes, Bytes),
    round: Round,
    acked: Acked,
    /// Time until which the target is halved.
    cautious_until: Time,
    /// Whether the target is halved to drain the queue.
    is_draining: bool,
    /// Time between two frames.
    period: TimeDelta,
    /// Size of a frame at the target, when the frame was due.
    nominal: Bytes,
    largest_packet: Bytes,
    /// When something last arrived, a packet was let into the silence, or data left with nothing in
    /// flight.
    silent_since: Time,
    /// Window that lets one packet into the silence; zero when none is due.
    lifted: Bytes,
    decision: Decision,
}

/// The average share of marks, `l4s_alpha` (4.2.1.3), and the packets since its last update.
#[derive(Debug, Default)]
struct Marks {
    share: f64,
    updated: Option<Time>,
    delivered: f64,
    marked: f64,
}

/// The present round trip.
#[derive(Debug, Default)]
struct Round {
    since: Time,
    has_loss: bool,
}

/// The acknowledged bitrate, `acked_bitrate`, over a round trip or two frame periods, whichever is
/// longer.
#[derive(Debug, Default)]
struct Acked {
    since: Time,
    bytes: Bytes,
    rate: Option<Rate>,
}

impl Scream {
    /// A controller that begins at the first rate of `limits`.
    #[must_use]
    pub fn new(config: Config, limits: Limits) -> Self {
        let mut scream = Self {
            config,
            limits,
            delays: Delays::new(&config),
            window: Window::new(0.0),
            media: Media::default(),
            queue: SendQueue::default(),
            found: None,
            srtt: None,
            feedback_hold: None,
            is_l4s: config.l4s == L4s::On,
            marks: Marks::default(),
            loss_rate: 0.0,
            in_flight: Bytes::ZERO,
            flight: (Bytes::ZERO, Bytes::ZERO),
            round: Round::default(),
            acked: Acked::default(),
            cautious_until: Time::ZERO,
            is_draining: false,
            period: TimeDelta::ZERO,
            nominal: Bytes::ZERO,
            largest_packet: config.segment,
            silent_since: Time::ZERO,
            lifted: Bytes::ZERO,
            decision: Decision::starting_at(limits.start()),
        };
        scream.window.size = scream.starting_window(config.virtual_rtt);
        scream.decide();
        scream
    }

    /// Returns the window, in bytes, with which the target is the first one of the limits.
    fn starting_window(&self, rtt: TimeDelta) -> f64 {
        let share = self.media.share(0.0, &self.config);
        let window = self.limits.start().amount_in(rtt).get() as f64 / share;
        window.max(self.config.min_window.get() as f64)
    }

    fn packet_sent(&mut self, now: Time, packet: &SentPacket) {
        self.queue.sent(packet);
        if self.in_flight == Bytes::ZERO {
            self.silent_since = now;
        }
        self.in_flight += packet.size;
        self.flight.0 = self.flight.0.max(self.in_flight);
        self.largest_packet = self.largest_packet.max(packet.size).min(LARGEST_PACKET);
        self.lifted = Bytes::ZERO;
    }

    fn feedback(&mut self, now: Time, reports: &[PacketReport], in_flight: Bytes) {
        self.in_flight = in_flight;
        self.flight.0 = self.flight.0.max(in_flight);
        let mut signals = Signals::default();
        let mut newest: Option<SentPacket> = None;
        let mut arrivals: Option<(PeerTime, PeerTime)> = None;
        for report in reports {
            let packet = report.packet;
            match report.outcome {
                PacketOutcome::Arrived {
                    at,
                    ecn,
                    after_loss,
                } => {
                    self.delays.arrived(now, at - packet.sent);
                    let (first, last) = arrivals.unwrap_or((at, at));
                    arrivals = Some((first.min(at), last.max(at)));
                    if newest.is_none_or(|newest| packet.sequence >= newest.sequence) {
                        newest = Some(packet);
                    }
                    self.acked.bytes += packet.size;
                    self.count(ecn, packet.size, after_loss, &mut signals);
                }
                PacketOutcome::Lost => {
                    signals.lost = true;
                    signals.acked += packet.size.get() as f64;
                    self.count_loss(1.0);
                }
            }
        }
        if let Some((first, last)) = arrivals {
            self.held(last - first);
        }
        if let Some(packet) = newest {
            self.silent_since = now;
            self.lifted = Bytes::ZERO;
            self.round_trip(now.since(packet.sent).max(SHORTEST_RTT));
        }
        if !reports.is_empty() {
            self.adapt(now, signals);
        }
        self.decide();
    }

    /// Counts a packet that arrived.
    fn count(&mut self, ecn: Ecn, size: Bytes, after_loss: bool, signals: &mut Signals) {
        let size = size.get() as f64;
        if !after_loss {
            signals.acked += size;
        }
        self.marks.delivered += 1.0;
        match ecn {
            Ecn::Ce => {
                signals.marked = true;
                signals.acked_marked += if after_loss { 0.0 } else { size };
                self.marks.marked += 1.0;
            }
            Ecn::Ect1 if self.config.l4s == L4s::Auto => self.is_l4s = true,
            Ecn::Ect0 if self.config.l4s == L4s::Auto => self.is_l4s = false,
            _ => {}
        }
        self.count_loss(0.0);
    }

    /// Updates the loss rate (4.2.1.1). `lost` is 1 for a packet that was lost, and 0 for one that
    /// arrived.
    fn count_loss(&mut self, lost: f64) {
        let slow = self.config.loss_threshold / 4.0;
        let gain = slow.min(self.window.segment_share(&self.config) / 2.0);
        self.loss_rate += gain * (lost - self.loss_rate);
    }

    /// Takes the time for which the receiver held a feedback message, from its first arrival to its
    /// last (libwebrtc's `UpdateFeedbackHoldTime`).
    fn held(&mut self, hold: TimeDelta) {
        if self.config.feedback_hold {
            let average = self.feedback_hold.unwrap_or(hold);
            let gain = self.config.feedback_hold_gain;
            self.feedback_hold = Some(average + (hold - average).scale(gain));
        }
    }

    /// Updates the smoothed round trip, `s_rtt`, more slowly while little is in flight.
    fn round_trip(&mut self, rtt: TimeDelta) {
        let Some(srtt) = self.srtt else {
            self.srtt = Some(rtt);
            let segment = self.config.segment.get() as f64;
            let most = segment + self.flight.0.get() as f64 * self.config.flight_headroom;
            let tried = most.max(self.window.size);
            let hold = self.feedback_hold.unwrap_or(TimeDelta::ZERO);
            self.window.size = self.starting_window(rtt + hold).min(tried);
            return;
        };
        let flight = self.flight.0.max(self.flight.1).get() as f64;
        let gain = if flight < self.window.size * self.config.idle_flight {
            self.config.idle_rtt_gain
        } else {
            self.config.rtt_gain
        };
        self.srtt = Some((srtt + (rtt - srtt).scale(gain)).max(SHORTEST_RTT));
    }

    /// Applies sections 4.2.1 and 4.2.2, when packets are reported as arrived or lost.
    fn adapt(&mut self, now: Time, signals: Signals) {
        let srtt = self.srtt.unwrap_or(self.config.virtual_rtt);
        self.delays
            .update(now, self.config.virtual_rtt.min(srtt), &self.config);
        self.delays.adjust_target(now, &self.config);
        self.is_draining = self.config.drain_period > TimeDelta::ZERO
            && self.delays.is_draining(now, srtt, &self.config);
        self.update_marks(now, srtt);
        self.update_acked(now, srtt);
        self.round.has_loss |= signals.lost;
        let target = self.decision.target;
        let margin = self.config.acked_margin;
        let view = View {
            srtt,
            feedback_hold: self.feedback_hold.unwrap_or(TimeDelta::ZERO),
            delay: self.delays.newest,
            average_delay: self.delays.average,
            delay_target: self.delays.target,
            delay_scale: self.delays.scale,
            marked_share: self.marks.share,
            is_l4s: self.is_l4s,
            loss_rate: self.loss_rate,
            flight: self.flight.0.get() as f64,
            flight_before: self.flight.1.get() as f64,
            is_target_low: self.acked.rate.is_some_and(|r| target < r.scale(margin)),
            is_at_maximum: target >= self.limits.max(),
        };
        let moved = self.window.update(now, signals, &view, &self.config);
        self.decision.cause = moved.unwrap_or(self.decision.cause);
        if moved == Some(Cause::Marked) && self.window.was_stale {
            self.marks.share = self.marks.share.max(self.config.stale_share);
        }
        if now.since(self.round.since) >= srtt {
            self.end_round(now, srtt);
        }
        self.decision.evidence.queue_delay = Some(self.delays.newest);
        self.decision.evidence.service_rate = self.acked.rate;
        self.retarget(now);
    }

    fn update_marks(&mut self, now: Time, srtt: TimeDelta) {
        let interval = self.config.mark_interval.min(srtt);
        let marks = &mut self.marks;
        let is_early = marks.updated.is_some_and(|at| now.since(at) < interval);
        if is_early || marks.delivered == 0.0 {
            return;
        }
        let share = marks.marked / marks.delivered;
        if share >= marks.share {
            marks.share += self.config.mark_gain_up * (share - marks.share);
        } else {
            let rest = if self.config.mark_falls_to_share {
                share
            } else {
                0.0
            };
            marks.share += self.config.mark_gain_down * (rest - marks.share);
        }
        marks.updated = Some(now);
        marks.delivered = 0.0;
        marks.marked = 0.0;
    }

    fn update_acked(&mut self, now: Time, srtt: TimeDelta) {
        let elapsed = now.since(self.acked.since);
        if elapsed >= srtt.max(self.period * 2) {
            self.acked.rate = Some(Rate::of(self.acked.bytes, elapsed));
            self.acked.since = now;
            self.acked.bytes = Bytes::ZERO;
        }
    }

    fn end_round(&mut self, now: Time, srtt: TimeDelta) {
        self.flight = (self.in_flight, self.flight.0);
        self.window.round(self.round.has_loss, &self.config);
        if self.delays.round(self.round.has_loss, &self.config) {
            self.cautious_until = now + (srtt * CAUTION_RTTS).max(LEAST_CAUTION);
        }
        self.round = Round {
            since: now,
            has_loss: false,
        };
    }

    /// Sets the target (`target_bitrate`, 4.4); does nothing before the round trip is known.
    fn retarget(&mut self, now: Time) {
        let Some(srtt) = self.srtt else {
            return;
        };
        let segment_share = self.window.segment_share(&self.config);
        let share = self.media.share(segment_share, &self.config);
        let round = srtt + self.feedback_hold.unwrap_or(TimeDelta::ZERO);
        let mut rate = Rate::of(Bytes::from_f64(self.window.size * share), round);
        if now < self.cautious_until || self.is_draining {
            rate = rate.scale(0.5);
            self.decision.cause = Cause::PathChange;
        }
        self.decision.target = self.limits.clamp(rate);
    }

    /// Sets the window for packets and the pacing of the decision.
    fn decide(&mut self) {
        let (low, high) = (self.config.lowest_overhead, self.config.highest_overhead);
        let overhead = low + (high - low) * self.delays.scale;
        let window = Bytes::from_f64(self.window.size * overhead);
        // One packet may always be in flight, whatever its size.
        let least = if self.in_flight == Bytes::ZERO {
            LARGEST_PACKET
        } else {
            self.lifted
        };
        self.decision.window = Some(window.max(least));
        self.decision.pacing = media::pacing(self.decision.target, &self.limits, &self.config);
    }

    fn frame_encoded(&mut self, now: Time, frame: FrameId, size: Bytes, packets: u32) {
        let found = self.found.take();
        let wait = found.unwrap_or_else(|| self.queue.oldest_wait(now));
        self.media
            .frame(size, self.nominal, wait, self.period, &self.config);
        self.queue.push(now, frame, size, packets);
        self.retarget(now);
        self.decide();
    }

    /// Returns how long silence lasts before one packet is let into it: "the minimum send rate
    /// maintained when no feedback is received" (section 8).
    fn silence(&self) -> TimeDelta {
        let pace = self.config.lowest_pace;
        pace.transmit_time(self.largest_packet)
            .max(SHORTEST_SILENCE)
    }

    fn timer(&mut self, now: Time) {
        if self.deadline().is_some_and(|due| due <= now) {
            self.silent_since = now;
            self.lifted = self.in_flight + self.largest_packet;
            self.decision.cause = Cause::FeedbackTimeout;
            self.decide();
        }
    }
}

/// How the controller behaves when reports are fewer or contain less.
const WITH_LESS: &str = "\
    the window falls later: less of a link that changes, the more seldom the less, and at \
    rest no longer a queue up to reports 100 ms apart; without ECN it goes by delay and \
    losses";

impl Named for Scream {
    const NAME: &'static str = "scream";
    const NEEDS: Needs = Needs {
        made_for: Reports::PerFrame,
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

impl Controller for Scream {
    fn handle(&mut self, now: Time, event: Event<'_>) -> &Decision {
        match event {
            Event::FrameDue { interval, .. } => {
                self.period = interval.max(TimeDelta::ZERO);
                self.nominal = self.decision.target.amount_in(self.period);
            }
            Event::FrameBegun {
                frame,
                size,
                packets,
            } => {
                self.found = Some(self.queue.oldest_wait(now));
                self.queue.push(now, frame, size, packets);
                self.decide();
            }
            Event::FrameEncoded {
                frame,
                size,
                packets,
            } => self.frame_encoded(now, frame, size, packets),
            Event::FrameGivenUp { frame } => self.queue.given_up(frame),
            Event::PacketSent(packet) => {
                self.packet_sent(now, &packet);
                self.decide();
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

    /// Returns the time at which a packet is let into the silence; `None` while nothing is in
    /// flight.
    fn deadline(&self) -> Option<Time> {
        (self.in_flight > Bytes::ZERO).then(|| self.silent_since + self.silence())
    }
}
