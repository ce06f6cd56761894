//! Tests of each rule alone, on events whose outcome follows from the draft's formulas.

use mimosa_facts::{
    Cause, Controller, Event, FrameId, Limits, Pacing, PacketKind, PacketOutcome, PacketReport,
    SentPacket, Sequence,
};
use mimosa_units::{Bytes, Ecn, PeerTime, Rate, Time, TimeDelta};

use super::{Config, Inflection, Scream, Version};

const MS: fn(i64) -> TimeDelta = TimeDelta::from_millis;
const RTT: TimeDelta = TimeDelta::from_millis(25);
/// The window of 20 Mbit/s at 25 ms, in bytes: 62.5 kB over the share of it that may be media.
const WINDOW: f64 = 62_500.0 * 1.2 * 1.02;

struct Flow {
    scream: Scream,
    now: Time,
    sequence: u64,
    in_flight: u64,
}

impl Flow {
    /// A flow whose first packet has come back after 25 ms. Nothing is in flight, so
    /// that its window does not grow.
    fn new(config: &Config) -> Self {
        config.check().unwrap();
        let mbps = |mbps: u64| Rate::from_kbps(1_000 * mbps);
        let limits = Limits::new(Rate::from_kbps(200), mbps(20), mbps(50));
        let mut flow = Self {
            scream: Scream::new(*config, limits),
            now: Time::from_secs(10),
            sequence: 0,
            in_flight: 0,
        };
        flow.arrives(&[Ecn::NotEct], MS(0));
        flow
    }

    fn packet(&mut self, sent: Time) -> SentPacket {
        self.sequence += 1;
        SentPacket {
            sequence: Sequence(self.sequence),
            frame: FrameId(0),
            kind: PacketKind::Media,
            size: Bytes::new(1_000),
            sent,
        }
    }

    fn report(&mut self, reports: &[PacketReport]) {
        let in_flight = Bytes::new(self.in_flight);
        let event = Event::Feedback { reports, in_flight };
        self.scream.handle(self.now, event);
    }

    /// Reports one packet for each of `marks`, with a queueing delay of `queued`.
    fn arrives(&mut self, marks: &[Ecn], queued: TimeDelta) {
        let reports: Vec<_> = marks
            .iter()
            .map(|&ecn| {
                let packet = self.packet(self.now - RTT - queued);
                let sent = PeerTime::from_nanos(packet.sent.as_nanos().cast_signed());
                let at = sent + MS(-7_000) + queued;
                let outcome = PacketOutcome::Arrived {
                    at,
                    ecn,
                    after_loss: false,
                };
                PacketReport { packet, outcome }
            })
            .collect();
        self.report(&reports);
    }

    fn loses(&mut self) {
        let packet = self.packet(self.now - RTT);
        self.report(&[PacketReport {
            packet,
            outcome: PacketOutcome::Lost,
        }]);
    }

    fn window(&self) -> f64 {
        self.scream.window.size
    }

    fn cause(&self) -> Cause {
        self.scream.decision().cause
    }

    fn mbps(&self) -> f64 {
        self.scream.decision().target.as_mbps()
    }

    fn frame(&mut self, size: u64) {
        let frame = FrameId(self.sequence);
        self.sequence += 1;
        let interval = MS(16);
        let due = Event::FrameDue { frame, interval };
        self.scream.handle(self.now, due);
        let encoded = Event::FrameEncoded {
            frame,
            size: Bytes::new(size),
            packets: 10,
        };
        self.scream.handle(self.now, encoded);
    }
}

#[track_caller]
fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 2e-4 * b.abs(), "{a} instead of {b}");
}

#[test]
fn the_first_target_is_that_of_the_limits() {
    let flow = Flow::new(&Config::default());
    close(flow.window(), WINDOW);
    close(flow.mbps(), 20.0);
    let window = flow.scream.decision().window.unwrap().get() as f64;
    close(window, 3.0 * WINDOW);
}

