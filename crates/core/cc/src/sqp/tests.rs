//! Tests of each rule, on trains whose arrivals the test controls.

use mimosa_facts::{PacketKind, Sequence};
use mimosa_units::Ecn;

use super::*;

const MS: fn(i64) -> TimeDelta = TimeDelta::from_millis;
const L: TimeDelta = TimeDelta::from_millis(16);
/// Delay of an empty path, with the offset between the clocks.
const DELAY: TimeDelta = TimeDelta::from_millis(7_010);

struct Stream {
    sqp: Sqp,
    now: Time,
    frame: u64,
}

impl Stream {
    fn new(config: Config, mbps: u64) -> Self {
        config.check().unwrap();
        let rate = |mbps: u64| Rate::from_kbps(1_000 * mbps);
        let limits = Limits::new(Rate::from_kbps(200), rate(mbps), rate(50));
        Self {
            sqp: Sqp::new(config, limits),
            now: Time::from_secs(1),
            frame: 0,
        }
    }

    /// Sends a frame of `size` bytes at once, with one packet for each of `delays`, and reports the
    /// packets 20 ms later. Each delay is in addition to that of an empty path; `None` is a packet
    /// that is lost.
    fn frame(&mut self, size: u64, delays: &[Option<TimeDelta>]) {
        self.send(size, delays.len());
        let frame = FrameId(self.frame);
        let each = size / delays.len() as u64;
        for delay in delays {
            let packet = packet(frame, each, self.now);
            let outcome = delay.map_or(PacketOutcome::Lost, |delay| PacketOutcome::Arrived {
                at: PeerTime::from_nanos(self.now.as_nanos().cast_signed()) + DELAY + delay,
                ecn: Ecn::NotEct,
                after_loss: false,
            });
            let event = Event::Feedback {
                reports: &[PacketReport { packet, outcome }],
                in_flight: Bytes::ZERO,
            };
            self.sqp.handle(self.now + MS(20), event);
        }
        self.now += MS(20);
    }

    fn send(&mut self, size: u64, packets: usize) {
        self.frame += 1;
        let frame = FrameId(self.frame);
        self.sqp
            .handle(self.now, Event::FrameDue { frame, interval: L });
        let encoded = Event::FrameEncoded {
            frame,
            size: Bytes::new(size),
            packets: u32::try_from(packets).unwrap(),
        };
        self.sqp.handle(self.now, encoded);
        for _ in 0..packets {
            let packet = packet(frame, size / packets as u64, self.now);
            self.sqp.handle(self.now, Event::PacketSent(packet));
        }
    }

    fn mbps(&self) -> f64 {
        self.sqp.decision.target.as_mbps()
    }

    fn sample(&self) -> f64 {
        self.sqp.decision.evidence.service_rate.unwrap().as_mbps()
    }
}

fn packet(frame: FrameId, size: u64, sent: Time) -> SentPacket {
    SentPacket {
        sequence: Sequence(frame.0),
        frame,
        kind: PacketKind::Media,
        size: Bytes::new(size),
        sent,
    }
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "stands beside None, which is lost"
)]
fn at(ms: i64) -> Option<TimeDelta> {
    Some(MS(ms))
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-4 * b.abs()
}

#[test]
fn a_sample_is_the_size_over_the_time_beyond_the_least_delay() {
    let mut stream = Stream::new(Config::default(), 10);
    // 20 kB, which is 10 Mbit/s, in 10 ms: the sample is 16 Mbit/s, and the aim is 14.4 Mbit/s.
    stream.frame(20_000, &[at(0), at(5), at(10)]);
    assert!(close(stream.sample(), 16.0), "{}", stream.sample());
    // 10 + 0.32 (0.25 (1.44 - 1) - (1 / 1.44 - 1))
    let expected = 10.0 + 0.32 * (0.25 * 0.44 - (1.0 / 1.44 - 1.0));
    assert!(close(stream.mbps(), expected), "{}", stream.mbps());
    assert_eq!(stream.sqp.decision.cause, Cause::TowardsEstimate);
}

#[test]
fn an_undersized_frame_is_continued_at_the_rate_of_its_arrivals() {
    let mut stream = Stream::new(Config::default(), 10);
    // The frame has a quarter of 20 kB, so gamma is 4, and the sample is 20 kB in 6 ms + 3 * 4 ms.
    stream.frame(2_000, &[at(0)]);
    stream.sqp.decision.target = Rate::from_kbps(10_000);
    stream.frame(5_000, &[at(2), at(6)]);
    assert!(close(stream.sample(), 160.0 / 18.0), "{}", stream.sample());
}

