//! Salsify's frame size control (S. Fouladi et al.: *Salsify: Low-Latency Network Video
//! through Tighter Integration between a Video Codec and a Transport Protocol*, NSDI 2018;
//! alfalfa, `salsify-sender.cc` and `salsify-receiver.cc`).
//!
//! The mean gap between arrivals shows what the path can carry. A frame is the amount of data that
//! arrives within a delay budget, less the data that is on its way already; a frame for which
//! nothing is left is skipped. As in Pudica's comparison (its section 5.1), the delay budget is one
//! frame interval plus the smallest round trip, and the frame size control stands alone, without
//! the codec that encodes each frame twice.
//!
//! *Deviations.* The mean, which alfalfa takes at the receiver, is taken at the sender from the
//! reports, in bytes and not in packets of 1400 bytes. The gap before a frame's first packet counts
//! without the sender's pause since the packet before it; alfalfa counts that pause from frame to
//! frame. There is no shortest gap of pacing (500 us in alfalfa), which would be a limit of
//! 22 Mbit/s. The bound of growth beyond what is sent and the reaction to silence are ours.

mod config;
#[cfg(test)]
mod tests;

pub use config::Config;

use mimosa_facts::{
    Cause, Controller, Decision, Event, FrameId, Limits, Pacing, PacketOutcome, PacketReport,
    SentPacket,
};
use mimosa_units::{Bytes, PeerTime, Rate, Time, TimeDelta};

use crate::named::Named;
use crate::needs::{Arrivals, Needs};
use crate::parameter::ParameterError;
use crate::send_queue::SendQueue;
use crate::windowed_min::WindowedMin;

/// Smallest mean gap between two arrivals, in seconds, which keeps the rate finite.
const LEAST_GAP: f64 = 1e-9;
/// Factor by which the bitrate of the largest frame fades with each frame that is given to the
/// pacer.
const FADING: f64 = 0.98;

/// Means over the packets that arrived.
#[derive(Clone, Copy, Debug)]
struct Means {
    /// Time from one arrival to the next, in seconds.
    gap: f64,
    /// Size of a packet, in bytes.
    size: f64,
}

/// The last packet that arrived.
#[derive(Clone, Copy, Debug)]
struct Last {
    sent: Time,
    arrived: PeerTime,
    frame: FrameId,
}

/// The Salsify controller.
#[derive(Debug)]
pub struct Salsify {
    config: Config,
    limits: Limits,
    decision: Decision,
    interval: TimeDelta,
    last: Option<Last>,
    means: Option<Means>,
    /// What the path carries, by the mean gap; the limits of the bitrate do not bound it.
    estimate: Rate,
    min_rtt: WindowedMin,
    unsent: SendQueue,
    in_flight: Bytes,
    /// Bitrate of the largest frame lately, which fades with each frame.
    tried: Rate,
    /// Number of frames skipped in a row.
    skipped: u32,
    /// When an arrival was last reported, the first packet left after that, or silence last halved
    /// the estimate.
    heard: Time,
    is_waiting: bool,
}

impl Salsify {
    /// A controller that has sent nothing.
    #[must_use]
    pub fn new(config: Config, limits: Limits) -> Self {
        let mut salsify = Self {
            config,
            limits,
            decision: Decision::starting_at(limits.start()),
            interval: TimeDelta::ZERO,
            last: None,
            means: None,
            estimate: limits.start(),
            min_rtt: WindowedMin::new(config.min_rtt_window),
            unsent: SendQueue::default(),
            in_flight: Bytes::ZERO,
            tried: limits.start(),
            skipped: 0,
            heard: Time::ZERO,
            is_waiting: false,
        };
        salsify.set_rate(limits.start(), Cause::Start);
        salsify
    }

    /// Sets the frame's limit, once a round trip is known: the amount that the delay budget allows,
    /// less the data on its way. Before that, halves the estimate if silence has lasted too long.
    fn frame_due(&mut self, now: Time, interval: TimeDelta) {
        self.interval = interval;
        if self.is_waiting && now.since(self.heard) >= self.config.feedback_timeout {
            self.heard = now;
            if let Some(means) = &mut self.means {
                means.gap = (means.gap * 2.0).min(1.0);
            }
            let halved = self.decision.target.scale(0.5);
            self.set_rate(halved, Cause::FeedbackTimeout);
        }
        let Some(least) = self.min_rtt.get() else {
            return;
        };
        let budget = self.config.budget.unwrap_or(interval + least);
        let under_way = self.in_flight + self.unsent.bytes();
        let room = self.estimate.amount_in(budget) - under_way;
        let most = self.limits.max().amount_in(interval);
        let smallest = self.limits.min().amount_in(interval);
        self.decision.evidence.backlog = Some(under_way);
        let limit = if room >= smallest {
            self.skipped = 0;
            room.min(most)
        } else if self.skipped < self.config.most_skipped {
            self.skipped += 1;
            Bytes::ZERO
        } else {
            self.skipped = 0;
            smallest
        };
        self.decision.frame_limit = Some(limit);
    }