#[test]
fn a_loss_costs_three_tenths_once_in_a_round_trip() {
    let mut flow = Flow::new(&Config::default());
    flow.loses();
    close(flow.window(), 0.7 * WINDOW);
    assert_eq!(flow.cause(), Cause::Loss);
    flow.now += MS(10);
    flow.loses();
    close(flow.window(), 0.7 * WINDOW);
    flow.now += MS(15);
    flow.loses();
    close(flow.window(), 0.49 * WINDOW);
}

#[test]
fn a_classic_mark_costs_a_fifth() {
    let mut flow = Flow::new(&Config::default());
    flow.arrives(&[Ecn::Ect0, Ecn::Ce], MS(0));
    close(flow.window(), 0.8 * WINDOW);
    assert_eq!(flow.cause(), Cause::Marked);
}

#[test]
fn an_l4s_mark_costs_half_of_the_share_of_marks() {
    let mut flow = Flow::new(&Config::default());
    flow.now += MS(10);
    // The average share of marks goes to 1/8 of one half. The amounts in flight are set because the
    // first mark reduces the window to them.
    flow.scream.flight = (Bytes::new(100_000), Bytes::new(100_000));
    flow.in_flight = 100_000;
    flow.arrives(&[Ecn::Ect1, Ecn::Ce], MS(0));
    close(flow.scream.marks.share, 1.0 / 16.0);
    let reduced = WINDOW * (1.0 - 1.0 / 32.0);
    // The unmarked packet raises the window by a segment's share of it, without a multiplicative
    // part right after a mark.
    close(flow.window(), reduced + 1_000.0 * 1_000.0 / reduced);
    assert_eq!(flow.cause(), Cause::Marked);
    flow.now += MS(10);
    flow.arrives(&[Ecn::Ect1], MS(0));
    close(flow.scream.marks.share, 1.0 / 16.0 * 127.0 / 128.0);
}

#[test]
fn a_window_long_untested_falls_to_what_was_in_flight() {
    let mut flow = Flow::new(&Config::default());
    flow.now += MS(25);
    flow.scream.flight = (Bytes::new(20_000), Bytes::new(20_000));
    flow.arrives(&[Ecn::Ect1, Ecn::Ce], MS(0));
    let reduced = 20_000.0 * (1.0 - 1.0 / 32.0);
    close(flow.window(), reduced + 1_000.0 * 1_000.0 / reduced);
}

#[test]
fn an_average_delay_above_half_of_its_target_is_a_mark_in_proportion() {
    let mut flow = Flow::new(&Config {
        rtt_gain: 1e-9,
        idle_rtt_gain: 1e-9,
        ..Config::default()
    });
    flow.now += RTT;
    flow.arrives(&[Ecn::NotEct], MS(120));
    close(flow.scream.delays.average.as_millis(), 30.0);
    close(flow.window(), WINDOW);
    flow.now += RTT;
    flow.arrives(&[Ecn::NotEct], MS(120));
    // The average of 52.5 ms is three quarters of the way from 30 to 60 ms; the window falls by
    // half of that.
    close(flow.window(), WINDOW * (1.0 - 0.375));
    assert_eq!(flow.cause(), Cause::QueueDelay);
    flow.now += RTT;
    flow.arrives(&[Ecn::NotEct], MS(1));
    close(flow.scream.delays.average.as_millis(), 1.0);
}

#[test]
fn what_arrives_raises_the_window_by_a_segment_and_a_share() {
    let mut flow = Flow::new(&Config::default());
    flow.in_flight = 100_000;
    flow.arrives(&[Ecn::NotEct], MS(0));
    let first = flow.window() - WINDOW;
    let (segment, steps) = (1_000.0, 1.0 + 0.02 * WINDOW / 1_000.0);
    close(first, segment * segment / WINDOW * steps);
    assert_eq!(flow.cause(), Cause::MultiplicativeIncrease);
    // After a loss the multiplicative part begins at zero and takes 100 round trips to its full
    // size.
    flow.loses();
    let before = flow.window();
    flow.now += RTT;
    flow.arrives(&[Ecn::NotEct; 10], MS(0));
    let near = 1.0 + 0.02 * before / segment / 100.0;
    close(
        flow.window() - before,
        10.0 * segment * segment / before * near,
    );
    assert_eq!(flow.cause(), Cause::AdditiveIncrease);
}

