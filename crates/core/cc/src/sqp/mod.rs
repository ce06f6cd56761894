//! SQP (D. Ray, C. Smith, T. Wei, D. Chu, S. Seshan: *SQP: Congestion Control for
//! Low-Latency Interactive Video Streaming*, 2022).
//!
//! Each frame is a train of packets, paced at `m` times the bitrate, and gives one sample of what
//! the path can carry: the frame's size over the time that it took beyond the smallest one-way
//! delay of the last two round trips. Once a frame, the bitrate moves towards `T` times the sample.
//! Against inelastic cross traffic of rate R on a link of rate C, the bitrate settles at
//! `T C - R / m`.
//!
//! *Deviations.* The size of a frame in a sample is the part of it that arrived, so that loss shows
//! as an undersized frame. No sample exceeds the pacing rate: a train that meets no queue arrives
//! as it left. Growth beyond what is sent and the reaction to silence are ours; each is a
//! parameter.

mod config;
#[cfg(test)]
mod tests;
mod train;

pub use config::Config;

use mimosa_facts::{
    Cause, Controller, Decision, Event, FrameId, Limits, Pacing, PacketOutcome, PacketReport,
    SentPacket,
};
use mimosa_units::{Bytes, PeerTime, Rate, Time, TimeDelta};

use crate::named::Named;
use crate::needs::{Arrivals, Needs, Reports};
use crate::parameter::ParameterError;
use crate::windowed_min::WindowedMin;
use train::{Train, Trains};

/// Divisor of TCP's smoothing of the round trip (RFC 6298, section 2.3).
const RTT_GAIN: u32 = 8;
/// Round trip assumed before the first sample (RFC 9002, section 6.2.2).
const INITIAL_RTT: TimeDelta = TimeDelta::from_millis(333);

/// The SQP controller.
#[derive(Debug)]
pub struct Sqp {
    config: Config,
    limits: Limits,
    decision: Decision,
    interval: TimeDelta,
    trains: Trains,
    min_delay: WindowedMin,
    smoothed_rtt: Option<TimeDelta>,
    /// When an arrival was last reported, the first packet left after that, or silence last halved
    /// the bitrate.
    heard: Time,
    is_waiting: bool,
}

impl Sqp {
    /// A controller that has sent nothing.
    #[must_use]
    pub fn new(config: Config, limits: Limits) -> Self {
        let mut sqp = Self {
            config,
            limits,
            decision: Decision::starting_at(limits.start()),
            interval: TimeDelta::ZERO,
            trains: Trains::default(),
            min_delay: WindowedMin::new(INITIAL_RTT.scale(config.min_delay_rtts)),
            smoothed_rtt: None,
            heard: Time::ZERO,
            is_waiting: false,
        };
        sqp.set_rate(limits.start(), Cause::Start);
        sqp
    }

    fn frame_due(&mut self, now: Time, interval: TimeDelta) {
        self.interval = interval;
        if self.is_waiting && now.since(self.heard) >= self.config.feedback_timeout {
            self.heard = now;
            let halved = self.decision.target.scale(0.5);
            self.set_rate(halved, Cause::FeedbackTimeout);
        }
    }

    fn sent(&mut self, now: Time, packet: &SentPacket) {
        if !self.is_waiting {
            self.is_waiting = true;
            self.heard = now;
        }
        if packet.kind.is_first()
            && let Some(train) = self.trains.get_mut(packet.frame)
        {
            train.first_sent.get_or_insert(packet.sent);
        }
    }

    fn feedback(&mut self, now: Time, reports: &[PacketReport]) {
        for report in reports {
            let packet = &report.packet;
            let is_news = match report.outcome {
                PacketOutcome::Arrived { at, after_loss, .. } => {
                    self.arrived(now, packet, at);
                    !after_loss
                }
                PacketOutcome::Lost => true,
            };
            if packet.kind.is_first() && is_news {
                self.trains.resolve(packet.frame);
                if let Some(train) = self.trains.take_complete(packet.frame) {
                    self.update(&train);
                }
            }
        }
    }