    fn encoded(&mut self, now: Time, frame: FrameId, size: Bytes, packets: u32) {
        self.unsent.push(now, frame, size, packets);
        let rate = Rate::of(size, self.interval);
        self.tried = self.tried.scale(FADING).max(rate);
    }

    fn sent(&mut self, now: Time, packet: &SentPacket) {
        if !self.is_waiting {
            self.is_waiting = true;
            self.heard = now;
        }
        self.unsent.sent(packet);
        self.in_flight += packet.size;
    }

    fn feedback(&mut self, now: Time, reports: &[PacketReport], in_flight: Bytes) {
        self.in_flight = in_flight;
        let mut has_arrived = false;
        for report in reports {
            let PacketOutcome::Arrived { at, .. } = report.outcome else {
                continue;
            };
            has_arrived = true;
            let rtt = now.since(report.packet.sent).max(TimeDelta::ZERO);
            self.min_rtt.add(now, rtt);
            let least = self.min_rtt.get().unwrap_or(rtt);
            self.decision.evidence.queue_delay = Some((rtt - least).max(TimeDelta::ZERO));
            if report.packet.kind.is_first() {
                self.arrived(&report.packet, at);
            }
        }
        if has_arrived {
            self.heard = now;
            self.is_waiting = false;
            self.estimate();
        }
    }

    /// Updates the mean gap, without the sender's own pause before a frame, and the mean size.
    fn arrived(&mut self, packet: &SentPacket, at: PeerTime) {
        let size = packet.size.get() as f64;
        if let Some(last) = self.last {
            let grace = if last.frame == packet.frame {
                TimeDelta::ZERO
            } else {
                packet.sent.since(last.sent).max(TimeDelta::ZERO)
            };
            let gap = ((at - last.arrived) - grace).max(TimeDelta::ZERO).as_secs();
            let alpha = self.config.smoothing;
            if let Some(means) = &mut self.means {
                means.gap += alpha * (gap - means.gap);
                means.size += alpha * (size - means.size);
            } else if last.frame == packet.frame {
                self.means = Some(Means { gap, size });
            }
        }
        let arrived = self.last.map_or(at, |last| last.arrived.max(at));
        self.last = Some(Last {
            sent: packet.sent,
            arrived,
            frame: packet.frame,
        });
    }

    /// Sets the target from the mean gap, bounded by a multiple of the bitrate of the largest frame
    /// lately.
    fn estimate(&mut self) {
        let Some(means) = self.means else {
            return;
        };
        let estimate = Rate::from_mbps(means.size * 8.0 / means.gap.max(LEAST_GAP) / 1e6);
        self.decision.evidence.service_rate = Some(estimate);
        let bound = self.tried.scale(self.config.application_headroom);
        if estimate > bound {
            self.set_rate(bound, Cause::ApplicationLimited);
        } else {
            self.set_rate(estimate, Cause::DelayBudget);
        }
    }

    fn set_rate(&mut self, rate: Rate, cause: Cause) {
        self.estimate = rate;
        let target = self.limits.clamp(rate);
        self.decision.target = target;
        let paced = self.means.map_or(Rate::ZERO, |means| {
            Rate::of(Bytes::from_f64(means.size), self.config.longest_gap)
        });
        self.decision.pacing = if self.config.pace == 0.0 {
            Pacing::Burst
        } else {
            Pacing::Bucket {
                rate: target.scale(self.config.pace).max(paced).max(target),
                burst: Bytes::ZERO,
            }
        };
        self.decision.cause = cause;
    }
}

/// How the controller behaves when reports are fewer or contain less.
const WITH_LESS: &str = "\
    what is reported late is under way for longer: frames are smaller or skipped, and it \
    uses less of the link";

impl Named for Salsify {
    const NAME: &'static str = "salsify";
    const NEEDS: Needs = Needs {
        arrivals: Arrivals::Packets,
        ..Needs::by_round_trips(WITH_LESS)
    };
    type Config = Config;

    fn start(config: Config, limits: Limits) -> Result<Box<dyn Controller>, ParameterError> {
        config.check()?;
        Ok(Box::new(Self::new(config, limits)))
    }
}

impl Controller for Salsify {
    fn handle(&mut self, now: Time, event: Event<'_>) -> &Decision {
        match event {
            Event::FrameDue { interval, .. } => self.frame_due(now, interval),
            Event::FrameBegun {
                frame,
                size,
                packets,
            } => self.unsent.push(now, frame, size, packets),
            Event::FrameEncoded {
                frame,
                size,
                packets,
            } => self.encoded(now, frame, size, packets),
            Event::FrameGivenUp { frame } => self.unsent.given_up(frame),
            Event::PacketSent(packet) => self.sent(now, &packet),
            Event::Feedback { reports, in_flight } => self.feedback(now, reports, in_flight),
            _ => {}
        }
        &self.decision
    }

    fn decision(&self) -> &Decision {
        &self.decision
    }
}
