//! Tests of each rule, on arrivals that the test controls.

use mimosa_facts::{PacketKind, Sequence};
use mimosa_units::Ecn;

use super::*;

const MS: fn(i64) -> TimeDelta = TimeDelta::from_millis;
const L: TimeDelta = TimeDelta::from_millis(16);
/// Delay of an empty path, with the offset between the clocks.
const DELAY: TimeDelta = TimeDelta::from_millis(-4_990);

struct Stream {
    salsify: Salsify,
    now: Time,
    frame: u64,
}

impl Stream {
    fn new(config: Config) -> Self {
        config.check().unwrap();
        let mbps = |mbps: u64| Rate::from_kbps(1_000 * mbps);
        let limits = Limits::new(Rate::from_kbps(200), mbps(10), mbps(50));
        Self {
            salsify: Salsify::new(config, limits),
            now: Time::from_secs(1),
            frame: 0,
        }
    }

    /// Asks for a frame. Returns its limit in bytes, if it has one.
    fn due(&mut self) -> Option<u64> {
        self.frame += 1;
        let frame = FrameId(self.frame);
        let due = Event::FrameDue { frame, interval: L };
        let limit = self.salsify.handle(self.now, due).frame_limit;
        limit.map(Bytes::get)
    }

    fn send(&mut self, size: u64, packets: u64) -> Vec<SentPacket> {
        let frame = FrameId(self.frame);
        let encoded = Event::FrameEncoded {
            frame,
            size: Bytes::new(size),
            packets: u32::try_from(packets).unwrap(),
        };
        self.salsify.handle(self.now, encoded);
        let packet = SentPacket {
            sequence: Sequence(0),
            frame,
            kind: PacketKind::Media,
            size: Bytes::new(size / packets),
            sent: self.now,
        };
        for _ in 0..packets {
            self.salsify.handle(self.now, Event::PacketSent(packet));
        }
        (0..packets).map(|_| packet).collect()
    }

    /// Reports that the first of `packets` arrived `first` later than on an empty path, and the
    /// others `gap` apart. The report comes 20 ms after the packets left.
    fn arrive(&mut self, packets: &[SentPacket], first: TimeDelta, gap: TimeDelta, in_flight: u64) {
        let mut at = PeerTime::from_nanos(packets[0].sent.as_nanos().cast_signed()) + DELAY + first;
        let mut reports = Vec::new();
        for packet in packets {
            let outcome = PacketOutcome::Arrived {
                at,
                ecn: Ecn::NotEct,
                after_loss: false,
            };
            reports.push(PacketReport {
                packet: *packet,
                outcome,
            });
            at = at + gap;
        }
        let event = Event::Feedback {
            reports: &reports,
            in_flight: Bytes::new(in_flight),
        };
        self.salsify.handle(packets[0].sent + MS(20), event);
    }

    fn mbps(&self) -> f64 {
        self.salsify.decision.target.as_mbps()
    }