#[test]
fn a_window_near_the_last_one_under_congestion_grows_at_a_quarter() {
    let mut flow = Flow::new(&Config {
        loss_factor: 0.99,
        multiplicative_increase: 0.0,
        ..Config::default()
    });
    flow.in_flight = 100_000;
    flow.loses();
    let before = flow.window();
    flow.now += RTT;
    flow.arrives(&[Ecn::NotEct; 10], MS(0));
    close(flow.window() - before, 10.0 * 1e6 / before * 0.25);
}

#[test]
fn the_window_does_not_grow_beyond_what_is_sent() {
    let mut flow = Flow::new(&Config::default());
    // Ten packets raise the window by 331 bytes to 76.8 kB, which needs 50.6 kB in flight.
    flow.in_flight = 50_500;
    flow.arrives(&[Ecn::NotEct; 10], MS(0));
    close(flow.window(), WINDOW);
    assert_eq!(flow.cause(), Cause::ApplicationLimited);
    flow.in_flight = 51_200;
    flow.arrives(&[Ecn::NotEct; 10], MS(0));
    assert!(flow.window() > WINDOW + 100.0);
}

#[test]
fn packets_leave_faster_the_nearer_the_target_is_to_its_highest() {
    let mbps = |mbps: u64| Rate::from_kbps(1_000 * mbps);
    let limits = Limits::new(Rate::ZERO, mbps(20), mbps(50));
    for (target, factor) in [(20, 1.5), (40, 1.5), (45, 3.0), (50, 6.0)] {
        let pacing = super::media::pacing(mbps(target), &limits, &Config::default());
        let Pacing::Bucket { rate, .. } = pacing else {
            panic!("{pacing:?}");
        };
        close(rate.ratio(mbps(target)), factor);
    }
}

#[test]
fn waiting_packets_and_large_frames_lower_the_target() {
    let mut flow = Flow::new(&Config::default());
    flow.frame(40_000);
    close(flow.mbps(), 20.0);
    // Nothing leaves: when the second frame is given to the pacer, the first has waited for 16 ms.
    flow.now += MS(16);
    flow.frame(40_000);
    let factor = 1.2 + 0.75 / 16.0;
    close(flow.mbps(), 20.0 * 1.2 / factor);

    let mut large = Flow::new(&Config::default());
    large.frame(60_000);
    close(large.mbps(), 20.0 * 1.2 / (1.2 + 0.5 / 64.0));
}

#[test]
fn one_packet_goes_into_silence_at_the_lowest_pace() {
    let mut flow = Flow::new(&Config::default());
    assert_eq!(flow.scream.deadline(), None);
    let packet = flow.packet(flow.now);
    flow.scream.handle(flow.now, Event::PacketSent(packet));
    flow.scream.in_flight = Bytes::new(400_000);
    // The wait is that of 1000 bytes at 50 kbit/s.
    let due = flow.now + MS(160);
    assert_eq!(flow.scream.deadline(), Some(due));
    let decision = *flow.scream.handle(due, Event::Timer);
    assert_eq!(decision.window, Some(Bytes::new(401_000)));
    assert_eq!(decision.cause, Cause::FeedbackTimeout);
    assert_eq!(flow.scream.deadline(), Some(due + MS(160)));
    flow.now = due;
    let packet = flow.packet(flow.now);
    let decision = *flow.scream.handle(flow.now, Event::PacketSent(packet));
    close(decision.window.unwrap().get() as f64, 3.0 * WINDOW);
}

#[test]
fn a_delay_that_never_falls_is_a_wrong_base() {
    let mut flow = Flow::new(&Config::default());
    let mut resets = 0;
    for _ in 0..400 {
        flow.now += MS(50);
        flow.arrives(&[Ecn::NotEct], MS(25));
        resets += u32::from(flow.cause() == Cause::PathChange);
    }
    // 25 (1 - (255/256)^n) ms exceed 15 ms after 235 rounds; then the 25 ms belong to the base
    // delay.
    assert!((1..=5).contains(&resets), "{resets}");
    assert_eq!(flow.scream.delays.newest, MS(0));
}

