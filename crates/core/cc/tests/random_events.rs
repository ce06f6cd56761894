//! Tests of every controller under random events, many of which no sound caller gives:
//! feedback that is lost, late, repeated, out of order or about packets that were never
//! sent, silence of ten seconds, and time that stands still.

#![allow(clippy::unwrap_used, reason = "a test may")]

use mimosa_cc::{NAMES, build};
use mimosa_facts::{
    Controller, Event, FrameId, Limits, Pacing, PacketKind, PacketOutcome, PacketReport,
    SentPacket, Sequence,
};
use mimosa_units::random::SplitMix;
use mimosa_units::{Bytes, Ecn, PeerTime, Rate, Time, TimeDelta};
use serde::de::value::{Error, MapDeserializer};

/// Most sent packets that feedback may still be about.
const REMEMBERED: usize = 400;

struct Stream {
    name: &'static str,
    controller: Box<dyn Controller>,
    limits: Limits,
    random: SplitMix,
    now: Time,
    frame: u64,
    sequence: u64,
    sent: Vec<SentPacket>,
    in_flight: u64,
}

impl Stream {
    fn new(name: &'static str, limits: Limits, seed: u64) -> Self {
        let none = MapDeserializer::<_, Error>::new(std::iter::empty::<(&str, f64)>());
        Self {
            name,
            controller: build(name, none, limits).unwrap(),
            limits,
            random: SplitMix::new(seed),
            now: Time::ZERO,
            frame: 0,
            sequence: 0,
            sent: Vec::new(),
            in_flight: 0,
        }
    }

    fn step(&mut self) {
        match self.random.below(20) {
            0..=4 => self.frame(),
            5..=11 => self.feedback(),
            12 => self.give(Event::Timer),
            13 => {
                let frame = FrameId(self.frame.saturating_sub(self.random.below(30)));
                self.give(Event::FrameDecoded { frame });
            }
            14 => {
                let frame = FrameId(self.frame.saturating_sub(self.random.below(30)));
                self.give(Event::FrameGivenUp { frame });
            }
            15 if self.random.one_in(10) => self.now += TimeDelta::from_millis(10_000),
            _ => {
                let nanos = self.random.below(20_000_000).cast_signed();
                self.now += TimeDelta::from_nanos(nanos);
            }
        }
    }

    fn frame(&mut self) {
        self.frame += 1;
        let frame = FrameId(self.frame);
        let interval = match self.random.below(20) {
            0 => TimeDelta::ZERO,
            1 => TimeDelta::from_nanos(self.random.any().cast_signed() & i64::MAX),
            _ => TimeDelta::from_micros(16_667),
        };
        self.give(Event::FrameDue { frame, interval });
        let decision = *self.controller.decision();
        let granted = decision
            .frame_limit
            .unwrap_or_else(|| decision.target.amount_in(interval))
            .get();
        let size = match self.random.below(10) {
            0 => 0,
            1 => self.random.any(),
            2 => granted / 10,
            _ => granted,
        };
        let packets = 1 + self.random.below(60);
        let encoded = Event::FrameEncoded {
            frame,
            size: Bytes::new(size),
            packets: u32::try_from(packets).unwrap(),
        };
        // Some frames come in parts, and the last part comes while packets leave.
        let last_part = self.random.one_in(3).then(|| self.random.below(packets));
        if last_part.is_some() {
            let expected = 1 + self.random.below(60);
            self.give(Event::FrameBegun {
                frame,
                size: Bytes::new(granted),
                packets: u32::try_from(expected).unwrap(),
            });
        } else {
            self.give(encoded);
        }
        let kinds = [
            PacketKind::Media,
            PacketKind::Media,
            PacketKind::Repair,
            PacketKind::Retransmission,
            PacketKind::Probe,
        ];
        for index in 0..packets {
            if last_part == Some(index) {
                self.give(encoded);
            }
            let kind = kinds[usize::try_from(self.random.below(5)).unwrap()];
            self.sequence += 1;
            let packet = SentPacket {
                sequence: Sequence(self.sequence),
                frame,
                kind,
                size: Bytes::new(size / packets),
                sent: self.now,
            };
            self.in_flight = self.in_flight.saturating_add(packet.size.get());
            self.give(Event::PacketSent(packet));
            if self.sent.len() == REMEMBERED {
                self.sent.remove(0);
            }
            self.sent.push(packet);
            self.now += TimeDelta::from_nanos(self.random.below(1_000_000).cast_signed());
        }
    }

