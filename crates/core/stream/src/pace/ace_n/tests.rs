//! Algorithm 1 by sequences worked out by hand.

use mimosa_facts::{FrameId, PacketKind, SentPacket, Sequence};
use mimosa_units::{Ecn, PeerTime};

use super::*;

const MS: fn(i64) -> TimeDelta = TimeDelta::from_millis;

/// Frames of 10 kB each 10 ms: before a train has told the capacity, a millisecond of queue
/// is a packet of 1000 bytes.
struct Stream {
    ace_n: AceN,
    decision: Decision,
    sequence: u64,
}

fn config() -> Config {
    Config {
        packet: Bytes::new(1_000),
        ..Config::default()
    }
}

impl Stream {
    fn new(config: Config) -> Self {
        Self {
            ace_n: AceN::new(config),
            decision: Decision::starting_at(Rate::from_kbps(8_000)),
            sequence: 0,
        }
    }

    /// A frame of `size` is due and encoded; says why the bucket is what it is, and its
    /// depth.
    fn frame(&mut self, at_ms: u64, size: u64) -> (BucketCause, u64) {
        let (now, frame) = (Time::from_millis(at_ms), FrameId(0));
        let interval = MS(10);
        self.give(now, &Event::FrameDue { frame, interval });
        let encoded = Event::FrameEncoded {
            frame,
            size: Bytes::new(size),
            packets: 1,
        };
        self.give(now, &encoded);
        self.bucket()
    }

    /// A report at `now` that a packet had this round trip. It belongs to no train.
    fn arrived(&mut self, now_ms: u64, rtt_ms: u64) {
        self.sequence += 2;
        let sent = Time::from_millis(now_ms - rtt_ms);
        let packet = packet(self.sequence, sent);
        let at = PeerTime::from_nanos(0);
        self.report(now_ms, packet, arrived(at));
    }

    /// A report at `now` that a packet sent at `sent` was lost.
    fn lost(&mut self, now_ms: u64, sent_ms: u64) -> (BucketCause, u64) {
        self.sequence += 2;
        let packet = packet(self.sequence, Time::from_millis(sent_ms));
        self.report(now_ms, packet, PacketOutcome::Lost);
        self.bucket()
    }

    fn report(&mut self, now_ms: u64, packet: SentPacket, outcome: PacketOutcome) {
        let reports = [PacketReport { packet, outcome }];
        let event = Event::Feedback {
            reports: &reports,
            in_flight: Bytes::ZERO,
        };
        self.give(Time::from_millis(now_ms), &event);
    }

    fn give(&mut self, now: Time, event: &Event<'_>) {
        self.ace_n.handle(now, event, &self.decision);
    }

    fn change(&self) -> BucketChange {
        self.ace_n.change().expect("a frame was due")
    }

    fn bucket(&self) -> (BucketCause, u64) {
        (self.change().cause, self.change().depth.get())
    }
}

fn packet(sequence: u64, sent: Time) -> SentPacket {
    SentPacket {
        sequence: Sequence(sequence),
        frame: FrameId(0),
        kind: PacketKind::Media,
        size: Bytes::new(1_000),
        sent,
    }
}

fn arrived(at: PeerTime) -> PacketOutcome {
    PacketOutcome::Arrived {
        at,
        ecn: Ecn::NotEct,
        after_loss: false,
    }
}

