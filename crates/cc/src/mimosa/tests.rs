//! Each rule on frames whose arrivals the test decides.

use mimosa_control::Sequence;
use mimosa_units::Ecn;

use super::*;

const MS: fn(i64) -> TimeDelta = TimeDelta::from_millis;
/// L; a frame at 8 Mbit/s has 10 kB.
const L: TimeDelta = TimeDelta::from_millis(10);
const PACKET: Bytes = Bytes::new(1_000);
/// Delay of an empty path, with the clocks' difference.
const DELAY: TimeDelta = TimeDelta::from_millis(7_010);

struct Stream {
    mimosa: Mimosa,
    now: Time,
    frame: u64,
    sequence: u64,
}

impl Stream {
    fn new(config: Config) -> Self {
        config.check().unwrap();
        let rate = |mbps: u64| Rate::from_kbps(1_000 * mbps);
        let limits = Limits::new(Rate::from_kbps(80), rate(8), rate(100));
        let mut stream = Self {
            mimosa: Mimosa::new(config, limits),
            now: Time::from_secs(1),
            frame: 0,
            sequence: 0,
        };
        // An empty path.
        stream.frame(&[(0, 0)], Bytes::ZERO);
        stream
    }

    /// Sends a frame whose packets leave so many milliseconds after its beginning and meet
    /// such a queue, in milliseconds; reports all of them 20 ms after the beginning with so
    /// much in flight. The next frame is due L after it.
    fn frame(&mut self, packets: &[(i64, i64)], in_flight: Bytes) {
        self.frame += 1;
        let frame = FrameId(self.frame);
        let interval = L;
        self.mimosa
            .handle(self.now, Event::FrameDue { frame, interval });
        let encoded = Event::FrameEncoded {
            frame,
            size: Bytes::new(10_000),
            packets: u32::try_from(packets.len()).unwrap(),
        };
        self.mimosa.handle(self.now, encoded);
        let mut reports = Vec::new();
        for (after, queue) in packets {
            self.sequence += 1;
            let packet = SentPacket {
                sequence: Sequence(self.sequence),
                frame,
                kind: PacketKind::Media,
                size: PACKET,
                sent: self.now + MS(*after),
            };
            self.mimosa.handle(packet.sent, Event::PacketSent(packet));
            let sent = PeerTime::from_nanos(packet.sent.as_nanos().cast_signed());
            let outcome = Outcome::Arrived {
                at: sent + DELAY + MS(*queue),
                ecn: Ecn::NotEct,
                after_loss: false,
            };
            reports.push(PacketReport { packet, outcome });
        }
        let now = self.now + MS(20);
        let reports = &reports;
        self.mimosa
            .handle(now, Event::Feedback { reports, in_flight });
        self.now = now;
    }

    fn due(&mut self) -> &Decision {
        let frame = FrameId(self.frame + 1);
        let interval = L;
        self.mimosa
            .handle(self.now, Event::FrameDue { frame, interval })
    }

