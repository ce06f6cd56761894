//! Tests of each rule on packets whose arrivals the test decides, with numbers computed by
//! hand.

#![allow(
    clippy::large_types_passed_by_value,
    reason = "a test makes a few configurations"
)]

mod beside;
mod deadline;
mod frames;
mod law;
mod link;
mod load;
mod trial;

use std::collections::VecDeque;

use mimosa_facts::Sequence;

use super::*;

const MS: fn(i64) -> TimeDelta = TimeDelta::from_millis;
/// L, the frame interval: a frame at 8 Mbit/s has 10 kB.
const L: TimeDelta = TimeDelta::from_millis(10);
const PACKET: Bytes = Bytes::new(1_000);
const FRAME: Bytes = Bytes::new(10_000);
/// One-way delay of an empty path, the clocks' difference included.
const DELAY: TimeDelta = TimeDelta::from_millis(7_010);
/// Rate of the link in most tests: a packet takes 1 ms.
const LINK: Rate = Rate::from_kbps(8_000);
/// Ten packets that leave at once, and that a link of `LINK` serves in 10 ms.
const SERVED: [(i64, i64); 10] = [
    (0, 1),
    (0, 2),
    (0, 3),
    (0, 4),
    (0, 5),
    (0, 6),
    (0, 7),
    (0, 8),
    (0, 9),
    (0, 10),
];

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-6
}

/// Reports on their way: when they come, and how much is in flight then.
struct Pending {
    at: Time,
    reports: Vec<PacketReport>,
    in_flight: Bytes,
}

/// A stream of frames that leave L apart, and the reports about them.
struct Stream {
    mimosa: Mimosa,
    now: Time,
    frame: u64,
    sequence: u64,
    /// Time from the departure of a packet that meets no queue until its report.
    round_trip: TimeDelta,
    pending: VecDeque<Pending>,
}

impl Stream {
    /// A stream whose controller knows an empty path, with a round trip of 20 ms.
    fn new(config: Config) -> Self {
        let mut stream = Self::blind(config);
        stream.frame(&[(0, 0)], Bytes::ZERO);
        stream.settle();
        stream
    }

    /// A stream whose controller knows nothing.
    fn blind(config: Config) -> Self {
        config.check().unwrap();
        let limits = Limits::new(Rate::from_kbps(80), LINK, Rate::from_kbps(100_000));
        Self {
            mimosa: Mimosa::new(config, limits),
            now: Time::from_secs(1),
            frame: 0,
            sequence: 0,
            round_trip: MS(20),
            pending: VecDeque::new(),
        }
    }

    /// A stream whose controller knows the path and the link's rate.
    fn on_link(config: Config) -> Self {
        let mut stream = Self::new(config);
        for _ in 0..4 {
            stream.mimosa.rate = LINK;
            stream.frame(&SERVED, Bytes::ZERO);
            stream.settle();
        }
        stream.mimosa.rate = LINK;
        stream
    }

    /// Sends a frame. Each of `packets` leaves the first number of milliseconds after the
    /// frame's beginning, and takes the second number of milliseconds longer than on an
    /// empty path. All packets are reported together.
    fn frame(&mut self, packets: &[(i64, i64)], in_flight: Bytes) {
        let arrivals = packets
            .iter()
            .map(|(after, waited)| (*after, Some(*waited)));
        self.frame_with_losses(&arrivals.collect::<Vec<_>>(), in_flight);
    }

    /// Sends a frame as `frame` does, with packets that are lost: those without a wait.
    fn frame_with_losses(&mut self, packets: &[(i64, Option<i64>)], in_flight: Bytes) {
        self.due();
        self.frame += 1;
        let frame = FrameId(self.frame);
        let encoded = Event::FrameEncoded {
            frame,
            size: FRAME,
            packets: u32::try_from(packets.len()).unwrap(),
        };
        self.mimosa.handle(self.now, encoded);
        let mut reports = Vec::new();
        let mut last = self.now;
        for (after, waited) in packets {
            let packet = self.packet(self.now + MS(*after));
            let outcome = waited.map_or(PacketOutcome::Lost, |waited| {
                last = last.max(packet.sent + MS(waited));
                let sent = PeerTime::from_nanos(packet.sent.as_nanos().cast_signed());
                PacketOutcome::Arrived {
                    at: sent + DELAY + MS(waited),
                    ecn: Ecn::NotEct,
                    after_loss: false,
                }
            });
            reports.push(PacketReport { packet, outcome });
        }
        self.pending.push_back(Pending {
            at: last + self.round_trip,
            reports,
            in_flight,
        });
        self.now += L;
    }

    /// Sends a packet of the newest frame.
    fn packet(&mut self, sent: Time) -> SentPacket {
        self.sequence += 1;
        let packet = SentPacket {
            sequence: Sequence(self.sequence),
            frame: FrameId(self.frame),
            kind: PacketKind::Media,
            size: PACKET,
            sent,
        };
        self.mimosa.handle(sent, Event::PacketSent(packet));
        packet
    }

    /// Gives the controller all reports that are on their way.
    fn settle(&mut self) {
        while let Some(pending) = self.pending.pop_front() {
            self.now = self.now.max(pending.at);
            let (reports, in_flight) = (&pending.reports[..], pending.in_flight);
            self.mimosa
                .handle(self.now, Event::Feedback { reports, in_flight });
        }
    }

    /// Asks for the next frame; a second call asks for the same one.
    fn due(&mut self) -> Decision {
        let frame = FrameId(self.frame + 1);
        let interval = L;
        let now = self.now;
        *self.mimosa.handle(now, Event::FrameDue { frame, interval })
    }

    fn smoothed(&self) -> f64 {
        let evidence = self.mimosa.decision.evidence;
        evidence.smoothed_utilization.unwrap()
    }
}