/// The walk of figure 11, t0 to t5 and t7 to t8.
#[test]
fn the_bucket_grows_by_steps_to_the_frame_and_falls_by_the_excess() {
    let mut stream = Stream::new(config());
    // Line 1. The target's share of an interval.
    assert_eq!(stream.frame(0, 50_000), (BucketCause::Start, 10_000));
    stream.arrived(20, 20);
    // Lines 3 to 6, without history.
    assert_eq!(
        stream.frame(30, 5_000),
        (BucketCause::AdditiveIncrease, 11_000)
    );
    stream.arrived(60, 20);
    // Lines 14 to 17: the frame before had 5000.
    assert_eq!(
        stream.frame(60, 50_000),
        (BucketCause::ApplicationLimited, 11_000)
    );
    // Lines 19 to 22: 20 ms are 20 packets, 10 more than the threshold.
    stream.arrived(89, 40);
    assert_eq!(
        stream.frame(90, 50_000),
        (BucketCause::QueueThreshold, 1_000)
    );
    let change = stream.change();
    assert_eq!(change.queue, Some(Bytes::new(20_000)));
    assert_eq!(change.queue_delay, Some(MS(20)));
    assert_eq!(change.capacity, Rate::from_kbps(8_000));
    assert_eq!(change.at, Time::from_millis(90));
    // Five packets: below the threshold, and not gone.
    stream.arrived(130, 25);
    assert_eq!(
        stream.frame(130, 50_000),
        (BucketCause::AdditiveIncrease, 2_000)
    );
    // Lines 7 to 12. No packet was ever lost: what it was when the queue was empty.
    stream.arrived(170, 20);
    assert_eq!(
        stream.frame(170, 50_000),
        (BucketCause::FastRecovery, 11_000)
    );
    // A recovery ends the spell.
    stream.arrived(210, 20);
    assert_eq!(
        stream.frame(210, 50_000),
        (BucketCause::AdditiveIncrease, 12_000)
    );
    let pacing = Pacing::Bucket {
        rate: Rate::from_kbps(8_000),
        burst: Bytes::new(12_000),
    };
    assert_eq!(stream.ace_n.pacing(stream.decision.target), pacing);
}

/// Figure 11, t5 to t8: lines 23 to 26 and 9 to 11.
#[test]
fn a_loss_halves_once_and_the_recovery_heeds_the_queue_before_it() {
    for (queue_ms, recovered) in [(40, 10_000), (12, 6_000), (8, 5_000)] {
        let mut stream = Stream::new(config());
        stream.frame(0, 50_000);
        stream.arrived(20, 20);
        // The queue that overflows.
        stream.arrived(90, 20 + queue_ms);
        assert_eq!(stream.lost(91, 70), (BucketCause::Loss, 5_000));
        assert_eq!(stream.change().queue, Some(Bytes::new(queue_ms * 1_000)));
        // What had left before is the same event; what left after is another.
        assert_eq!(stream.lost(92, 91), (BucketCause::Loss, 5_000));
        stream.ace_n.historical = Some(Bytes::new(10_000));
        // The lesser of 10000 and half of the queue, but no less than what is left.
        stream.arrived(140, 20);
        let expected = (BucketCause::FastRecovery, recovered);
        assert_eq!(stream.frame(140, 50_000), expected);
        assert_eq!(stream.lost(150, 145), (BucketCause::Loss, recovered / 2));
    }
}

/// Without a value to return to there is no recovery.
#[test]
fn without_history_the_bucket_grows_by_steps() {
    let mut stream = Stream::new(config());
    stream.frame(0, 50_000);
    stream.arrived(20, 20);
    assert_eq!(stream.lost(21, 5), (BucketCause::Loss, 5_000));
    stream.arrived(50, 20);
    assert_eq!(
        stream.frame(50, 50_000),
        (BucketCause::AdditiveIncrease, 6_000)
    );
}

#[test]
fn a_decision_lasts_a_round_trip_and_needs_news() {
    let mut stream = Stream::new(config());
    assert_eq!(stream.frame(0, 50_000), (BucketCause::Start, 10_000));
    assert_eq!(stream.frame(10, 50_000), (BucketCause::Start, 10_000));
    stream.arrived(30, 25);
    let grown = (BucketCause::AdditiveIncrease, 11_000);
    assert_eq!(stream.frame(30, 50_000), grown);
    for at in [35, 40, 54] {
        stream.arrived(at, 25);
        assert_eq!(stream.frame(at, 50_000), grown, "at {at} ms");
    }
    let grown = (BucketCause::AdditiveIncrease, 12_000);
    assert_eq!(stream.frame(55, 50_000), grown);
    let held = (BucketCause::AwaitFeedback, 12_000);
    assert_eq!(stream.frame(80, 50_000), held);
    assert_eq!(stream.frame(5_000, 50_000), held);
}

#[test]
fn a_bucket_is_never_less_than_empty() {
    let mut stream = Stream::new(config());
    stream.frame(0, 50_000);
    stream.arrived(20, 20);
    stream.arrived(600, 500);
    assert_eq!(stream.frame(650, 50_000), (BucketCause::QueueThreshold, 0));
    assert_eq!(stream.lost(651, 640), (BucketCause::Loss, 0));
}

