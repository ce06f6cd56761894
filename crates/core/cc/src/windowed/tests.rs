//! Tests of what the algorithms are told about packets, and of the decisions that follow,
//! against values computed by hand. The tests of `mimosa-tcp` compare the algorithms
//! themselves with their sources.

use mimosa_facts::{FrameId, PacketKind, PacketOutcome, Sequence};
use mimosa_units::{Ecn, PeerTime};

use super::*;

const PACKET: Bytes = Bytes::new(1_200);
const RTT: TimeDelta = TimeDelta::from_millis(20);
const MS: fn(i64) -> TimeDelta = TimeDelta::from_millis;
const FRAME: TimeDelta = TimeDelta::from_micros(16_667);

struct Stream {
    windowed: Windowed,
    now: Time,
    frame: u64,
    sequence: u64,
    in_flight: u64,
}

impl Stream {
    fn new(algorithm: Algorithm) -> Self {
        Self::with(algorithm, Config::default())
    }

    fn with(algorithm: Algorithm, config: Config) -> Self {
        config.check().unwrap();
        let mbps = |mbps: u64| Rate::from_kbps(1_000 * mbps);
        let limits = Limits::new(Rate::from_kbps(200), mbps(5), mbps(50));
        Self {
            windowed: Windowed::new(algorithm, config, limits),
            now: Time::from_secs(1),
            frame: 0,
            sequence: 0,
            in_flight: 0,
        }
    }

    /// Hands over a frame of this many packets, without sending them.
    fn hand_over(&mut self, packets: u32) {
        self.frame += 1;
        let frame = FrameId(self.frame);
        let interval = FRAME;
        self.give(Event::FrameDue { frame, interval });
        let size = Bytes::new(PACKET.get() * u64::from(packets));
        self.give(Event::FrameEncoded {
            frame,
            size,
            packets,
        });
    }

    /// Sends a packet of the newest frame.
    fn send(&mut self) -> SentPacket {
        self.sequence += 1;
        self.in_flight += PACKET.get();
        let packet = SentPacket {
            sequence: Sequence(self.sequence),
            frame: FrameId(self.frame),
            kind: PacketKind::Media,
            size: PACKET,
            sent: self.now,
        };
        self.give(Event::PacketSent(packet));
        packet
    }

    fn report(&mut self, reports: &[(SentPacket, PacketOutcome)]) {
        let settled = PACKET.get() * reports.len() as u64;
        self.in_flight = self.in_flight.saturating_sub(settled);
        let reports: Vec<_> = reports
            .iter()
            .map(|&(packet, outcome)| PacketReport { packet, outcome })
            .collect();
        let in_flight = Bytes::new(self.in_flight);
        self.give(Event::Feedback {
            reports: &reports,
            in_flight,
        });
    }

    fn give(&mut self, event: Event<'_>) {
        self.windowed.handle(self.now, event);
    }

    fn window(&self) -> u64 {
        self.windowed.decision.window.unwrap().get()
    }

    fn cause(&self) -> Cause {
        self.windowed.decision.cause
    }

    /// How long the timer still waits.
    fn timeout_ms(&self) -> f64 {
        let due = self.windowed.deadline().unwrap();
        due.since(self.now).as_millis()
    }
}

fn arrived(ecn: Ecn) -> PacketOutcome {
    PacketOutcome::Arrived {
        at: PeerTime::from_nanos(0),
        ecn,
        after_loss: false,
    }
}

const ARRIVED: PacketOutcome = PacketOutcome::Arrived {
    at: PeerTime::from_nanos(0),
    ecn: Ecn::Ect1,
    after_loss: false,
};

fn near(rate: Rate, mbps: f64) -> bool {
    (rate.as_mbps() - mbps).abs() < 1e-3
}

#[test]
fn the_first_round_trip_gives_the_first_pace_and_target() {
    // Ten packets in 20 ms are 4.8 Mbit/s; with the packet that came back the window is
    // eleven, 5.28 Mbit/s: BBR's startup paces at 2.77 times the first. Prague's slow start
    // paces at twice the window, which has 3 % and a packet of room.
    for (algorithm, first, pace, target) in [
        (Algorithm::Bbr3, 12_000, 4.8 * 2.77, 5.28),
        (Algorithm::Prague, 13_560, 10.56, 5.9184),
    ] {
        let mut stream = Stream::new(algorithm);
        assert_eq!(stream.cause(), Cause::Start);
        assert_eq!(stream.window(), 65_535, "one packet of any size");
        let packet = stream.send();
        assert_eq!(stream.window(), first, "ten packets");
        assert!(near(stream.windowed.decision.target, 5.0));
        stream.now += RTT;
        let other = stream.send();
        stream.report(&[(packet, ARRIVED)]);
        assert_eq!(stream.cause(), Cause::SlowStart);
        let Pacing::Bucket { rate, .. } = stream.windowed.decision.pacing else {
            panic!("{algorithm:?} paces");
        };
        assert!(near(rate, pace), "{algorithm:?}: {rate}");
        let decided = stream.windowed.decision.target;
        assert!(near(decided, target), "{algorithm:?}: {decided}");
        stream.now += RTT;
        stream.report(&[(other, ARRIVED)]);
    }
}

