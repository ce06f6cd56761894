//! A stream over a link of known rate, period by period, for tests.

use mimosa_facts::{
    Cause, Controller, Event, FrameId, PacketKind, PacketOutcome, PacketReport, SentPacket,
    Sequence,
};
use mimosa_units::{Bytes, Ecn, PeerTime, Rate, Time, TimeDelta};

/// Interval between frames: five frames are a period of 100 ms.
const INTERVAL: TimeDelta = TimeDelta::from_millis(20);
/// Round trip of an empty path.
const ROUND_TRIP: TimeDelta = TimeDelta::from_millis(4);
/// Packets in a frame.
const PACKETS: u32 = 10;

/// A stream that sends each frame spread over its interval, and reports each packet
/// once the link has served it.
pub(crate) struct Stream<C> {
    pub(crate) controller: C,
    pub(crate) now: Time,
    /// Share of the target that the encoder uses.
    pub(crate) used: f64,
    frame: u64,
    sequence: u64,
    /// When the link is free.
    free: Time,
    waiting: std::collections::VecDeque<(Time, SentPacket)>,
}

impl<C: Controller> Stream<C> {
    pub(crate) fn new(controller: C) -> Self {
        Self {
            controller,
            now: Time::from_millis(100),
            used: 1.0,
            frame: 0,
            sequence: 0,
            free: Time::ZERO,
            waiting: std::collections::VecDeque::new(),
        }
    }

    pub(crate) fn target_kbps(&self) -> u64 {
        self.controller.decision().target.as_bps() / 1_000
    }

    pub(crate) fn cause(&self) -> Cause {
        self.controller.decision().cause
    }

    /// Sends five frames over a link of `rate`, and then lets the timer expire if it is due.
    pub(crate) fn period(&mut self, rate: Rate) {
        for _ in 0..5 {
            self.frame(rate);
        }
        if self
            .controller
            .deadline()
            .is_some_and(|due| due <= self.now)
        {
            self.controller.handle(self.now, Event::Timer);
        }
    }

    /// Drops the packets that the link holds.
    pub(crate) fn reopen(&mut self) {
        self.free = self.now;
        self.waiting.clear();
    }

    fn frame(&mut self, rate: Rate) {
        let frame = FrameId(self.frame);
        self.frame += 1;
        let due = Event::FrameDue {
            frame,
            interval: INTERVAL,
        };
        let size = self.controller.handle(self.now, due).target;
        let size = size.amount_in(INTERVAL).scale(self.used);
        let encoded = Event::FrameEncoded {
            frame,
            size,
            packets: PACKETS,
        };
        self.controller.handle(self.now, encoded);
        for _ in 0..PACKETS {
            let packet = SentPacket {
                sequence: Sequence(self.sequence),
                frame,
                kind: PacketKind::Media,
                size: Bytes::new(size.get() / u64::from(PACKETS)),
                sent: self.now,
            };
            self.sequence += 1;
            self.controller.handle(self.now, Event::PacketSent(packet));
            self.free = self.free.max(self.now) + rate.transmit_time(packet.size);
            self.waiting.push_back((self.free + ROUND_TRIP, packet));
            let until = self.now + INTERVAL / PACKETS;
            self.deliver(until);
            self.now = until;
        }
    }

    fn deliver(&mut self, until: Time) {
        while let Some((at, packet)) = self.waiting.pop_front_if(|(at, _)| *at <= until) {
            let report = PacketReport {
                packet,
                outcome: PacketOutcome::Arrived {
                    at: PeerTime::from_nanos(at.as_nanos().cast_signed()),
                    ecn: Ecn::NotEct,
                    after_loss: false,
                },
            };
            let event = Event::Feedback {
                reports: &[report],
                in_flight: Bytes::ZERO,
            };
            self.controller.handle(at, event);
        }
    }
}
