//! Tests of each mechanism alone, on frames whose BUR the test decides.

mod adapt;
mod estimate;
mod short_term;

use mimosa_facts::{
    Cause, Controller, Decision, Event, FrameId, Limits, Pacing, PacketKind, PacketOutcome,
    PacketReport, SentPacket, Sequence,
};
use mimosa_units::{Bytes, Ecn, PeerTime, Rate, Time, TimeDelta};

use super::{Adaptation, Cadence, Config, Estimator, FrameSize, Growth, Overuse, PaceMode, Pudica};

const L: TimeDelta = TimeDelta::from_millis(16);
/// One-way delay of an empty path. `OFFSET` is the difference of the clocks.
const DELAY: TimeDelta = TimeDelta::from_millis(10);
const OFFSET: TimeDelta = TimeDelta::from_millis(5_000);
const PACKETS: u32 = 10;

/// A stream in which every frame has the BUR that the test asks for.
struct Stream {
    controller: Pudica,
    now: Time,
    frame: u64,
    sequence: u64,
    /// Share of its target that the encoder uses.
    used: f64,
}

impl Stream {
    fn new(config: Config, start_mbps: u64) -> Self {
        let mbps = |mbps: u64| Rate::from_kbps(1_000 * mbps);
        let limits = Limits::new(Rate::from_kbps(200), mbps(start_mbps), mbps(50));
        Self {
            controller: Pudica::new(config, limits),
            now: Time::from_millis(100),
            frame: 0,
            sequence: 0,
            used: 1.0,
        }
    }

    fn mbps(&self) -> f64 {
        self.controller.decision().target.as_mbps()
    }

    fn cause(&self) -> Cause {
        self.controller.decision().cause
    }

    /// Asks for a frame and sends it, without any feedback.
    fn send(&mut self) -> (FrameId, Vec<SentPacket>, Decision) {
        let frame = FrameId(self.frame);
        self.frame += 1;
        let due = Event::FrameDue { frame, interval: L };
        let granted = *self.controller.handle(self.now, due);
        let size = granted
            .frame_limit
            .unwrap_or_else(|| granted.target.amount_in(L))
            .scale(self.used);
        let encoded = Event::FrameEncoded {
            frame,
            size,
            packets: PACKETS,
        };
        self.controller.handle(self.now, encoded);
        let packets = (0..PACKETS)
            .map(|_| {
                let packet = self.packet(frame, PacketKind::Media, size.scale(0.1));
                self.controller.handle(self.now, Event::PacketSent(packet));
                packet
            })
            .collect();
        (frame, packets, granted)
    }

    fn packet(&mut self, frame: FrameId, kind: PacketKind, size: Bytes) -> SentPacket {
        self.sequence += 1;
        SentPacket {
            sequence: Sequence(self.sequence),
            frame,
            kind,
            size,
            sent: self.now,
        }
    }

    /// Reports that `packet` arrived `queued` later than on an empty path. The
    /// report comes a round trip and `queued` after `self.now`.
    fn arrived(&mut self, packet: SentPacket, queued: TimeDelta, in_flight: u64) {
        let at =
            PeerTime::from_nanos(packet.sent.as_nanos().cast_signed()) + OFFSET + DELAY + queued;
        let report = PacketReport {
            packet,
            outcome: PacketOutcome::Arrived {
                at,
                ecn: Ecn::NotEct,
                after_loss: false,
            },
        };
        let event = Event::Feedback {
            reports: &[report],
            in_flight: Bytes::new(in_flight),
        };
        self.controller
            .handle(self.now + DELAY + DELAY + queued, event);
    }

    /// Reports that `packet` was lost.
    fn lost(&mut self, packet: SentPacket) {
        let report = PacketReport {
            packet,
            outcome: PacketOutcome::Lost,
        };
        let event = Event::Feedback {
            reports: &[report],
            in_flight: Bytes::ZERO,
        };
        self.controller.handle(self.now + DELAY + DELAY, event);
    }

    /// Sends a frame of this BUR and reports it: its packets leave at once and
    /// are served evenly, the first at once, the last after `bur` of the
    /// interval.
    fn frame(&mut self, bur: f64) -> Decision {
        let (_, packets, granted) = self.send();
        for (index, packet) in packets.into_iter().enumerate() {
            let share = index as f64 / f64::from(PACKETS - 1);
            self.arrived(packet, L.scale(bur * share), 0);
        }
        // The controller gets the feedback of a frame before the next frame.
        self.now += L;
        granted
    }

    fn frames(&mut self, count: u32, bur: f64) {
        for _ in 0..count {
            self.frame(bur);
        }
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-3 * b.abs().max(1.0)
}