    fn arrived(&mut self, now: Time, packet: &SentPacket, at: PeerTime) {
        self.heard = now;
        self.is_waiting = false;
        let rtt = now.since(packet.sent).max(TimeDelta::from_nanos(1));
        let smoothed = self
            .smoothed_rtt
            .map_or(rtt, |smoothed| smoothed + (rtt - smoothed) / RTT_GAIN);
        self.smoothed_rtt = Some(smoothed);
        self.min_delay
            .set_window(smoothed.scale(self.config.min_delay_rtts));
        let delay = at - packet.sent;
        self.min_delay.add(now, delay);
        let least = self.min_delay.get().unwrap_or(delay);
        self.decision.evidence.queue_delay = Some((delay - least).max(TimeDelta::ZERO));
        if packet.kind.is_first()
            && let Some(train) = self.trains.get_mut(packet.frame)
        {
            train.arrived(at, packet.size);
        }
    }

    /// Takes one sample and one step from a frame whose packets have all arrived or are lost.
    fn update(&mut self, train: &Train) {
        let Some(sample) = self.sample(train) else {
            return;
        };
        self.decision.evidence.service_rate = Some(sample);
        let rate = self.decision.target;
        let ratio = sample.scale(self.config.target).ratio(rate).max(1e-3);
        let step = self.config.reward * (ratio - 1.0) - (1.0 / ratio - 1.0);
        let next = Rate::from_mbps(rate.as_mbps() + self.config.step.as_mbps() * step);
        let sent = Rate::of(train.size, train.interval);
        let bound = sent.scale(self.config.application_headroom);
        if next > rate && bound <= rate {
            self.decision.cause = Cause::ApplicationLimited;
        } else if next > rate && rate == self.limits.max() {
            self.decision.cause = Cause::AtMaximum;
        } else {
            self.set_rate(next.min(bound.max(rate)), Cause::TowardsEstimate);
        }
    }

    /// Returns what the path can carry, as one frame shows it: with `gamma = max(1, F_max / F)`,
    /// `F gamma / (R_end - S_start - D_min + (R_end - R_start) (gamma - 1))`, at most the pacing
    /// rate. `None` if nothing of the frame arrived.
    fn sample(&self, train: &Train) -> Option<Rate> {
        let (first, last) = train.arrivals?;
        let sent = train.first_sent?;
        let most = self.decision.target.scale(self.config.pace);
        let size = train.arrived.get() as f64;
        let full = self.decision.target.amount_in(train.interval).get() as f64;
        if size <= 0.0 {
            return None;
        }
        let gamma = (full / size).max(1.0);
        let beyond = (last - sent) - self.min_delay.get()?;
        let time = beyond.as_secs() + (last - first).as_secs() * (gamma - 1.0);
        if time <= 0.0 {
            return Some(most);
        }
        let mbps = size * gamma * 8.0 / time / 1e6;
        Some(Rate::from_mbps(mbps).min(most))
    }

    fn set_rate(&mut self, rate: Rate, cause: Cause) {
        let target = self.limits.clamp(rate);
        self.decision.target = target;
        self.decision.pacing = Pacing::Bucket {
            rate: target.scale(self.config.pace).max(target),
            burst: Bytes::ZERO,
        };
        self.decision.cause = cause;
    }

    /// Takes a frame that was handed to the pacer, or what came of one whose first part was.
    fn encoded(&mut self, id: FrameId, size: Bytes, packets: u32) {
        if let Some(train) = self.trains.get_mut(id) {
            train.size = size;
            train.packets = packets.max(1);
            return;
        }
        self.trains.push(Train {
            id,
            interval: self.interval,
            size,
            packets: packets.max(1),
            resolved: 0,
            arrived: Bytes::ZERO,
            first_sent: None,
            arrivals: None,
        });
    }
}

impl Named for Sqp {
    const NAME: &'static str = "sqp";
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

impl Controller for Sqp {
    fn handle(&mut self, now: Time, event: Event<'_>) -> &Decision {
        match event {
            Event::FrameDue { interval, .. } => self.frame_due(now, interval),
            Event::FrameBegun {
                frame,
                size,
                packets,
            }
            | Event::FrameEncoded {
                frame,
                size,
                packets,
            } => self.encoded(frame, size, packets),
            Event::FrameGivenUp { frame } => self.trains.forget(frame),
            Event::PacketSent(packet) => self.sent(now, &packet),
            Event::Feedback { reports, .. } => self.feedback(now, reports),
            _ => {}
        }
        &self.decision
    }

    fn decision(&self) -> &Decision {
        &self.decision
    }
}
