//! What is known about each recent frame.

use mimosa_facts::FrameId;
use mimosa_units::{Bytes, PeerTime, Rate, Time, TimeDelta};

use crate::frame_ring::{FrameRing, Remembered};

/// One frame, from hand-over to the feedback of its probes.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) id: FrameId,
    /// Time to the next frame: the paper's L.
    pub(super) interval: TimeDelta,
    pub(super) size: Bytes,
    pub(super) packets: u32,
    /// Number of packets that arrived or were lost, first transmissions only.
    pub(super) resolved: u32,
    /// Number of packets that arrived, first transmissions only.
    pub(super) arrived: u32,
    /// Whether the receiver has the whole frame, whatever is known about its
    /// packets.
    pub(super) is_decoded: bool,
    pub(super) first_sent: Option<Time>,
    pub(super) first_arrival: Option<PeerTime>,
    pub(super) last_arrival: Option<PeerTime>,
    /// One-way delay of the packet that arrived first.
    pub(super) first_delay: TimeDelta,
    /// Time between the frame's probes: the paper's `T_packet`.
    pub(super) probe_interval: TimeDelta,
    /// Sum of the probes' `T_i` (eq. 4), each less the noise floor.
    pub(super) probe_delay: TimeDelta,
    /// Number of probes that have come back.
    pub(super) probes_back: u16,
    /// BUR of the frame by equation 1, or by the estimator in its place; `None`
    /// while it is unknown or after it was forgotten.
    pub(super) sample: Option<f64>,
    /// When `sample` was taken.
    pub(super) sampled: Time,
}

impl Frame {
    /// The bitrate at which the frame was encoded. The size that was handed over
    /// counts rather than the target, so that neither an encoder that strays from
    /// its target nor one that has little to show distorts the estimate.
    pub(super) fn bitrate(&self) -> Rate {
        Rate::of(self.size, self.interval)
    }

    /// The part of `bitrate` whose packets arrived.
    pub(super) fn arrived_bitrate(&self) -> Rate {
        let arrived = f64::from(self.arrived.min(self.packets)) / f64::from(self.packets);
        self.bitrate().scale(arrived)
    }

    /// BUR corrected by the probes that have come back (eq. 5); `None` if
    /// `sample` is.
    pub(super) fn corrected(&self) -> Option<f64> {
        let by_probes = self.probe_delay.max(TimeDelta::ZERO);
        Some(self.sample? + by_probes.ratio(self.interval))
    }
}

impl Remembered for Frame {
    fn id(&self) -> FrameId {
        self.id
    }

    fn is_open(&self) -> bool {
        self.resolved < self.packets && !self.is_decoded
    }
}

/// The recent frames.
pub(super) type Frames = FrameRing<Frame>;

impl Frames {
    /// Frames whose BUR is known and was learnt after `since`, oldest first,
    /// each with its corrected BUR.
    pub(super) fn samples(&self, since: Time) -> impl Iterator<Item = (&Frame, f64)> {
        let from = self
            .ring
            .iter()
            .rposition(|frame| frame.sample.is_some() && frame.sampled <= since)
            .map_or(0, |index| index + 1);
        self.ring
            .range(from..)
            .filter_map(|frame| frame.corrected().map(|sample| (frame, sample)))
    }

    /// Corrected BUR of the newest frame whose BUR is known; `None` if there is
    /// none.
    pub(super) fn newest_sample(&self) -> Option<f64> {
        self.ring.iter().rev().find_map(Frame::corrected)
    }

    /// Forgets the samples of all frames, so that smoothing begins anew.
    pub(super) fn forget_samples(&mut self) {
        for frame in &mut self.ring {
            frame.sample = None;
        }
    }
}