    fn share(&self) -> f64 {
        self.mimosa.decision.evidence.utilization.unwrap()
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9
}

#[test]
fn the_link_is_busy_with_what_each_packet_meets_up_to_the_next() {
    let mut stream = Stream::new(Config::default());
    // 1 ms of 1, 2 of 3 up to the next packet, and 1: 4 of 10 ms.
    stream.frame(&[(0, 1), (2, 3), (4, 1)], Bytes::ZERO);
    assert!(close(stream.share(), 0.4), "{}", stream.share());
    // A burst: what its last packet meets, which is Pudica's equation 1.
    stream.frame(&[(0, 1), (0, 2), (0, 3), (0, 6)], Bytes::ZERO);
    assert!(close(stream.share(), 0.6), "{}", stream.share());
    // A queue that stands at the end counts whole.
    stream.frame(&[(0, 12), (9, 12)], Bytes::ZERO);
    assert!(close(stream.share(), 2.1), "{}", stream.share());
}

#[test]
fn a_round_covers_a_part_of_the_distance_to_the_target() {
    for (queue, gain) in [(4, 0.5), (9, 0.4)] {
        let config = Config {
            smoothing_window: MS(1),
            application_headroom: 10.0,
            ..Config::default()
        };
        let mut stream = Stream::new(config);
        stream.mimosa.rate = Rate::from_kbps(8_000);
        stream.mimosa.hold_until = FrameId(0);
        stream.frame(&[(0, queue)], Bytes::ZERO);
        // Nothing is known of the link: no pull.
        let share = queue as f64 / 10.0;
        let expected = 8.0 * libm::pow(0.95 / share, gain);
        let rate = stream.mimosa.rate.as_mbps();
        assert!((rate - expected).abs() < 1e-3, "{rate}, not {expected}");
        assert_eq!(stream.mimosa.cause, Cause::BelowQueueTarget);
    }
}

#[test]
fn a_flow_with_a_small_share_of_the_link_grows_where_one_with_all_of_it_rests() {
    let mut mimosa = Stream::new(Config::default()).mimosa;
    let mut at_target = |own: u64| {
        mimosa.rate = Rate::from_kbps(own);
        mimosa.factor(0.95)
    };
    assert!(close(at_target(8_000), 1.0), "no link is known");
    // Ten packets behind one another at 8 Mbit/s.
    for index in 0..10 {
        let at = PeerTime::from_nanos(0) + DELAY + MS(index);
        mimosa
            .service
            .arrived(Time::ZERO, Time::ZERO, at, PACKET, DELAY - MS(1));
    }
    mimosa.service.confirm();
    assert_eq!(mimosa.service.fastest(), Rate::from_kbps(8_000));
    let mut at_target = |own: u64| {
        mimosa.rate = Rate::from_kbps(own);
        mimosa.factor(0.95)
    };
    assert!(close(at_target(8_000), 1.0));
    assert!(close(at_target(2_000), libm::exp(0.05 * 0.75)));
    assert!(close(at_target(80_000), 1.0), "no more than all");
}

/// Ten packets at once, which the link serves in 10 ms: 8 Mbit/s.
const SERVED: [(i64, i64); 10] = [
    (0, 0),
    (0, 1),
    (0, 2),
    (0, 3),
    (0, 4),
    (0, 5),
    (0, 6),
    (0, 7),
    (0, 8),
    (0, 9),
];

#[test]
fn a_backlog_makes_the_next_frame_smaller_by_itself() {
    let mut stream = Stream::new(Config::default());
    stream.mimosa.rate = Rate::from_kbps(8_000);
    // The smallest round trip is 20 ms: 20 kB of 8 Mbit/s are no backlog.
    stream.frame(&SERVED, Bytes::new(20_000));
    stream.mimosa.rate = Rate::from_kbps(8_000);
    assert_eq!(stream.due().frame_limit, None);
    // 4 kB are: 0.95 of 10 kB less them.
    stream.frame(&SERVED, Bytes::new(24_000));
    stream.mimosa.rate = Rate::from_kbps(8_000);
    let decision = *stream.due();
    assert_eq!(decision.frame_limit, Some(Bytes::new(5_500)));
    assert_eq!(decision.cause, Cause::FrameFallback);
    assert_eq!(decision.evidence.backlog, Some(Bytes::new(4_000)));
    // As much as a frame leaves the smallest one, 80 kbit/s.
    stream.frame(&SERVED, Bytes::new(40_000));
    assert_eq!(stream.due().frame_limit, Some(Bytes::new(100)));
}

#[test]
fn a_frame_that_was_held_up_is_no_queue() {
    let mut stream = Stream::new(Config::default());
    stream.frame(&SERVED, Bytes::ZERO);
    stream.frame(&SERVED, Bytes::ZERO);
    let before = stream
        .mimosa
        .decision
        .evidence
        .smoothed_utilization
        .unwrap();
    // All at once, 30 ms late.
    stream.frame(&[(0, 30), (0, 30), (0, 30), (0, 30)], Bytes::ZERO);
    let after = stream
        .mimosa
        .decision
        .evidence
        .smoothed_utilization
        .unwrap();
    // By its share, 3.0, it would be above 1.5.
    assert!(after < before + 0.3, "{before}, {after}");
    // Spaced as the link serves it, it is one.
    stream.frame(&[(0, 30), (0, 31), (0, 32), (0, 33)], Bytes::ZERO);
    let queued = stream
        .mimosa
        .decision
        .evidence
        .smoothed_utilization
        .unwrap();
    assert!(queued > 1.5, "{before}, {queued}");
}

#[test]
fn an_overdue_frame_halves_the_next_and_a_stalled_one_leaves_the_least() {
    let mut stream = Stream::new(Config::default());
    stream.mimosa.rate = Rate::from_kbps(8_000);
    let frame = FrameId(stream.frame + 1);
    stream.due();
    let encoded = Event::FrameEncoded {
        frame,
        size: PACKET,
        packets: 1,
    };
    let sent = stream.now;
    stream.mimosa.handle(sent, encoded);
    let packet = SentPacket {
        sequence: Sequence(1_000),
        frame,
        kind: PacketKind::Media,
        size: PACKET,
        sent,
    };
    stream.mimosa.handle(sent, Event::PacketSent(packet));
    stream.frame += 1;
    // The smallest round trip is 20 ms; overdue 20 ms after it, stalled 35.
    for (age, expected) in [(40, None), (41, Some(5_000)), (56, Some(100))] {
        stream.now = sent + MS(age);
        let limit = stream.due().frame_limit;
        assert_eq!(limit, expected.map(Bytes::new), "after {age} ms");
    }
    // Silence: halved, and not again at once.
    stream.now = sent + MS(121);
    assert_eq!(stream.due().target, Rate::from_kbps(4_000));
    stream.now = sent + MS(131);
    assert_eq!(stream.due().target, Rate::from_kbps(4_000));
}

#[test]
fn values_without_meaning_are_refused() {
    let plain = Config::default();
    assert_eq!(plain.check(), Ok(()));
    #[rustfmt::skip]
    let wrong = [
        ("target_share", Config { target_share: 1.5, ..plain }),
        ("pull", Config { pull: f64::NAN, ..plain }),
        ("pace_gain", Config { pace_gain: 0.5, ..plain }),
        ("silence", Config { silence: -1.0, ..plain }),
        ("smoothing_window", Config { smoothing_window: TimeDelta::ZERO, ..plain }),
        ("probes", Config { probes: 65, ..plain }),
    ];
    for (key, config) in wrong {
        assert_eq!(config.check().unwrap_err().key, key);
    }
}