#[test]
fn with_the_policer_rule_few_losses_are_the_links_own() {
    let config = Config {
        loss_policer: true,
        ..Config::default()
    };
    let mut flow = Flow::new(&config);
    flow.loses();
    close(flow.window(), WINDOW);
    for _ in 0..50 {
        flow.now += RTT;
        flow.loses();
    }
    assert!(flow.window() < 0.7 * WINDOW, "{}", flow.window());
}

#[test]
fn the_delay_target_rises_to_a_queue_that_others_keep() {
    let mut flow = Flow::new(&Config {
        competing_flows: true,
        clock_drift: false,
        ..Config::default()
    });
    for _ in 0..250 {
        flow.now += MS(50);
        flow.arrives(&[Ecn::NotEct], MS(120));
    }
    close(flow.scream.delays.target.as_millis(), 120.0);
    for _ in 0..250 {
        flow.now += MS(50);
        flow.arrives(&[Ecn::NotEct], MS(0));
    }
    close(flow.scream.delays.target.as_millis(), 60.0);
}

#[test]
fn a_packet_larger_than_the_window_leaves_when_nothing_is_under_way() {
    let limits = Limits::new(Rate::ZERO, Rate::from_kbps(1), Rate::from_kbps(1));
    let mut scream = Scream::new(Config::default(), limits);
    let large = Bytes::new(20_000);
    assert!(scream.decision().window.unwrap() >= large);
    let packet = SentPacket {
        sequence: Sequence(0),
        frame: FrameId(0),
        kind: PacketKind::Media,
        size: large,
        sent: Time::ZERO,
    };
    let decision = *scream.handle(Time::ZERO, Event::PacketSent(packet));
    assert_eq!(decision.window, Some(Bytes::new(9_000)));
}

/// Tests all optional parts together. The delays, marks and losses in the reports, and pauses of up
/// to ten seconds, come from a linear congruential generator (Knuth's MMIX).
#[test]
fn with_every_optional_part_the_limits_hold() {
    let mut state = 1_u64;
    let mut below = move |bound: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    let mut flow = Flow::new(&Config {
        l4s: super::L4s::On,
        reduce_jitter: true,
        loss_policer: true,
        competing_flows: true,
        ..Config::default()
    });
    let mut causes = Vec::new();
    for _ in 0..50_000 {
        flow.now += match below(1_000) {
            0 => MS(10_000),
            1..=200 => MS(0),
            _ => MS(below(30).cast_signed()),
        };
        flow.in_flight = below(300_000);
        let magnitude = below(9);
        let queued = MS(below(1 << magnitude).cast_signed());
        match below(12) {
            0 => flow.loses(),
            1 => flow.arrives(&[Ecn::Ce, Ecn::Ect1], queued),
            2 => flow.frame(below(100_000)),
            _ => flow.arrives(&[Ecn::Ect1; 5], queued),
        }
        let decision = flow.scream.decision();
        let kept = flow.scream.limits.clamp(decision.target);
        assert_eq!(kept, decision.target);
        let (window, delays) = (flow.window(), &flow.scream.delays);
        assert!(window.is_finite() && window >= 3_000.0, "{window}");
        assert!((0.0..=1.0).contains(&delays.scale), "{delays:?}");
        assert!((MS(60)..=MS(400)).contains(&delays.target), "{delays:?}");
        if !causes.contains(&decision.cause) {
            causes.push(decision.cause);
        }
    }
    for cause in [Cause::Loss, Cause::Marked, Cause::QueueDelay] {
        assert!(causes.contains(&cause), "{causes:?}");
    }
}