/// A frame's own packets wait for one another; what stands is what its first one met. Half
/// of a smoothed round trip of 40 ms reaches back to its tenth.
#[test]
fn a_frames_own_packets_are_no_queue_that_stands() {
    for (frames, expected) in [(1.0, 0..=0), (0.0, 8..=11)] {
        let config = Config {
            standing_frames: frames,
            ..config()
        };
        let mut round_trips = RoundTrips::new(&config);
        let mut now = Time::ZERO;
        for _ in 0..10 {
            // One in each of 30 ms, each 1 ms later than the one before.
            for wait in 0..30 {
                round_trips.add(now + MS(wait), MS(20 + wait), MS(33), &config);
            }
            now += MS(33);
        }
        let standing = round_trips.standing_queue().unwrap();
        let standing = standing.as_nanos() / 1_000_000;
        assert!(expected.contains(&standing), "{frames}: {standing} ms");
        assert_eq!(round_trips.peak_queue(), MS(29));
    }
}

/// Packets of 1000 bytes leave and arrive at these microseconds, one after the other.
fn capacity(times: &[(i64, i64)], lost: Option<usize>) -> Option<u64> {
    let config = config();
    let mut capacity = Capacity::new();
    for (index, (sent, at)) in times.iter().enumerate() {
        if lost != Some(index) {
            let sent = Time::ZERO + TimeDelta::from_micros(*sent);
            let at = PeerTime::from_nanos(at * 1_000);
            capacity.arrived(&packet(index as u64, sent), at, &config);
        }
    }
    // Something else ends the train.
    let behind = packet(1_000, Time::from_secs(9));
    capacity.arrived(&behind, PeerTime::from_nanos(9_000_000_000), &config);
    capacity.rate().map(|rate| rate.as_bps() / 1_000)
}

#[test]
fn packets_back_to_back_tell_the_capacity() {
    let burst = [(0, 0), (0, 1_000), (0, 2_000), (0, 3_000), (0, 4_000)];
    assert_eq!(capacity(&burst, None), Some(8_000));
    assert_eq!(capacity(&burst[..2], None), Some(8_000), "a pair");
    assert_eq!(capacity(&burst[..1], None), None, "no pair");
    // 1000 bytes in 1 ms, then 1000 in 1 ms: twice the same.
    assert_eq!(capacity(&burst, Some(2)), Some(8_000), "without the lost");
    let spaced = [(0, 0), (1_000, 1_000), (2_000, 2_000), (3_000, 3_000)];
    assert_eq!(capacity(&spaced, None), None, "not back to back");
    let unspread = [(0, 0), (90, 90), (180, 180), (1_180, 1_180)];
    assert_eq!(capacity(&unspread, None), None, "not spread by the network");
    let short = [(0, 0), (0, 499), (0, 999)];
    assert_eq!(capacity(&short, None), None, "too short to be measured");
    // 8 Mbit/s, then 16: a tenth of the way.
    let twice = [
        (0, 0),
        (0, 1_000),
        (9_000, 9_000),
        (9_000, 9_500),
        (9_000, 10_000),
    ];
    assert_eq!(capacity(&twice, None), Some(8_800));
}

/// The queue is the delay by the capacity that the trains tell, not by the target.
#[test]
fn the_queue_is_measured_by_the_capacity() {
    let mut stream = Stream::new(config());
    stream.frame(0, 50_000);
    for index in 0..5 {
        let packet = packet(100 + index, Time::ZERO);
        let at = PeerTime::from_nanos(i64::try_from(index).unwrap() * 500_000);
        stream.report(20, packet, arrived(at));
    }
    stream.sequence = 200;
    stream.arrived(60, 25);
    // 5 ms at 16 Mbit/s are 10 packets, as many as the threshold.
    assert_eq!(
        stream.frame(61, 50_000),
        (BucketCause::AdditiveIncrease, 11_000)
    );
    let change = stream.change();
    assert_eq!(change.capacity, Rate::from_kbps(16_000));
    assert_eq!(change.queue, Some(Bytes::new(10_000)));
}