#[test]
fn no_sample_exceeds_the_pace() {
    let mut stream = Stream::new(Config::default(), 10);
    stream.frame(20_000, &[at(0), at(1)]);
    assert!(close(stream.sample(), 20.0), "{}", stream.sample());
    stream.frame(20_000, &[at(0)]);
    assert!(stream.sample() < 21.0);
}

#[test]
fn a_step_down_is_the_longer_the_later_the_frame() {
    let mut stream = Stream::new(Config::default(), 20);
    // 40 kB in 64 ms: the sample is 5 Mbit/s, and the aim is 4.5 Mbit/s.
    stream.frame(40_000, &[at(0), at(64)]);
    let ratio = 4.5 / 20.0;
    let expected = 20.0 + 0.32 * (0.25 * (ratio - 1.0) - (1.0 / ratio - 1.0));
    assert!(close(stream.mbps(), expected), "{}", stream.mbps());
}

#[test]
fn what_is_lost_makes_a_frame_undersized() {
    let mut stream = Stream::new(Config::default(), 10);
    // Half of the frame arrives over 5 ms, which counts as if the rest took as long again.
    stream.frame(20_000, &[at(0), None, None, at(5)]);
    assert!(close(stream.sample(), 16.0), "{}", stream.sample());
    let before = stream.mbps();
    stream.frame(20_000, &[None, None]);
    assert!(
        close(stream.mbps(), before),
        "nothing arrived, so nothing is known"
    );
}

#[test]
fn the_least_delay_is_forgotten_after_two_round_trips() {
    let mut stream = Stream::new(Config::default(), 10);
    stream.frame(20_000, &[at(0), at(10)]);
    // With a standing queue of 30 ms, a sample is 20 kB in 40 ms at first, and later in 10 ms.
    stream.frame(20_000, &[at(30), at(40)]);
    assert!(stream.sample() < 4.2, "{}", stream.sample());
    for _ in 0..4 {
        stream.frame(20_000, &[at(30), at(40)]);
    }
    assert!(
        (15.5..=16.5).contains(&stream.sample()),
        "{}",
        stream.sample()
    );
}

#[test]
fn packets_leave_at_twice_the_bitrate() {
    let stream = Stream::new(Config::default(), 10);
    let expected = Pacing::Bucket {
        rate: Rate::from_kbps(20_000),
        burst: Bytes::ZERO,
    };
    assert_eq!(stream.sqp.decision.pacing, expected);
}

#[test]
fn small_frames_raise_the_rate_to_four_times_their_own_at_most() {
    let mut stream = Stream::new(Config::default(), 5);
    // 4 kB each 16 ms are 2 Mbit/s.
    for _ in 0..2_000 {
        stream.frame(4_000, &[at(0), at(0)]);
    }
    assert!(close(stream.mbps(), 8.0), "{}", stream.mbps());
    assert_eq!(stream.sqp.decision.cause, Cause::ApplicationLimited);
}

#[test]
fn silence_halves_the_bitrate() {
    let mut stream = Stream::new(Config::default(), 10);
    stream.frame(20_000, &[at(0), at(16)]);
    let before = stream.mbps();
    stream.now += MS(10_000);
    stream.send(20_000, 3);
    assert!(close(stream.mbps(), before), "a pause is no silence");
    stream.now += MS(500);
    stream.send(20_000, 3);
    assert!(close(stream.mbps(), before / 2.0));
    assert_eq!(stream.sqp.decision.cause, Cause::FeedbackTimeout);
}

#[test]
fn values_without_meaning_are_refused() {
    let reference = Config::default();
    for (config, key) in [
        (
            Config {
                target: 0.0,
                ..reference
            },
            "target",
        ),
        (
            Config {
                pace: f64::NAN,
                ..reference
            },
            "pace",
        ),
        (
            Config {
                step: Rate::ZERO,
                ..reference
            },
            "step",
        ),
        (
            Config {
                min_delay_rtts: 0.0,
                ..reference
            },
            "min_delay_rtts",
        ),
    ] {
        assert_eq!(config.check().unwrap_err().key, key);
    }
}