/// A packet each millisecond is 9.6 Mbit/s: twenty arrive between a packet's departure and
/// its report.
#[test]
fn the_bandwidth_is_the_rate_of_delivery() {
    let mut stream = Stream::new(Algorithm::Bbr3);
    let mut packets = Vec::new();
    for index in 0..60 {
        if index >= 20 {
            stream.report(&[(packets[index - 20], ARRIVED)]);
        }
        packets.push(stream.send());
        stream.now += MS(1);
    }
    let rate = stream.windowed.decision.evidence.service_rate.unwrap();
    assert!(near(rate, 9.6), "{rate}");
    // One report of four packets says the same.
    for reports in packets[40..].chunks(4) {
        stream.now += MS(3);
        let reports: Vec<_> = reports.iter().map(|packet| (*packet, ARRIVED)).collect();
        stream.report(&reports);
        for _ in 0..4 {
            stream.send();
        }
        stream.now += MS(1);
    }
    let rate = stream.windowed.decision.evidence.service_rate.unwrap();
    assert!((9.5..=9.7).contains(&rate.as_mbps()), "{rate}");
}

#[test]
fn unknown_packets_leave_the_flight_and_nothing_else() {
    let mut stream = Stream::new(Algorithm::Prague);
    let packets: Vec<_> = (0..10).map(|_| stream.send()).collect();
    stream.now += RTT;
    let (window, due) = (stream.window(), stream.timeout_ms());
    stream.give(Event::Unknown {
        packets: &packets[..4],
    });
    stream.in_flight -= 4 * PACKET.get();
    assert_eq!(stream.windowed.connection.in_flight(), Bytes::new(7_200));
    assert_eq!(stream.window(), window, "nothing is said of the path");
    assert!((stream.timeout_ms() - due).abs() < 1e-9);
    // Late news: the first has arrived, and the second is lost after all.
    stream.report(&[(packets[9], ARRIVED), (packets[0], ARRIVED)]);
    stream.in_flight += PACKET.get();
    assert_eq!(stream.windowed.connection.in_flight(), Bytes::new(6_000));
    assert_eq!(stream.windowed.connection.delivered(), Bytes::new(2_400));
    let before = stream.window();
    let lost = (packets[1], PacketOutcome::Lost);
    stream.report(&[lost, lost]);
    stream.in_flight += 2 * PACKET.get();
    assert_eq!(stream.windowed.connection.in_flight(), Bytes::new(6_000));
    assert_eq!(stream.cause(), Cause::Loss);
    assert!(stream.window() < before);
    // With nothing in flight there is no timeout.
    stream.give(Event::Unknown {
        packets: &packets[2..],
    });
    assert_eq!(stream.windowed.connection.in_flight(), Bytes::ZERO);
    assert_eq!(stream.windowed.deadline(), None);
}

#[test]
fn losses_of_one_flight_halve_the_window_once() {
    let mut stream = Stream::new(Algorithm::Prague);
    let packets: Vec<_> = (0..6).map(|_| stream.send()).collect();
    stream.now += RTT;
    let later = [stream.send(), stream.send()];
    // 12000 * 0.5 * 1.03 + 1200.
    stream.report(&[(packets[0], PacketOutcome::Lost)]);
    assert_eq!((stream.window(), stream.cause()), (7_380, Cause::Loss));
    stream.report(&[
        (packets[1], PacketOutcome::Lost),
        (later[0], PacketOutcome::Lost),
    ]);
    assert_eq!(stream.window(), 7_380, "sent before the reduction");
    stream.report(&[(packets[2], ARRIVED)]);
    assert_eq!(stream.window(), 7_380, "no growth in recovery");
    let after = [stream.send(), stream.send(), stream.send()];
    stream.now += RTT;
    // The recovery ends, and the window grows by 1200^2 / 6000 * (20 / 25)^2 = 153.6.
    stream.report(&[(after[0], ARRIVED)]);
    assert_eq!(stream.window(), 7_538, "6153.6 * 1.03 + 1200");
    stream.report(&[(packets[3], PacketOutcome::Lost)]);
    assert_eq!(stream.window(), 7_538, "known late");
    stream.report(&[(after[1], PacketOutcome::Lost)]);
    assert_eq!(stream.window(), 4_369, "3076.8 * 1.03 + 1200");
}

