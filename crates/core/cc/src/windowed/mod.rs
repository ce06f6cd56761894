//! A transport's congestion control as a controller of video frames: BBR versions 2 and 3, and
//! Prague.
//!
//! The algorithms are those of [`window`](crate::window), which drive simulated TCP senders, too.
//! Here they are told about datagrams what they would be told about segments: each packet that
//! leaves, one acknowledgement for each feedback message, losses, marks, and silence. Their
//! decisions become a window, a pacing rate, and a target for the encoder. `docs/algorithms/bbr.md`
//! and `docs/algorithms/prague.md` describe the models.
//!
//! All sizes are those on the wire; the target is not reduced for headers.

mod config;
mod connection;
#[cfg(test)]
mod tests;

pub use config::Config;

use crate::window::{Algorithm, Prague, Stage};
use mimosa_facts::{Cause, Controller, Decision, Event, Limits, Pacing, PacketReport, SentPacket};
use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use crate::parameter::ParameterError;
use crate::send_queue::SendQueue;
use connection::{Connection, News};

/// The largest packet that IP can carry. One packet may always be in flight, whatever its size.
const LARGEST_PACKET: Bytes = Bytes::new(65_535);
/// The lowest pacing rate, because the clock has a finite resolution.
const LOWEST_PACE: Rate = Rate::from_kbps(1);
/// Number of frame intervals without a frame after which a stream has paused.
const PAUSE: u32 = 2;

/// A congestion control algorithm that governs a stream of frames.
#[derive(Debug)]
pub struct Windowed {
    config: Config,
    limits: Limits,
    connection: Connection,
    unsent: SendQueue,
    /// Bytes in flight as the session counts them, including those that a timeout gave up.
    reported: Bytes,
    interval: TimeDelta,
    /// Size allowed for the frame of the last `FrameDue`, without regard to the limits.
    allowed: Bytes,
    /// Whether the last frame handed over was smaller than `full_share` of `allowed`.
    is_short: bool,
    handed_over: Time,
    /// Cause of a reduction under which no frame has been encoded yet.
    held: Option<Cause>,
    decision: Decision,
}

impl Windowed {
    /// A controller with `algorithm` that has sent nothing.
    #[must_use]
    pub fn new(algorithm: Algorithm, config: Config, limits: Limits) -> Self {
        let congestion = match algorithm {
            Algorithm::Prague => Box::new(Prague::with_reference_rtt(
                config.packet,
                config.reference_rtt,
            )),
            other => other.start(config.packet, config.seed),
        };
        let mut windowed = Self {
            connection: Connection::new(congestion, config.packet, config.longest_timeout),
            decision: Decision::starting_at(limits.start()),
            unsent: SendQueue::default(),
            reported: Bytes::ZERO,
            interval: TimeDelta::ZERO,
            allowed: Bytes::ZERO,
            is_short: false,
            handed_over: Time::ZERO,
            held: None,
            config,
            limits,
        };
        windowed.decide(Cause::Start);
        windowed
    }

    /// Checks the parameters and makes the controller, for the table of controllers. Returns `Err`
    /// if a parameter's value is invalid.
    pub(crate) fn start(
        algorithm: Algorithm,
        config: Config,
        limits: Limits,
    ) -> Result<Box<dyn Controller>, ParameterError> {
        config.check()?;
        Ok(Box::new(Self::new(algorithm, config, limits)))
    }

    /// The pacing rate: the algorithm's own, or else the window per round trip, or else the first
    /// target while no round trip is known.
    fn pace(&self) -> Rate {
        let pace = self.connection.congestion().pacing_rate();
        pace.or_else(|| self.window_rate())
            .unwrap_or(self.limits.start())
    }

    fn window_rate(&self) -> Option<Rate> {
        let rtt = self.connection.smoothed_rtt()?;
        Some(Rate::of(self.connection.congestion().window(), rtt))
    }

    /// The rate that the algorithm allows the encoder, without regard to the limits.
    fn rate(&self) -> Rate {
        let Some(window_rate) = self.window_rate() else {
            return self.limits.start();
        };
        let mut rate = self.pace().min(window_rate);
        if !self.config.follow_pace
            && let Some(bandwidth) = self.connection.congestion().bandwidth()
        {
            rate = rate.min(bandwidth);
        }
        rate.scale(self.config.target_share)
    }

