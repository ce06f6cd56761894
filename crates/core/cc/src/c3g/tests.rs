//! Tests of C3G's rules on streams whose outcome follows from the paper's formulas.

use mimosa_facts::{
    Cause, Controller, Event, FrameId, Limits, PacketKind, PacketOutcome, PacketReport, SentPacket,
    Sequence,
};
use mimosa_units::{Bytes, Ecn, PeerTime, Rate, Time, TimeDelta};

use super::monitor::{Monitor, Samples};
use super::stream::Stream;
use super::{C3g, Config, Epsilon, Forget};

const MS: fn(i64) -> TimeDelta = TimeDelta::from_millis;
const KBPS: fn(u64) -> Rate = Rate::from_kbps;

fn stream(config: Config, start_kbps: u64) -> Stream<C3g> {
    config.check().unwrap();
    let limits = Limits::new(KBPS(200), KBPS(start_kbps), KBPS(50_000));
    Stream::new(C3g::new(config, limits))
}

/// Parameters with an exploration period of three control periods at gain one.
fn short() -> Config {
    Config {
        highest_gain: 3,
        ..Config::default()
    }
}

#[test]
fn exploration_periods_shrink_and_steps_grow_with_the_gain() {
    let mut stream = stream(short(), 10_000);
    let mut targets = Vec::new();
    for _ in 0..8 {
        stream.period(KBPS(20_000));
        targets.push(stream.target_kbps());
    }
    // T_exp of 3, 2, 1, 1 and 1 periods; steps of 1, 2, 3, 3 and 3 times 10 kbit/s.
    let expected = [
        10_000, 10_000, 10_010, 10_010, 10_030, 10_060, 10_090, 10_120,
    ];
    for (target, expected) in targets.iter().zip(expected) {
        // Packets are whole bytes, which makes up to 2 kbit/s in five frames of ten packets.
        assert!(target.abs_diff(expected) <= 2, "{targets:?}");
    }
    assert_eq!(stream.cause(), Cause::AdditiveIncrease);
}

#[test]
fn a_fall_is_drained_by_equation_2_and_left_at_the_rate_that_arrived() {
    let mut stream = stream(Config::default(), 10_000);
    for _ in 0..5 {
        stream.period(KBPS(20_000));
    }
    stream.period(KBPS(4_000));
    // 10 Mbit/s are sent and 4 arrive: 600 kbit are queued. RTVL is some 60 ms, and the queue lasts
    // another 150. 4 - 6 Mbit/s is below the minimum; 600 kbit at 4 - 0.2 Mbit/s take 158 ms.
    assert_eq!((stream.target_kbps(), stream.cause()), (200, Cause::Drain));
    stream.period(KBPS(4_000));
    assert_eq!(stream.cause(), Cause::Drain, "after 100 ms");
    stream.period(KBPS(4_000));
    assert_eq!(
        stream.cause(),
        Cause::Recover,
        "after 200 ms, whole periods"
    );
    // In the first 4 ms what was under way arrived at 10 Mbit/s: 4.24 in the mean, and
    // packets of 20 ms / 10 make it 4.2.
    let target = stream.target_kbps();
    assert!((4_150..4_300).contains(&target), "{target}");
}

#[test]
fn congestion_without_a_prediction_above_the_threshold_changes_nothing() {
    let mut stream = stream(Config::default(), 10_000);
    for _ in 0..5 {
        stream.period(KBPS(20_000));
    }
    // 50 kbit more in the queue make 5 ms.
    stream.period(KBPS(9_500));
    assert_eq!(
        (stream.target_kbps(), stream.cause()),
        (10_000, Cause::Overuse)
    );
    let backlog = stream.controller.decision().evidence.backlog;
    stream.period(KBPS(9_500));
    let later = stream.controller.decision().evidence.backlog;
    assert!(
        backlog.is_none_or(|queued| queued < Bytes::new(4_000)),
        "{backlog:?}"
    );
    let later = later.unwrap().get();
    assert!(
        (4_000..9_000).contains(&later),
        "some 6250 a period: {later}"
    );
    // The queue goes by itself.
    for _ in 0..3 {
        stream.period(KBPS(20_000));
    }
    assert_eq!(stream.controller.decision().evidence.backlog, None);
    assert_eq!(stream.target_kbps(), 10_000);
}

#[test]
fn congestion_alone_ends_the_dictionary_only_where_it_is_told_to() {
    for (forget, is_kept) in [(Forget::Drain, true), (Forget::Congestion, false)] {
        let config = Config { forget, ..short() };
        let mut stream = stream(config, 10_000);
        for _ in 0..4 {
            stream.period(KBPS(20_000));
        }
        stream.period(KBPS(9_500));
        let is_there = stream.controller.exploration.states() > 0;
        assert_eq!(is_there, is_kept, "{forget:?}");
        assert_eq!(
            stream.controller.exploration.gain() > 1,
            is_kept,
            "{forget:?}"
        );
    }
}