    fn feedback(&mut self) {
        let mut reports = Vec::new();
        for _ in 0..self.random.below(40) {
            let packet = if self.sent.is_empty() || self.random.one_in(50) {
                SentPacket {
                    sequence: Sequence(self.random.any()),
                    frame: FrameId(self.random.any()),
                    kind: PacketKind::Media,
                    size: Bytes::new(self.random.any()),
                    sent: Time::from_nanos(self.random.any()),
                }
            } else {
                let count = self.sent.len() as u64;
                self.sent[usize::try_from(self.random.below(count)).unwrap()]
            };
            let delay = match self.random.below(20) {
                0 => 0,
                1 => self.random.any().cast_signed(),
                _ => self.random.below(60_000_000).cast_signed(),
            };
            let outcome = if self.random.one_in(8) {
                PacketOutcome::Lost
            } else {
                let arrives = packet.sent.as_nanos().cast_signed().saturating_add(delay);
                PacketOutcome::Arrived {
                    at: PeerTime::from_nanos(arrives),
                    ecn: if self.random.one_in(5) {
                        Ecn::Ce
                    } else {
                        Ecn::Ect1
                    },
                    after_loss: self.random.one_in(20),
                }
            };
            self.in_flight = self.in_flight.saturating_sub(packet.size.get());
            reports.push(PacketReport { packet, outcome });
        }
        let in_flight = if self.random.one_in(50) {
            self.random.any()
        } else {
            self.in_flight
        };
        self.give(Event::Feedback {
            reports: &reports,
            in_flight: Bytes::new(in_flight),
        });
    }

    fn give(&mut self, event: Event<'_>) {
        let decision = *self.controller.handle(self.now, event);
        let at = format!("{} at {} on {event:?}: {decision:?}", self.name, self.now);
        assert_eq!(self.limits.clamp(decision.target), decision.target, "{at}");
        assert_ne!(decision.window, Some(Bytes::ZERO), "{at}");
        if let Pacing::Bucket { rate, .. } = decision.pacing {
            assert!(rate > Rate::ZERO, "{at}");
        }
        let evidence = decision.evidence;
        for share in [evidence.utilization, evidence.smoothed_utilization]
            .into_iter()
            .flatten()
        {
            assert!(share.is_finite() && share >= 0.0, "{at}");
        }
        let is_backwards = evidence
            .queue_delay
            .is_some_and(|delay| delay < TimeDelta::ZERO);
        assert!(!is_backwards, "{at}");
        let due = self.controller.deadline();
        if event == Event::Timer {
            assert!(
                due.is_none_or(|due| due > self.now),
                "{at}: due again at {due:?}"
            );
        }
    }
}

#[test]
fn no_sequence_of_events_makes_a_controller_leave_its_limits() {
    let kbps = Rate::from_kbps;
    let limits = [
        Limits::new(kbps(200), kbps(5_000), kbps(50_000)),
        Limits::new(kbps(1), kbps(1), kbps(1)),
        Limits::new(kbps(8), kbps(100), Rate::MAX),
    ];
    for &name in NAMES {
        for limits in limits {
            for seed in 1..=20 {
                let mut stream = Stream::new(name, limits, seed);
                for _ in 0..1_500 {
                    stream.step();
                }
            }
        }
    }
}

/// The same events give the same decisions.
#[test]
fn controllers_are_deterministic() {
    let mbps = |mbps: u64| Rate::from_kbps(1_000 * mbps);
    let limits = Limits::new(mbps(1), mbps(5), mbps(50));
    for &name in NAMES {
        let mut both = [7, 7].map(|seed| Stream::new(name, limits, seed));
        for _ in 0..2_000 {
            let [first, second] = &mut both;
            first.step();
            second.step();
            assert_eq!(
                first.controller.decision(),
                second.controller.decision(),
                "{name}"
            );
        }
    }
}