    /// Updates the decision from the algorithm's state.
    fn decide(&mut self, cause: Cause) {
        let congestion = self.connection.congestion();
        let pace = self.pace();
        let segments = congestion.burst(self.config.packet, Bytes::ZERO);
        // The bucket lets one packet more leave at once than it holds.
        let burst = self
            .config
            .packet
            .get()
            .saturating_mul(segments.saturating_sub(1));
        let least = if self.connection.in_flight() == Bytes::ZERO {
            LARGEST_PACKET
        } else {
            Bytes::ZERO
        };
        let given_up = self.reported - self.connection.in_flight();
        self.decision.evidence.service_rate = congestion.bandwidth();
        self.decision.evidence.queue_delay = self.connection.queue_delay();
        self.decision.window = Some(congestion.window().max(least) + given_up);
        self.decision.pacing = Pacing::Bucket {
            rate: pace.max(self.limits.min()).max(LOWEST_PACE),
            burst: Bytes::new(burst),
        };
        self.decision.target = self.limits.clamp(self.rate());
        self.decision.cause = self.held.unwrap_or(cause);
    }

    fn frame_due(&mut self, interval: TimeDelta) {
        self.interval = interval.max(TimeDelta::ZERO);
        let waiting = if self.config.subtract_waiting {
            self.unsent.bytes()
        } else {
            Bytes::ZERO
        };
        self.allowed = self.rate().amount_in(self.interval) - waiting;
        self.decision.frame_limit = (waiting > Bytes::ZERO).then(|| {
            let rest = self.decision.target.amount_in(self.interval) - waiting;
            rest.max(self.limits.min().amount_in(self.interval))
        });
    }

    fn frame_encoded(&mut self, now: Time, size: Bytes) {
        let has_paused = now.since(self.handed_over) > self.interval * PAUSE;
        if has_paused && self.unsent.bytes() == Bytes::ZERO {
            self.connection.run_dry();
        }
        self.handed_over = now;
        self.is_short = size < self.allowed.scale(self.config.full_share);
        self.held = None;
    }

    fn packet_sent(&mut self, now: Time, packet: &SentPacket) {
        self.unsent.sent(packet);
        self.reported += packet.size;
        let has_more = self.unsent.bytes() > Bytes::ZERO;
        self.connection.sent(now, packet, has_more);
        if self.is_short && !has_more {
            self.connection.run_dry();
        }
        self.decide(self.decision.cause);
    }

    fn feedback(&mut self, now: Time, reports: &[PacketReport], in_flight: Bytes) {
        self.reported = in_flight;
        let before = self.connection.congestion().window();
        let mut cause = self.decision.cause;
        if !reports.is_empty() {
            let news = self.connection.feedback(now, reports);
            cause = self.cause(&news, before);
            if matches!(cause, Cause::Loss | Cause::Marked) {
                self.held = Some(cause);
            }
        }
        self.decide(cause);
    }

    fn unknown(&mut self, packets: &[SentPacket]) {
        let size = packets.iter().map(|packet| packet.size);
        self.reported -= size.fold(Bytes::ZERO, |sum, size| sum + size);
        self.connection.unknown(packets);
        self.decide(self.decision.cause);
    }

    /// The rule behind the present decision, if the window was `before` until this feedback.
    fn cause(&self, news: &News, before: Bytes) -> Cause {
        let congestion = self.connection.congestion();
        let window = congestion.window();
        match congestion.stage() {
            Some(Stage::Startup) => Cause::SlowStart,
            Some(Stage::Drain) => Cause::Drain,
            Some(Stage::Cruise) => Cause::TowardsEstimate,
            Some(Stage::Probe) => Cause::Probing,
            Some(Stage::ProbeRtt) => Cause::ProbeRtt,
            None if news.is_loss => Cause::Loss,
            None if window < before && news.marked > Bytes::ZERO => Cause::Marked,
            None if window > before => Cause::AdditiveIncrease,
            None if news.is_app_limited => Cause::ApplicationLimited,
            None => Cause::Hold,
        }
    }

    fn timer(&mut self, now: Time) {
        if self.connection.timeout_at().is_some_and(|due| due <= now) {
            self.connection.time_out(now);
            self.held = Some(Cause::FeedbackTimeout);
            self.decide(Cause::FeedbackTimeout);
        }
    }
}

impl Controller for Windowed {
    fn handle(&mut self, now: Time, event: Event<'_>) -> &Decision {
        match event {
            Event::FrameDue { interval, .. } => self.frame_due(interval),
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
                self.frame_encoded(now, size);
                self.unsent.push(now, frame, size, packets);
            }
            Event::FrameGivenUp { frame } => self.unsent.given_up(frame),
            Event::PacketSent(packet) => self.packet_sent(now, &packet),
            Event::Feedback { reports, in_flight } => self.feedback(now, reports, in_flight),
            Event::Unknown { packets } => self.unknown(packets),
            Event::Timer => self.timer(now),
            _ => {}
        }
        &self.decision
    }

    fn decision(&self) -> &Decision {
        &self.decision
    }

    fn deadline(&self) -> Option<Time> {
        self.connection.timeout_at()
    }
}