#[test]
fn the_target_allows_for_what_the_encoder_makes_of_it() {
    let mut stream = stream(short(), 10_000);
    stream.used = 0.8;
    for _ in 0..30 {
        stream.period(KBPS(90_000));
    }
    // Some 28 steps of at most 30 kbit/s in what is sent, from 8 Mbit/s on.
    let sent = stream.target_kbps() as f64 * 0.8;
    assert!((8_600.0..8_850.0).contains(&sent), "{sent}");
}

#[test]
fn what_is_not_sent_is_not_raised() {
    let mut stream = stream(short(), 10_000);
    stream.used = 0.2;
    for _ in 0..3 {
        stream.period(KBPS(90_000));
    }
    assert_eq!(stream.cause(), Cause::ApplicationLimited);
    for _ in 0..100 {
        stream.period(KBPS(90_000));
    }
    assert_eq!(stream.target_kbps(), 10_000);
}

#[test]
fn silence_ends_at_the_minimum_and_half_of_the_rate_comes_back() {
    let mut stream = stream(Config::default(), 10_000);
    for _ in 0..5 {
        stream.period(KBPS(20_000));
    }
    stream.reopen();
    for _ in 0..30 {
        stream.period(Rate::ZERO);
        let decided = (stream.target_kbps(), stream.cause());
        assert_eq!(decided, (200, Cause::FeedbackTimeout));
    }
    // Frames sent into the outage are gone; those of the minimum get through.
    stream.reopen();
    stream.period(KBPS(20_000));
    let decided = (stream.target_kbps(), stream.cause());
    assert_eq!(decided, (5_000, Cause::Recover));
}

#[test]
fn the_line_through_rtvl_samples_is_the_least_squares_one() {
    let mut samples = Samples::default();
    assert_eq!(samples.extrapolate(MS(200)), None);
    for (at, rtvl) in [(0, 20.0), (50, 45.0), (100, 70.0)] {
        samples.push(MS(at), rtvl);
    }
    assert!((samples.extrapolate(MS(200)).unwrap() - 120.0).abs() < 1e-9);
    assert!((samples.mean().unwrap() - 45.0).abs() < 1e-9);
    // sqrt(2 / 3) * 25
    assert!((samples.deviation() - 20.412_414_5).abs() < 1e-6);
}

#[test]
fn epsilon_is_the_largest_difference_of_its_window() {
    let mut epsilon = Epsilon::default();
    for (second, difference) in [(1, 5.0), (2, 9.0), (3, 2.0), (4, -7.0)] {
        epsilon.add(Time::from_secs(second), difference);
    }
    let window = TimeDelta::from_secs(10.0);
    for (second, expected) in [(4, 9.0), (12, 9.0), (13, 2.0), (14, 0.0), (99, 0.0)] {
        let got = epsilon.get(Time::from_secs(second), window);
        assert!((got - expected).abs() < 1e-9, "at {second} s: {got}");
    }
}

fn packet(sequence: u64, frame: u64, sent: u64, kind: PacketKind) -> SentPacket {
    SentPacket {
        sequence: Sequence(sequence),
        frame: FrameId(frame),
        kind,
        size: Bytes::new(1_000),
        sent: Time::from_millis(sent),
    }
}

fn arrived(packet: SentPacket) -> PacketReport {
    PacketReport {
        packet,
        outcome: PacketOutcome::Arrived {
            at: PeerTime::from_nanos(0),
            ecn: Ecn::NotEct,
            after_loss: false,
        },
    }
}

#[test]
fn rtvl_runs_from_the_frames_due_time_to_its_last_packet() {
    let mut monitor = Monitor::new(MS(100), true);
    let first = packet(0, 7, 105, PacketKind::Media);
    let second = packet(1, 7, 106, PacketKind::Media);
    monitor.frame_due(Time::from_millis(100), FrameId(7));
    monitor.frame_encoded(Time::from_millis(105), FrameId(7), 2);
    monitor.feedback(Time::from_millis(120), &[arrived(first)]);
    assert_eq!(monitor.last_rtvl(), None);
    let lost = PacketReport {
        packet: second,
        outcome: PacketOutcome::Lost,
    };
    monitor.feedback(Time::from_millis(130), &[lost]);
    let again = packet(2, 7, 130, PacketKind::Retransmission);
    monitor.feedback(Time::from_millis(150), &[arrived(again)]);
    assert_eq!(monitor.last_rtvl(), Some(50.0), "100 to 150 ms");
}

