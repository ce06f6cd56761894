//! Every pacer under random events, many of which no sound caller gives: feedback that is
//! late, repeated, out of order or about packets never sent, silence of ten seconds, sizes
//! of any magnitude and time that stands still.

#![allow(clippy::unwrap_used, reason = "a test may")]

use mimosa_facts::{
    Decision, Event, FrameId, Pacing, PacketKind, PacketOutcome, PacketReport, SentPacket, Sequence,
};
use mimosa_stream::pace::{Bounds, NAMES, Pacer, Policy, Rule};
use mimosa_units::random::SplitMix;
use mimosa_units::{Bytes, Ecn, PeerTime, Rate, Time, TimeDelta};

/// Packets that feedback may still speak of.
const REMEMBERED: usize = 400;

struct Stream {
    name: &'static str,
    rule: Rule,
    random: SplitMix,
    /// Numbers of any magnitude occur.
    is_wild: bool,
    now: Time,
    decision: Decision,
    frame: u64,
    sequence: u64,
    sent: Vec<SentPacket>,
    /// The largest frame and the largest share of an interval so far.
    largest: Bytes,
}

impl Stream {
    fn new(name: &'static str, seed: u64, is_wild: bool) -> Self {
        Self {
            name,
            rule: Policy::from_name(name).unwrap().start(),
            random: SplitMix::new(seed),
            is_wild,
            now: Time::ZERO,
            decision: Decision::starting_at(Rate::from_kbps(5_000)),
            frame: 0,
            sequence: 0,
            sent: Vec::new(),
            largest: Bytes::ZERO,
        }
    }

    fn step(&mut self) {
        match self.random.below(20) {
            0..=5 => self.frame(),
            6..=13 => self.feedback(),
            14 => self.give(&Event::Timer),
            15 if self.random.one_in(10) => self.now += TimeDelta::from_millis(10_000),
            _ => {
                let nanos = self.random.below(30_000_000).cast_signed();
                self.now += TimeDelta::from_nanos(nanos);
            }
        }
    }

    fn frame(&mut self) {
        self.frame += 1;
        let frame = FrameId(self.frame);
        self.decision.target = Rate::from_kbps(100 + self.random.below(60_000));
        let interval = if self.is_wild && self.random.one_in(20) {
            TimeDelta::from_nanos((self.random.any() >> 1).cast_signed())
        } else {
            TimeDelta::from_millis(33)
        };
        let granted = self.decision.target.amount_in(interval);
        self.largest = self.largest.max(granted);
        self.give(&Event::FrameDue { frame, interval });
        let size = match self.random.below(10) {
            0 if self.is_wild => self.random.any(),
            1 => granted.get() / 10,
            2 => granted.get().saturating_mul(5),
            _ => granted.get(),
        };
        self.largest = self.largest.max(Bytes::new(size));
        let packets = 1 + self.random.below(60);
        self.give(&Event::FrameEncoded {
            frame,
            size: Bytes::new(size),
            packets: u32::try_from(packets).unwrap(),
        });
        for _ in 0..packets {
            self.sequence += 1;
            let packet = SentPacket {
                sequence: Sequence(self.sequence),
                frame,
                kind: PacketKind::Media,
                size: Bytes::new(size / packets),
                sent: self.now,
            };
            self.give(&Event::PacketSent(packet));
            if self.sent.len() == REMEMBERED {
                self.sent.remove(0);
            }
            self.sent.push(packet);
            if self.random.one_in(3) {
                self.now += TimeDelta::from_nanos(self.random.below(1_000_000).cast_signed());
            }
        }
    }

    fn feedback(&mut self) {
        let mut reports = Vec::new();
        for _ in 0..self.random.below(40) {
            let packet = if self.sent.is_empty() || self.is_wild && self.random.one_in(50) {
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
                0 if self.is_wild => self.random.any().cast_signed(),
                _ => self.random.below(60_000_000).cast_signed(),
            };
            let outcome = if self.random.one_in(30) {
                PacketOutcome::Lost
            } else {
                let arrives = packet.sent.as_nanos().cast_signed().saturating_add(delay);
                PacketOutcome::Arrived {
                    at: PeerTime::from_nanos(arrives),
                    ecn: Ecn::NotEct,
                    after_loss: self.random.one_in(20),
                }
            };
            reports.push(PacketReport { packet, outcome });
        }
        self.give(&Event::Feedback {
            reports: &reports,
            in_flight: Bytes::ZERO,
        });
    }

