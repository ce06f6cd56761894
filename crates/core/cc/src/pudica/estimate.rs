//! The BUR of one frame: Pudica's estimator, and the two that the paper's
//! ablation puts in its place (section 5.5, Tab. 3 and 4).

use mimosa_facts::SentPacket;
use mimosa_units::{Bytes, PeerTime, Rate, Time, TimeDelta};

use super::config::{Config, Estimator};
use super::frames::Frame;
use crate::windowed_min::WindowedMin;

/// Weight of a new arrival gap in Salsify's smoothing (alfalfa
/// `salsify-receiver.cc`: 0.1).
const SALSIFY_ALPHA: f64 = 0.1;
/// Length of SQP's window of the minimum delay, in smoothed round trips (SQP,
/// section 4.1).
const SQP_WINDOW_RTTS: u32 = 2;
/// Reciprocal of a new sample's weight in TCP's smoothed round trip (RFC 6298,
/// section 2.3).
const RTT_GAIN: u32 = 8;

/// Turns packet arrivals into BUR samples.
#[derive(Debug)]
pub(super) struct Estimate {
    kind: Estimator,
    min_delay: WindowedMin,
    smoothed_rtt: TimeDelta,
    /// For Salsify's estimator: departure, arrival and frame of the last packet
    /// that is no probe or retransmission. `gap`, in seconds, and `size`, in
    /// bytes, are smoothed means.
    last: Option<(Time, PeerTime, mimosa_facts::FrameId)>,
    gap: Option<f64>,
    size: f64,
}

impl Estimate {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            kind: config.estimator,
            min_delay: WindowedMin::new(config.min_delay_window),
            smoothed_rtt: TimeDelta::ZERO,
            last: None,
            gap: None,
            size: 0.0,
        }
    }

    /// Takes a packet that arrived at `at`.
    pub(super) fn arrival(&mut self, now: Time, packet: &SentPacket, at: PeerTime) {
        self.min_delay.add(now, at - packet.sent);
        if self.kind == Estimator::Salsify && packet.kind.is_first() {
            self.salsify_gap(packet, at);
        }
    }

    /// Takes a measured round trip, which sets the window of the minimum delay
    /// for SQP's estimator and changes nothing for the others.
    pub(super) fn round_trip(&mut self, rtt: TimeDelta) {
        if self.kind != Estimator::Sqp {
            return;
        }
        self.smoothed_rtt = if self.smoothed_rtt == TimeDelta::ZERO {
            rtt
        } else {
            self.smoothed_rtt + (rtt - self.smoothed_rtt) / RTT_GAIN
        };
        self.min_delay
            .set_window(self.smoothed_rtt * SQP_WINDOW_RTTS);
    }

    /// The smallest one-way delay, clock offset included: the paper's `D_min`.
    /// `None` before the first packet arrived.
    pub(super) const fn min_delay(&self) -> Option<TimeDelta> {
        self.min_delay.get()
    }

    /// Measures the minimum delay anew, beginning with `delay`, because the path
    /// has changed.
    pub(super) fn restart(&mut self, now: Time, delay: TimeDelta) {
        self.min_delay.clear();
        self.min_delay.add(now, delay);
    }

    /// BUR of a frame all of whose packets are accounted for; `None` if none of
    /// them arrived, or if the estimator has no measurement yet.
    pub(super) fn sample(&self, frame: &Frame) -> Option<f64> {
        let delay = frame.last_arrival? - frame.first_sent?;
        // Equation 1. For a frame of full size, SQP's estimate S = F / (D -
        // D_min) gives B / S, which is the same value with SQP's short-lived
        // minimum.
        let by_delay = (delay - self.min_delay()?).ratio(frame.interval).max(0.0);
        match self.kind {
            Estimator::Pudica | Estimator::Sqp => Some(by_delay),
            Estimator::Salsify => {
                let capacity_mbps = self.size * 8.0 / 1e6 / self.gap?.max(1e-9);
                Some(frame.bitrate().as_mbps() / capacity_mbps.max(1e-9))
            }
        }
    }

    /// A packet's one-way `delay` above the smallest one; zero before there is a
    /// smallest one.
    pub(super) fn queue_delay(&self, delay: TimeDelta) -> TimeDelta {
        self.min_delay()
            .map_or(TimeDelta::ZERO, |min| (delay - min).max(TimeDelta::ZERO))
    }

    /// Updates the mean gap between arrivals, from which the sender's own pauses
    /// between frames are subtracted, and the mean size of packets.
    fn salsify_gap(&mut self, packet: &SentPacket, at: PeerTime) {
        if let Some((sent, arrived, frame)) = self.last {
            let grace = if frame == packet.frame {
                TimeDelta::ZERO
            } else {
                packet.sent.since(sent)
            };
            let gap = ((at - arrived) - grace).max(TimeDelta::ZERO).as_secs();
            let bytes = packet.size.get() as f64;
            if let Some(mean) = &mut self.gap {
                *mean += SALSIFY_ALPHA * (gap - *mean);
                self.size += SALSIFY_ALPHA * (bytes - self.size);
            } else {
                (self.gap, self.size) = (Some(gap), bytes);
            }
        }
        self.last = Some((packet.sent, at, packet.frame));
    }
}

/// Bytes received over time, for the receiving rate of equation 11.
#[derive(Debug, Default)]
pub(super) struct Received {
    total: Bytes,
    last: Option<PeerTime>,
    mark: Option<(PeerTime, Bytes)>,
}

impl Received {
    /// Counts a packet of `size` that arrived at `at`.
    pub(super) fn arrival(&mut self, at: PeerTime, size: Bytes) {
        self.total += size;
        self.last = Some(self.last.map_or(at, |last| last.max(at)));
    }

    /// Begins to measure the rate at the arrival at `at`, after which
    /// `since_then` bytes have already arrived.
    pub(super) fn mark(&mut self, at: PeerTime, since_then: Bytes) {
        self.mark = Some((at, self.total - since_then));
    }

    /// Mean receiving rate since the mark; `None` without a mark, or if no time
    /// has passed since it.
    pub(super) fn rate(&self) -> Option<Rate> {
        let (from, before) = self.mark?;
        let time = self.last? - from;
        (time > TimeDelta::ZERO).then(|| Rate::of(self.total - before, time))
    }

    /// Removes the mark: no rate is measured any more.
    pub(super) fn unmark(&mut self) {
        self.mark = None;
    }
}