#[test]
fn the_inflection_point_is_set_after_growth_or_after_some_round_trips() {
    let former = Config {
        inflection_after: Inflection::Nothing,
        inflection_rtts: 10.0,
        ..Config::default()
    };
    for (config, is_set) in [(Config::default(), true), (former, false)] {
        let mut flow = Flow::new(&config);
        flow.in_flight = 100_000;
        flow.loses();
        flow.now += RTT;
        flow.arrives(&[Ecn::NotEct; 10], MS(0));
        flow.now += RTT;
        let before = flow.window();
        flow.loses();
        let after = flow.window();
        flow.now += RTT;
        flow.arrives(&[Ecn::NotEct; 10], MS(0));
        // The window is far from either point, so that the rates of growth are equal; the points
        // differ.
        let point = flow.scream.window.inflection();
        close(point, if is_set { before } else { WINDOW });
        assert!(flow.window() > after);
    }
}

#[test]
fn without_growth_the_inflection_point_stays() {
    let mut flow = Flow::new(&Config::default());
    flow.loses();
    flow.now += RTT;
    flow.loses();
    close(flow.scream.window.inflection(), WINDOW);
}

#[test]
fn the_version_of_2024_has_one_gain_both_ways_and_a_median() {
    let mut flow = Flow::new(&Config::from(Version::V2024));
    flow.scream.marks.share = 0.5;
    flow.now += RTT;
    flow.arrives(&[Ecn::Ect1, Ecn::Ect1, Ecn::Ect1, Ecn::Ce], MS(0));
    close(flow.scream.marks.share, 0.5 + (0.25 - 0.5) / 16.0);
    let mut flow = Flow::new(&Config::from(Version::V2024));
    for _ in 0..5 {
        flow.now += MS(31);
        flow.loses();
    }
    // The windows at the losses fall by three tenths each; the third is the median.
    close(
        flow.scream.window.inflection(),
        first_window_of_2024() * 0.49,
    );
}

/// The window of 20 Mbit/s at 25 ms with segments of 1360 bytes and without the margin.
fn first_window_of_2024() -> f64 {
    62_500.0 * 1_380.0 / 1_360.0
}

#[test]
fn libwebrtc_counts_losses_of_three_round_trips() {
    let mut flow = Flow::new(&Config::from(Version::Libwebrtc));
    let first = flow.window();
    for round in 0..4 {
        flow.now += RTT;
        flow.loses();
        assert_eq!(flow.window() < first, round == 3, "round {round}");
    }
}

#[test]
fn libwebrtc_counts_the_time_that_feedback_was_held() {
    let mut flow = Flow::new(&Config::from(Version::Libwebrtc));
    close(flow.mbps(), 20.0);
    let window = flow.window();
    flow.now += RTT;
    let mut reports = Vec::new();
    for held in [0, 25] {
        let packet = flow.packet(flow.now - RTT);
        let at = PeerTime::from_nanos(packet.sent.as_nanos().cast_signed()) + MS(held - 7_000);
        let (ecn, after_loss) = (Ecn::NotEct, false);
        let outcome = PacketOutcome::Arrived {
            at,
            ecn,
            after_loss,
        };
        reports.push(PacketReport { packet, outcome });
    }
    flow.report(&reports);
    // An eighth of 25 ms is the average hold; nothing was in flight, so that the window stays.
    close(flow.window(), window);
    close(flow.mbps(), 20.0 * 25.0 / (25.0 + 25.0 / 8.0));
}

#[test]
fn libwebrtc_drains_a_queue_of_twenty_seconds_and_then_takes_it_for_the_base() {
    let mut flow = Flow::new(&Config::from(Version::Libwebrtc));
    let mut halved = Vec::new();
    for step in 1..=420_u32 {
        flow.now += MS(50);
        flow.arrives(&[Ecn::NotEct], MS(10));
        if flow.cause() == Cause::PathChange {
            halved.push(step);
        }
    }
    // The queue of 10 ms is above 5 ms from the first message on; the messages come every 50 ms.
    // Halving lasts five round trips of 25 to 35 ms.
    assert_eq!(halved, [402, 403, 404, 405]);
    assert_eq!(flow.scream.delays.newest, MS(0));
}