#[test]
fn the_receivers_word_and_the_presentation_timeout_end_a_frame_too() {
    let mut monitor = Monitor::new(MS(100), true);
    for frame in [0, 1, 2] {
        monitor.frame_due(Time::from_millis(100 * frame), FrameId(frame));
        monitor.frame_encoded(Time::from_millis(100 * frame), FrameId(frame), 2);
    }
    monitor.feedback(
        Time::from_millis(20),
        &[arrived(packet(0, 0, 0, PacketKind::Media))],
    );
    monitor.frame_decoded(Time::from_millis(230), FrameId(2));
    assert_eq!(monitor.last_rtvl(), Some(30.0));
    // One packet of frame 0 came at 20 ms: it is shown 100 ms later. Frame 1 is acknowledged when
    // the control loop runs, however late: up to a period and the timeout.
    let period = monitor.end_period(Time::from_millis(450));
    assert!((period.rtvl.max - 350.0).abs() < 1e-9);
    assert!((period.rtvl.mean().unwrap() - (30.0 + 120.0 + 350.0) / 3.0).abs() < 1e-9);
}

#[test]
fn departures_are_counted_with_the_arrivals_they_can_be_of() {
    let mut monitor = Monitor::new(MS(100), true);
    monitor.begin(Time::ZERO);
    for sequence in 0..10 {
        monitor.packet_sent(&packet(sequence, 0, 10 * sequence, PacketKind::Media));
    }
    // Round trip 40 ms: of ten packets sent every 10 ms, those until 60 ms.
    for sequence in 0..4 {
        let sent = packet(sequence, 0, 10 * sequence, PacketKind::Media);
        monitor.feedback(Time::from_millis(10 * sequence + 40), &[arrived(sent)]);
    }
    let period = monitor.end_period(Time::from_millis(100));
    assert_eq!(
        (period.sent, period.arrived),
        (Bytes::new(7_000), Bytes::new(4_000))
    );
    assert!((period.growth() - 3_000.0).abs() < 1e-9);
}

/// What 40 periods of 100 ms say that the network holds more at their ends, in bytes: a packet of 500 to
/// 1500 bytes leaves each 10 ms, and its report comes 40 ms later.
fn growths(aligned: bool) -> Vec<f64> {
    let mut monitor = Monitor::new(MS(100), aligned);
    let mut growths = Vec::new();
    let (mut state, mut sizes) = (1_u32, Vec::new());
    for at in 0..410 {
        let now = Time::from_millis(10 * at);
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        sizes.push(Bytes::new(500 + u64::from(state >> 16) * 1_000 / 65_536));
        let sent = |at: u64| SentPacket {
            size: sizes[usize::try_from(at).unwrap()],
            ..packet(at, 0, 10 * at, PacketKind::Media)
        };
        if let Some(before) = at.checked_sub(4) {
            monitor.feedback(now, &[arrived(sent(before))]);
        }
        if at.is_multiple_of(10) {
            growths.push(monitor.end_period(now).growth());
        }
        monitor.packet_sent(&sent(at));
    }
    growths.split_off(2)
}

/// Fig. 6: at each end of a period that is not aligned, four packets are under way that count as sent and
/// not as arrived. Their sizes differ by 289 bytes, so that two ends differ by the root of eight times that.
#[test]
fn windows_that_are_not_aligned_make_a_noisy_difference() {
    assert_eq!(growths(true), [0.0; 39]);
    let noisy = growths(false);
    let mean = noisy.iter().sum::<f64>() / 39.0;
    let square = noisy.iter().map(|growth| growth * growth).sum::<f64>() / 39.0;
    assert!(mean.abs() < 50.0, "{mean}");
    assert!((650.0..1_000.0).contains(&square.sqrt()), "{square}");
}

#[test]
fn nothing_is_decided_while_nothing_is_sent() {
    let limits = Limits::new(KBPS(200), KBPS(5_000), KBPS(50_000));
    let mut c3g = C3g::new(Config::default(), limits);
    let due = Event::FrameDue {
        frame: FrameId(0),
        interval: MS(16),
    };
    assert_eq!(c3g.deadline(), None);
    c3g.handle(Time::ZERO, due);
    let mut runs = 0;
    while let Some(deadline) = c3g.deadline() {
        c3g.handle(deadline, Event::Timer);
        runs += 1;
    }
    assert_eq!(runs, 21, "asleep two seconds after the last frame");
    assert_eq!(c3g.decision().target, KBPS(5_000));
}
