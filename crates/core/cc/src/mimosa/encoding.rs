//! What a frame finds at the sender when it comes out of the encoder: the time that passes until then,
//! and what is left of the frame before it.

use mimosa_facts::{FrameId, PacketKind, SentPacket};
use mimosa_units::{Bytes, Time, TimeDelta};

/// Weight of a new frame in the smoothed encoding time: that of RFC 6298 for round trips.
const GAIN: f64 = 1.0 / 8.0;

/// The frame in the encoder, and the one that leaves.
#[derive(Debug, Default)]
pub(super) struct Encoding {
    /// The frame that was asked for last, until it is encoded, and when that was.
    due: Option<(FrameId, Time)>,
    /// Smoothed encoding time, from when a frame was asked for until it, or the first of its parts, was
    /// handed over.
    time: TimeDelta,
    /// The frame that was handed over last.
    leaves: Option<FrameId>,
    /// Size of that frame, or what is expected of it while parts of it are still encoded.
    size: Bytes,
    /// The part of that frame that has left.
    sent: Bytes,
}

impl Encoding {
    /// A frame is asked for.
    pub(super) const fn due(&mut self, now: Time, frame: FrameId) {
        self.due = Some((frame, now));
    }

    /// A frame of `size`, or the first part of one, is handed to the pacer.
    pub(super) fn encoded(&mut self, now: Time, frame: FrameId, size: Bytes) {
        if let Some((_, at)) = self.due.take_if(|(due, _)| *due == frame) {
            self.time += (now.since(at) - self.time).scale(GAIN);
        }
        self.leaves = Some(frame);
        self.size = size;
        self.sent = Bytes::ZERO;
    }

    /// A frame of which parts have been handed over came out at `size`.
    pub(super) fn whole(&mut self, frame: FrameId, size: Bytes) {
        if self.leaves == Some(frame) {
            self.size = size;
        }
    }

    /// A packet left the pacer.
    pub(super) fn sent(&mut self, packet: &SentPacket) {
        let is_its = self.leaves == Some(packet.frame);
        if is_its && !matches!(packet.kind, PacketKind::Probe | PacketKind::Retransmission) {
            self.sent += packet.size;
        }
    }

    /// A frame was given up: what is left of it leaves no more.
    pub(super) fn given_up(&mut self, frame: FrameId) {
        if self.leaves == Some(frame) {
            self.size = Bytes::ZERO;
        }
    }

    /// The smoothed encoding time; zero before the first frame.
    pub(super) const fn time(&self) -> TimeDelta {
        self.time
    }

    /// The part of the newest frame that has not left the pacer.
    pub(super) fn unsent(&self) -> Bytes {
        self.size - self.sent
    }
}