/// Each packet adds 1200^2 / 6000 bytes, times the square of the round trip's share of the
/// reference.
#[test]
fn the_reference_round_trip_is_the_one_that_growth_is_told_by() {
    for (reference, window) in [(25, 7_538), (20, 7_627), (40, 7_442)] {
        let config = Config {
            reference_rtt: MS(reference),
            ..Config::default()
        };
        let mut stream = Stream::with(Algorithm::Prague, config);
        let packets = [stream.send(), stream.send()];
        stream.now += RTT;
        stream.report(&[(packets[0], PacketOutcome::Lost)]);
        let after = stream.send();
        stream.now += RTT;
        stream.report(&[(after, ARRIVED)]);
        assert_eq!(stream.window(), window, "{reference} ms");
    }
}

#[test]
fn marks_reduce_prague_once_in_a_round_and_bbr_never() {
    let mut stream = Stream::new(Algorithm::Prague);
    let packets: Vec<_> = (0..4).map(|_| stream.send()).collect();
    stream.now += RTT;
    // The estimated share is one before the first mark.
    stream.report(&[(packets[0], arrived(Ecn::Ce))]);
    assert_eq!((stream.window(), stream.cause()), (7_380, Cause::Marked));
    stream.report(&[(packets[1], arrived(Ecn::Ce))]);
    assert_eq!(stream.window(), 7_380);
    stream.report(&[(packets[2], ARRIVED)]);
    assert!(stream.window() > 7_380, "what comes without a mark raises");
    assert_eq!(stream.cause(), Cause::Marked, "no frame was made under it");
    stream.hand_over(10);
    stream.report(&[(packets[3], ARRIVED)]);
    assert_eq!(stream.cause(), Cause::AdditiveIncrease);

    let windows = [Ecn::Ce, Ecn::Ect1].map(|ecn| {
        let mut stream = Stream::new(Algorithm::Bbr3);
        let packets: Vec<_> = (0..4).map(|_| stream.send()).collect();
        stream.now += RTT;
        for packet in &packets[..3] {
            stream.report(&[(*packet, arrived(ecn))]);
        }
        stream.window()
    });
    assert_eq!(windows[0], windows[1]);
}

#[test]
fn silence_gives_up_what_is_in_flight_and_lets_one_packet_out() {
    let mut stream = Stream::new(Algorithm::Bbr3);
    let first = stream.send();
    stream.now += RTT;
    stream.send();
    stream.send();
    assert!((stream.timeout_ms() - 980.0).abs() < 1e-6, "RFC 6298: 1 s");
    stream.report(&[(first, ARRIVED)]);
    // 20 ms and no less than 200 ms for the variance.
    assert!((stream.timeout_ms() - 220.0).abs() < 1e-6);
    stream.give(Event::Timer);
    assert_ne!(stream.cause(), Cause::FeedbackTimeout, "not yet");
    for expected in [440.0, 880.0, 1_000.0, 1_000.0] {
        stream.now = stream.windowed.deadline().unwrap();
        stream.give(Event::Timer);
        assert_eq!(stream.cause(), Cause::FeedbackTimeout);
        assert_eq!(stream.windowed.deadline(), None, "nothing is in flight");
        // The session still counts what was given up.
        assert_eq!(stream.window(), 65_535 + stream.in_flight);
        let given_up = stream.in_flight;
        stream.send();
        assert_eq!(stream.window(), 1_200 + given_up, "one packet");
        assert!((stream.timeout_ms() - expected).abs() < 1e-6);
    }
    let last = stream.send();
    stream.now += RTT;
    stream.send();
    stream.report(&[(last, ARRIVED)]);
    assert!((200.0..230.0).contains(&stream.timeout_ms()), "as before");
    let given_up = stream.in_flight - 1_200;
    assert!(stream.window() > given_up + 12_000, "and the window, too");
}