    fn cause(&self) -> Cause {
        self.salsify.decision.cause
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * b.abs()
}

/// A stream that has measured 9.6 Mbit/s and a round trip of 20 ms.
fn measured(config: Config) -> Stream {
    let mut stream = Stream::new(config);
    stream.due();
    let packets = stream.send(24_000, 20);
    stream.arrive(&packets, MS(0), MS(1), 0);
    stream.now += MS(20);
    stream
}

#[test]
fn the_target_is_a_packet_for_each_mean_gap() {
    let mut stream = measured(Config::default());
    // The target is 1200 B each millisecond.
    assert!(close(stream.mbps(), 9.6), "{}", stream.mbps());
    assert_eq!(stream.cause(), Cause::DelayBudget);
    // The next frame's first packet leaves 20 ms and arrives 21 ms after the last one: the pause is
    // not part of the gap. Each of the two packets has a weight of a tenth.
    stream.due();
    let packets = stream.send(2_400, 2);
    stream.arrive(&packets, MS(20), MS(2), 0);
    let gap = (1.0 * 0.9 + 0.1 * 1.0) * 0.9 + 0.1 * 2.0;
    assert!(close(stream.mbps(), 9.6 / gap), "{}", stream.mbps());
}

#[test]
fn what_may_be_under_way_follows_the_gap_also_beyond_the_highest_bitrate() {
    // 1200 B each 0.1 ms are 96 Mbit/s: in a budget of 36 ms, 432 kB arrive, though the highest
    // bitrate would make 225 kB in that time.
    let config = Config {
        application_headroom: 20.0,
        ..Config::default()
    };
    let mut stream = Stream::new(config);
    stream.due();
    let packets = stream.send(24_000, 20);
    stream.arrive(&packets, MS(0), TimeDelta::from_micros(100), 0);
    stream.now += MS(20);
    assert!(close(stream.mbps(), 50.0), "{}", stream.mbps());
    assert_eq!(stream.due(), Some(100_000), "50 Mbit/s for 16 ms");
    stream.send(352_000, 320);
    assert_eq!(stream.due(), Some(80_000));
}

#[test]
fn a_frame_is_what_the_budget_holds_less_what_is_under_way() {
    // In the delay budget, L + D_min = 36 ms, 43.2 kB arrive at 9.6 Mbit/s.
    let mut stream = measured(Config::default());
    assert_eq!(stream.due(), Some(43_200));
    stream.send(13_200, 11);
    assert_eq!(stream.due(), Some(30_000));
    // In alfalfa's own delay budget of 100 ms, 120 kB arrive, which is more than the largest frame
    // allowed.
    let budget = Some(MS(100));
    let mut stream = measured(Config {
        budget,
        ..Config::default()
    });
    assert_eq!(stream.due(), Some(100_000), "50 Mbit/s for 16 ms");
    stream.send(96_000, 80);
    assert_eq!(stream.due(), Some(24_000));
}

#[test]
fn what_waits_in_the_pacer_is_under_way() {
    let mut stream = measured(Config::default());
    stream.due();
    let frame = FrameId(stream.frame);
    let encoded = Event::FrameEncoded {
        frame,
        size: Bytes::new(13_200),
        packets: 11,
    };
    stream.salsify.handle(stream.now, encoded);
    assert_eq!(stream.due(), Some(30_000));
    stream
        .salsify
        .handle(stream.now, Event::FrameGivenUp { frame });
    assert_eq!(stream.due(), Some(43_200));
}

#[test]
fn three_frames_are_skipped_and_the_fourth_is_small() {
    let mut stream = measured(Config::default());
    stream.due();
    stream.send(43_200, 36);
    let limits: Vec<_> = (0..8).map(|_| stream.due().unwrap()).collect();
    // The fourth frame is 200 kbit/s for 16 ms.
    assert_eq!(limits, [0, 0, 0, 400, 0, 0, 0, 400]);
}

#[test]
fn packets_leave_five_times_as_fast_as_they_arrive() {
    let stream = measured(Config::default());
    let expected = Pacing::Bucket {
        rate: Rate::from_kbps(48_000),
        burst: Bytes::ZERO,
    };
    assert_eq!(stream.salsify.decision.pacing, expected);
    let burst = measured(Config {
        pace: 0.0,
        ..Config::default()
    });
    assert_eq!(burst.salsify.decision.pacing, Pacing::Burst);
}

#[test]
fn small_frames_raise_the_target_to_four_times_their_own_at_most() {
    let mut stream = measured(Config::default());
    for _ in 0..300 {
        stream.due();
        // Frames of 1 Mbit/s, in packets that arrive together.
        let packets = stream.send(2_000, 2);
        stream.arrive(&packets, MS(0), MS(0), 0);
        stream.now += L;
    }
    assert!(close(stream.mbps(), 4.0), "{}", stream.mbps());
    assert_eq!(stream.cause(), Cause::ApplicationLimited);
}

#[test]
fn silence_halves_the_estimate() {
    let mut stream = measured(Config::default());
    stream.now += MS(10_000);
    stream.due();
    assert!(close(stream.mbps(), 9.6), "a pause is no silence");
    stream.send(12_000, 10);
    stream.now += MS(500);
    stream.due();
    assert!(close(stream.mbps(), 4.8), "{}", stream.mbps());
    assert_eq!(stream.cause(), Cause::FeedbackTimeout);
}

#[test]
fn values_without_meaning_are_refused() {
    let reference = Config::default();
    for (config, key) in [
        (
            Config {
                budget: Some(TimeDelta::ZERO),
                ..reference
            },
            "budget",
        ),
        (
            Config {
                smoothing: 0.0,
                ..reference
            },
            "smoothing",
        ),
        (
            Config {
                pace: 0.5,
                ..reference
            },
            "pace",
        ),
        (
            Config {
                application_headroom: f64::NAN,
                ..reference
            },
            "application_headroom",
        ),
    ] {
        assert_eq!(config.check().unwrap_err().key, key);
    }
}