    fn give(&mut self, event: &Event<'_>) {
        self.rule.handle(self.now, event, &self.decision);
        let waiting = Bytes::new(self.random.below(1_000_000));
        let pacing = self.rule.pacing(&self.decision, waiting);
        let at = format!("{} at {}: {pacing:?}", self.name, self.now);
        match pacing {
            Pacing::Bucket { rate, .. } => assert!(rate > Rate::ZERO, "{at}"),
            Pacing::Spread { over, .. } => assert!(over >= TimeDelta::ZERO, "{at}"),
            Pacing::Burst => {}
        }
        if let (Some(change), Pacing::Bucket { burst, .. }) = (self.rule.bucket(), pacing) {
            assert_eq!(change.depth, burst, "{at}");
            // One step beyond the largest that a frame was or could have been.
            let most = self.largest + Bytes::new(1_200);
            assert!(burst <= most, "{at}: more than {most}");
            let delay = change.queue_delay.unwrap_or(TimeDelta::ZERO);
            assert!(delay >= TimeDelta::ZERO, "{at}: {change:?}");
        }
    }
}

#[test]
fn no_sequence_of_events_makes_a_bucket_negative_or_unbounded() {
    for &name in NAMES {
        for is_wild in [false, true] {
            for seed in 1..=8 {
                let mut stream = Stream::new(name, seed, is_wild);
                for _ in 0..1_500 {
                    stream.step();
                }
            }
        }
    }
}

/// The random events do reach every rule.
#[test]
fn the_events_reach_every_cause() {
    let mut causes = Vec::new();
    for seed in 1..=20 {
        let mut stream = Stream::new("ace-n", seed, false);
        for _ in 0..1_500 {
            stream.step();
            causes.extend(stream.rule.bucket().map(|change| change.cause.as_str()));
        }
    }
    causes.sort_unstable();
    causes.dedup();
    assert_eq!(
        causes,
        [
            "additive-increase",
            "application-limited",
            "await-feedback",
            "fast-recovery",
            "loss",
            "queue-threshold",
            "start"
        ]
    );
}

/// The same events give the same pacings.
#[test]
fn rules_are_deterministic() {
    for &name in NAMES {
        let mut both = [7, 7].map(|seed| Stream::new(name, seed, true));
        for _ in 0..2_000 {
            let [first, second] = &mut both;
            first.step();
            second.step();
            let pacing = |stream: &Stream| stream.rule.pacing(&stream.decision, Bytes::ZERO);
            assert_eq!(pacing(first), pacing(second), "{name}");
            assert_eq!(first.rule.bucket(), second.rule.bucket(), "{name}");
        }
    }
}

/// A pacer whose bucket changes at random while packets wait neither loses a packet nor
/// sends more than the bucket and the rate allow.
#[test]
fn a_changing_bucket_lets_no_more_through_than_it_may() {
    for seed in 1..=50 {
        let mut random = SplitMix::new(seed);
        let mut pacer = Pacer::new(Bounds {
            longest_wait: TimeDelta::from_millis(1_000_000),
            most_packets: usize::MAX,
            ..Bounds::default()
        });
        let packet = Bytes::new(1_000);
        let (mut now, mut pushed, mut popped) = (Time::ZERO, 0, 0);
        let mut rate = Rate::from_kbps(1_000);
        // What may have left: all that the bucket ever leaked, its greatest depth and a
        // packet.
        let (mut leaked, mut deepest) = (0.0, 0.0);
        for id in 0..300 {
            rate = Rate::from_kbps(1 + random.below(50_000)).min(rate.scale(4.0));
            let burst = Bytes::new(random.below(50_000));
            deepest = f64::max(deepest, burst.get() as f64);
            pacer.set_bucket(now, rate, burst);
            let packets = u32::try_from(random.below(20)).unwrap();
            pushed += u64::from(packets);
            let size = Bytes::new(u64::from(packets) * packet.get());
            pacer.push_frame(now, FrameId(id), size, (0..packets).map(|i| (packet, i)));
            let end = now + TimeDelta::from_nanos(random.below(30_000_000).cast_signed());
            while let Some(due) = pacer.next_due(Bytes::MAX).filter(|due| *due <= end) {
                pacer.pop(due.max(now), Bytes::MAX).expect("due means due");
                popped += 1;
            }
            leaked += rate.as_bps() as f64 / 8.0 * end.since(now).as_secs();
            now = end;
            // Rounding: a byte for each change, and a nanosecond for each packet.
            let may = leaked + deepest + 1_000.0 + (id + 1) as f64 * 10.0;
            assert!(popped as f64 * 1_000.0 <= may, "seed {seed}, frame {id}");
        }
        assert_eq!(pacer.waiting(), Bytes::new((pushed - popped) * 1_000));
        pacer.set_bucket(now, Rate::from_kbps(50_000), Bytes::ZERO);
        while let Some(due) = pacer.next_due(Bytes::MAX) {
            pacer.pop(due, Bytes::MAX).expect("due means due");
            popped += 1;
        }
        assert_eq!(pushed, popped, "seed {seed}");
    }
}