#[test]
fn what_arrives_after_all_counts_once() {
    let mut stream = Stream::new(Algorithm::Bbr3);
    let packets: Vec<_> = (0..3).map(|_| stream.send()).collect();
    stream.now += RTT;
    stream.report(&[(packets[0], PacketOutcome::Lost)]);
    assert_eq!(stream.windowed.connection.in_flight(), Bytes::new(2_400));
    let late = PacketOutcome::Arrived {
        at: PeerTime::from_nanos(0),
        ecn: Ecn::NotEct,
        after_loss: true,
    };
    for _ in 0..3 {
        stream.report(&[(packets[0], late)]);
        stream.report(&[(packets[1], ARRIVED)]);
        let mut unknown = packets[1];
        unknown.sequence = Sequence(77);
        stream.report(&[(unknown, ARRIVED), (unknown, PacketOutcome::Lost)]);
        assert_eq!(stream.windowed.connection.in_flight(), Bytes::new(1_200));
    }
    assert_eq!(stream.windowed.connection.delivered(), Bytes::new(2_400));
    // The newest packet arrives before others that are still in flight.
    stream.send();
    let newest = stream.send();
    stream.report(&[(newest, ARRIVED)]);
    stream.report(&[(newest, ARRIVED)]);
    assert_eq!(stream.windowed.connection.delivered(), Bytes::new(3_600));
    assert_eq!(stream.windowed.connection.in_flight(), Bytes::new(2_400));
}

#[test]
fn the_timeout_is_never_shorter_than_round_trips_make_it() {
    let mut stream = Stream::new(Algorithm::Bbr3);
    let first = stream.send();
    stream.now += MS(2_000);
    stream.send();
    stream.report(&[(first, ARRIVED)]);
    // 2 s and four times a variance of 1 s; the longest that doubling may reach is 1 s.
    assert!((stream.timeout_ms() - 6_000.0).abs() < 1e-6);
}

/// Sends one frame of this many packets in each round; each packet is reported 20 ms after
/// it was sent.
fn frames(stream: &mut Stream, packets: u32, rounds: u32) {
    for _ in 0..rounds {
        stream.hand_over(packets);
        let sent: Vec<_> = (0..packets).map(|_| stream.send()).collect();
        stream.now += RTT;
        for packet in sent {
            stream.report(&[(packet, ARRIVED)]);
        }
    }
}

#[test]
fn an_encoder_with_little_to_show_does_not_raise_the_window() {
    let mut stream = Stream::new(Algorithm::Prague);
    // 5.9 Mbit/s are ten packets in a frame, and more after each round.
    frames(&mut stream, 10, 3);
    let grown = stream.window();
    assert!(grown > 30_000, "doubled twice: {grown}");
    frames(&mut stream, 2, 1);
    let before = stream.window();
    frames(&mut stream, 2, 20);
    assert_eq!(stream.window(), before);
    assert_eq!(stream.windowed.connection.in_flight(), Bytes::ZERO);
}

#[test]
fn a_frame_is_smaller_by_what_waits() {
    for (subtract_waiting, limit) in [(true, Some(8_017)), (false, None)] {
        let config = Config {
            subtract_waiting,
            ..Config::default()
        };
        let mut stream = Stream::with(Algorithm::Bbr3, config);
        stream.hand_over(4);
        stream.send();
        stream.send();
        // 5 Mbit/s over 16.667 ms are 10417 B; 2400 B are waiting.
        stream.hand_over(0);
        let decided = stream.windowed.decision.frame_limit.map(Bytes::get);
        assert_eq!(decided, limit);
    }
    // Not below what the lowest rate, 200 kbit/s, would have: 417 B.
    let mut stream = Stream::new(Algorithm::Bbr3);
    stream.hand_over(40);
    stream.hand_over(0);
    let decided = stream.windowed.decision.frame_limit;
    assert_eq!(decided, Some(Bytes::new(417)));
}

#[test]
fn what_means_nothing_is_refused() {
    let plain = Config::default();
    assert_eq!(plain.check(), Ok(()));
    #[rustfmt::skip]
    let wrong = [
        ("packet", Config { packet: Bytes::new(10), ..plain }),
        ("target_share", Config { target_share: f64::NAN, ..plain }),
        ("full_share", Config { full_share: 1.5, ..plain }),
        ("reference_rtt", Config { reference_rtt: TimeDelta::ZERO, ..plain }),
        ("longest_timeout", Config { longest_timeout: TimeDelta::ZERO, ..plain }),
    ];
    for (key, config) in wrong {
        assert_eq!(config.check().unwrap_err().key, key);
    }
}
