//! Tests of the law, of the part of their grants that frames use, and of the parameters.

use super::super::train::Train;
use super::*;

/// The factor of one round at a load of `share`, for a flow of `own` kbit/s on a link of
/// 20 Mbit/s whose rate is known if `is_known`.
fn factor(own: u64, share: f64, is_known: bool) -> f64 {
    let mut mimosa = Stream::blind(Config::default()).mimosa;
    mimosa.rate = Rate::from_kbps(own);
    let train = Train {
        size: Bytes::new(5_000),
        span: MS(2),
        uneven: TimeDelta::ZERO,
    };
    for _ in 0..3 {
        if is_known {
            mimosa.bottleneck.train(Time::ZERO, train);
        }
    }
    mimosa.factor(Time::ZERO, share).0
}

fn is(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-4, "{value}, not {expected}");
}

#[test]
fn a_flow_alone_rests_at_the_target_and_covers_a_part_of_the_distance() {
    is(factor(20_000, 0.97, true), 1.0);
    // (0.97 / 1.2)^0.3
    is(factor(20_000, 1.2, true), 0.9382);
    // Three quarters of the link, which is busy with that alone: 0.97 / 0.75 e^(0.08 x
    // 0.25)
    is(factor(15_000, 0.75, true), 1.3195);
    // On either side of the knee, 0.9 x 0.97: 0.97 / 0.87 e^(0.08 x 0.13), and
    // (0.97 / 0.88)^0.3 e^(0.08 x 0.12)
    is(factor(17_400, 0.87, true), 1.1266);
    is(factor(17_600, 0.88, true), 1.0396);
    // A flow above the link's rate has no more than all of it.
    is(factor(80_000, 0.97, true), 1.0);
    // While the link's rate is unknown, there is neither pull nor a reserve beside others.
    is(factor(1_000, 0.97, false), 1.0);
}

#[test]
fn beside_others_the_target_is_lower_and_a_small_flow_grows_more() {
    // The flow has a quarter of the link, others have the rest: 0.77^0.3 e^(0.08 x 0.75)
    is(factor(5_000, 1.0, true), 0.9818);
    // The others have 0.125, three tenths of the way from 0.05 to 0.3: 0.91^0.3 e^(0.08 x 0.125)
    is(factor(17_500, 1.0, true), 0.9819);
    // A part of 0.05 is taken for noise: 0.97^0.3 e^(0.08 x 0.05)
    is(factor(19_000, 1.0, true), 0.9949);
    // At the same load the smaller flow grows more, which makes the flows equal.
    let [small, large] = [5_000, 10_000].map(|own| factor(own, 0.9, true));
    is(small / large, libm::exp(0.08 * 0.25));
}

#[test]
fn one_round_makes_no_more_than_two_of_it_and_no_less_than_seven_tenths() {
    is(factor(1_000, 0.01, true), 2.0);
    is(factor(20_000, 50.0, true), 0.7);
}

#[test]
fn a_round_has_one_change() {
    let mut stream = Stream::on_link(Config::default());
    // Three frames leave before the first one's report, which changes the rate.
    for _ in 0..3 {
        stream.frame(&SERVED, Bytes::ZERO);
    }
    let rates = [0, 1, 2].map(|_| {
        let pending = stream.pending.pop_front().unwrap();
        let (reports, in_flight) = (&pending.reports[..], pending.in_flight);
        let event = Event::Feedback { reports, in_flight };
        stream.mimosa.handle(pending.at, event).target
    });
    assert_ne!(rates[0], LINK);
    assert_eq!(rates[1..], [rates[0]; 2]);
    assert_eq!(stream.mimosa.decision.cause, Cause::AwaitFeedback);
}

#[test]
fn more_loss_than_a_radio_has_lowers_the_rate_by_half_of_it() {
    for (lost, expected) in [(0, None), (1, Some(7_600))] {
        let mut stream = Stream::on_link(Config::default());
        let mut packets = SERVED.map(|(after, waited)| (after, Some(waited)));
        packets[..lost].fill((0, None));
        stream.frame_with_losses(&packets, Bytes::ZERO);
        stream.settle();
        match expected {
            // A tenth is lost, which is more than 0.08.
            Some(kbps) => {
                assert_eq!(stream.mimosa.cause, Cause::Loss);
                assert_eq!(stream.mimosa.rate, Rate::from_kbps(kbps));
            }
            None => assert_ne!(stream.mimosa.cause, Cause::Loss),
        }
    }
}

#[test]
fn no_rise_goes_beyond_one_and_a_half_of_what_frames_had() {
    // A frame at 8 Mbit/s finds next to no load.
    for (before, after, cause) in [
        (10_000, 12_000, Cause::BelowQueueTarget),
        (15_000, 15_000, Cause::ApplicationLimited),
    ] {
        let mut stream = Stream::new(Config::default());
        stream.mimosa.rate = Rate::from_kbps(before);
        stream.mimosa.hold_until = FrameId(0);
        stream.frame(&[(0, 0)], Bytes::ZERO);
        stream.mimosa.fill = Fill::default();
        stream.settle();
        assert_eq!(stream.mimosa.rate, Rate::from_kbps(after));
        assert_eq!(stream.mimosa.cause, cause);
    }
}

/// The middle trains take 13 to 17 ms, and the median is 15: half of that distance is
/// 0.1333 of the median, of which 0.4 is added to the part that others must bring.
#[test]
fn a_link_whose_rate_varies_has_no_others_for_that() {
    let own = |spans: [i64; 5]| {
        let mut mimosa = Stream::blind(Config::default()).mimosa;
        mimosa.rate = Rate::from_kbps(70_000);
        for span in spans {
            let train = Train {
                size: Bytes::new(150_000),
                span: MS(span),
                uneven: TimeDelta::ZERO,
            };
            mimosa.bottleneck.train(Time::ZERO, train);
        }
        (mimosa.bottleneck.spread(), mimosa.factor(Time::ZERO, 1.0).0)
    };
    let (spread, factor) = own([15; 5]);
    is(spread, 0.0);
    // o = 0.125, three tenths of the way from 0.05 to 0.3, with C = 80 Mbit/s: 0.91^0.3 e^(0.08 x
    // 0.125).
    is(factor, 0.9819);
    let (spread, factor) = own([19, 11, 15, 17, 13]);
    is(spread, 2.0 / 15.0);
    // The reserve of 0.2 begins at 0.05 + 0.4 x 0.1333 and is whole 0.25 above: 0.0867 of
    // it.
    is(
        factor,
        libm::pow(0.97 - 0.2 * 0.086_67, 0.3) * libm::exp(0.08 * 0.125),
    );
}

/// A flow with seven eighths of the link beside a part of 0.125 holds three tenths of the reserve. Where delays vary
/// by 0.03 of an interval, where the receiver's clock is too coarse to tell, and where the queue marks, a is
/// 0.05 + 3.3 x 0.03, and the flow counts as alone: 0.97^0.3 e^(0.08 x 0.125).
#[test]
fn delays_that_vary_look_like_others() {
    let own = |uneven, spans: [i64; 5], is_marked| {
        let mut mimosa = Stream::blind(Config::default()).mimosa;
        mimosa.rate = Rate::from_kbps(70_000);
        mimosa.interval = L;
        for span in spans {
            let train = Train {
                size: Bytes::new(150_000),
                span: MS(span),
                uneven: TimeDelta::from_micros(uneven),
            };
            mimosa.bottleneck.train(Time::ZERO, train);
        }
        if is_marked {
            mimosa.marks.arrived(Time::ZERO, PACKET, true);
        }
        // Marks of that age no longer say what the flow's part is.
        mimosa.factor(Time::from_secs(5), 1.0).0
    };
    let (exact, coarse) = ([15; 5], [15, 15, 0, 15, 15]);
    is(own(0, exact, false), 0.9819);
    // The noise is 1.6 times the unevenness.
    for (uneven, spans, is_marked) in [(188, exact, false), (0, coarse, false), (0, exact, true)] {
        is(own(uneven, spans, is_marked), 1.0009);
    }
    // Half of that noise makes a 0.1, and the reserve begins.
    assert!(own(94, exact, false) < 0.999);
}

/// A packet has the link for 0.12 of an interval of 10 ms at 8 Mbit/s, which makes a 0.15, and for 0.012 at 80 Mbit/s,
/// which leaves it 0.05. At 24 Mbit/s, 0.04 is half of the way from 0.02 to 0.06, and a is 0.1.
#[test]
fn a_link_that_carries_few_packets_in_an_interval_has_no_others_for_that() {
    for (mbps, alone) in [(8, 0.15), (24, 0.1), (80, 0.05)] {
        let mut mimosa = Stream::blind(Config::default()).mimosa;
        mimosa.interval = MS(10);
        for _ in 0..5 {
            let train = Train {
                size: Bytes::new(mbps * 1_875),
                span: MS(15),
                uneven: TimeDelta::ZERO,
            };
            mimosa.bottleneck.train(Time::ZERO, train);
        }
        is(mimosa.alone(Time::from_secs(5)), alone);
    }
}

/// Frames were smaller than the bitrate, because a fall is answered with single frames.
#[test]
fn a_bitrate_far_above_what_frames_had_still_falls() {
    let mut stream = Stream::on_link(Config::default());
    stream.mimosa.rate = LINK.scale(4.0);
    stream.mimosa.hold_until = FrameId(0);
    stream.frame(&SERVED, Bytes::ZERO);
    stream.settle();
    assert_eq!(stream.mimosa.cause, Cause::AboveQueueTarget);
    assert_eq!(stream.mimosa.rate, LINK.scale(4.0).scale(0.7));
}

#[test]
fn the_fill_is_what_frames_take_of_their_grants() {
    let mut fill = Fill::default();
    let mut took = |granted: Option<u64>, size: u64| {
        fill.grant(granted.map(Bytes::new));
        fill.took(Bytes::new(size));
        fill.get()
    };
    // The mean moves by a thirty-second of the distance to 1.2.
    assert!(close(took(Some(10_000), 12_000), 1.0 + 0.2 / 32.0));
    // A frame with a limit of its own says nothing.
    assert!(close(took(None, 12_000), 1.0 + 0.2 / 32.0));
    assert!(close(took(Some(0), 12_000), 1.0 + 0.2 / 32.0));
    for _ in 0..1_000 {
        took(Some(10_000), 90_000);
    }
    assert!(close(took(Some(10_000), 90_000), 1.5));
    for _ in 0..1_000 {
        took(Some(10_000), 10);
    }
    assert!(close(took(Some(10_000), 10), 0.75));
}

/// Frames of 0.8 and 0.9 of their grants in turn are 0.05 from their mean, and nearly all
/// within 0.95.
#[test]
fn of_an_encoder_that_keeps_to_its_grants_nearly_all_frames_count() {
    let after = |sizes: [u64; 2]| {
        let mut fill = Fill::default();
        for frame in 0..2_000 {
            fill.grant(Some(Bytes::new(10_000)));
            fill.took(Bytes::new(sizes[frame % 2]));
        }
        fill.get()
    };
    let near = |one: f64, other: f64| assert!((one - other).abs() < 0.01, "{one}, not {other}");
    near(after([8_500; 2]), 0.85);
    near(after([8_000, 9_000]), 0.95);
    // The ratio is no more than one.
    near(after([8_000, 10_000]), 1.0);
    // An encoder that does not keep to its grants counts by its mean.
    near(after([9_000, 13_000]), 1.1);
}

#[test]
fn values_without_meaning_are_refused() {
    let plain = Config::default();
    assert_eq!(plain.check(), Ok(()));
    #[rustfmt::skip]
    let wrong = [
        ("target_share", Config { target_share: 1.5, ..plain }),
        ("knee", Config { knee: 0.0, ..plain }),
        ("shared_from", Config { shared_from: 0.0, ..plain }),
        ("alone", Config { alone: -0.1, ..plain }),
        ("alone", Config { alone: 0.3, ..plain }),
        ("noise_part", Config { noise_part: -1.0, ..plain }),
        ("loss", Config { loss: 2.0, ..plain }),
        ("far_gain", Config { far_gain: -0.1, ..plain }),
        ("near_gain", Config { near_gain: 2.1, ..plain }),
        ("pull", Config { pull: f64::NAN, ..plain }),
        ("shared_drop", Config { shared_drop: -0.1, ..plain }),
        ("shared_drop", Config { shared_drop: 0.5, target_share: 0.5, ..plain }),
        ("standing_gain", Config { standing_gain: f64::INFINITY, ..plain }),
        ("pace_gain", Config { pace_gain: 0.5, ..plain }),
        ("alone_pace_gain", Config { alone_pace_gain: 0.5, ..plain }),
        ("spread_part", Config { spread_part: -0.1, ..plain }),
        ("noise_gain", Config { noise_gain: -0.1, ..plain }),
        ("most_noise", Config { most_noise: -0.1, ..plain }),
        ("probe_share", Config { probe_share: f64::NAN, ..plain }),
        ("release", Config { release: 0.9, ..plain }),
        ("application_headroom", Config { application_headroom: 0.5, ..plain }),
        ("backlog_share", Config { backlog_share: -1.0, ..plain }),
        ("overdue", Config { overdue: -1.0, ..plain }),
        ("stalled", Config { stalled: f64::NAN, ..plain }),
        ("skipping", Config { skipping: 1e5, ..plain }),
        ("silence", Config { silence: -1.0, ..plain }),
        ("smoothing_window", Config { smoothing_window: TimeDelta::ZERO, ..plain }),
        ("min_delay_window", Config { min_delay_window: MS(-1), ..plain }),
        ("probes", Config { probes: 65, ..plain }),
    ];
    for (key, config) in wrong {
        assert_eq!(config.check().unwrap_err().key, key);
    }
}

/// A stream at `kbps` over a link of 20 Mbit/s with a round trip of 20 ms, of whose last 100
/// packets of 1500 bytes `marked` have a mark. Its last round ended at 975 ms.
fn beside_marks(kbps: u64, marked: u64) -> Mimosa {
    let mut mimosa = Stream::blind(Config::default()).mimosa;
    mimosa.rate = Rate::from_kbps(kbps);
    let train = Train {
        size: Bytes::new(5_000),
        span: MS(2),
        uneven: TimeDelta::ZERO,
    };
    for _ in 0..3 {
        mimosa.bottleneck.train(Time::ZERO, train);
    }
    mimosa.base.arrived(Time::from_millis(975), DELAY, MS(20));
    mimosa
        .marks
        .answer(Time::from_millis(975), mimosa.rate, MS(20));
    for packet in 0..100 {
        let is_marked = packet < marked;
        let at = Time::from_millis(980);
        mimosa.marks.arrived(at, Bytes::new(1_500), is_marked);
    }
    mimosa
}

const ROUND: Time = Time::from_millis(1_000);

#[test]
fn two_and_a_half_marks_in_a_virtual_round_trip_are_a_flows_part() {
    // 9.6 Mbit/s are 20 packets in 25 ms, of which an eighth is marked: 1 + 1/20 - 0.125/2.5
    let (factor, _) = beside_marks(9_600, 13).factor(ROUND, 1.2);
    is(factor, 0.998);
    // Twice as many marks, and half as many.
    let (factor, cause) = beside_marks(9_600, 26).factor(ROUND, 1.2);
    is(factor, 1.05 - 0.104);
    assert_eq!(cause, Cause::Marked);
    let (factor, cause) = beside_marks(9_600, 6).factor(ROUND, 1.2);
    is(factor, 1.05 - 0.024);
    assert_eq!(cause, Cause::BelowQueueTarget);
    // A flow with half of the bitrate grows by twice as much of it.
    is(beside_marks(4_800, 6).factor(ROUND, 1.2).0, 1.1 - 0.024);
    // A longer round counts for as much more, and a longer round trip for as much less.
    let later = Time::from_millis(1_025);
    is(
        beside_marks(9_600, 26).factor(later, 1.2).0,
        1.0 - 2.0 * 0.054,
    );
    let mut marks = beside_marks(9_600, 26).marks;
    let factor = marks.answer(ROUND, Rate::from_kbps(9_600), MS(50));
    is(factor, 1.0 + 0.5 * (0.025 - 0.104));
}

#[test]
fn a_round_without_a_mark_only_grows() {
    let mut mimosa = beside_marks(9_600, 26);
    mimosa.factor(ROUND, 1.2);
    is(mimosa.factor(Time::from_millis(1_025), 1.2).0, 1.05);
}

#[test]
fn beside_others_marks_count_and_the_load_of_the_link_does_not() {
    // Others bring all but a quarter of a load above one. By the load, it falls.
    let by_load = libm::pow(0.77 / 1.2, 0.3) * libm::exp(0.08 * 0.75);
    is(beside_marks(5_000, 0).factor(ROUND, 1.2).0, by_load);
    assert!(beside_marks(5_000, 5).factor(ROUND, 1.2).0 > 1.0);
    // A low load does not let it grow fast where marks come.
    assert!(beside_marks(5_000, 5).factor(ROUND, 0.4).0 < 1.1);
    // Alone, both count.
    let alone = |marked, load| beside_marks(19_000, marked).factor(ROUND, load);
    is(alone(1, 1.2).0, alone(0, 1.2).0);
    assert_eq!(alone(1, 1.2).1, Cause::AboveQueueTarget);
    assert!(alone(90, 0.95).0 < 0.7 + 1e-9);
    assert_eq!(alone(90, 0.95).1, Cause::Marked);
}

#[test]
fn old_marks_and_marks_behind_a_long_queue_say_nothing() {
    let by_load = beside_marks(5_000, 0).factor(ROUND, 1.2).0;
    let late = Time::from_millis(2_181);
    is(beside_marks(5_000, 5).factor(late, 1.2).0, by_load);
    let mut queued = beside_marks(5_000, 5);
    for ms in 0..1_200 {
        let at = Time::from_millis(1_000 + ms);
        queued.base.arrived(at, DELAY + MS(5), MS(25));
        queued.marks.arrived(at, Bytes::new(1_500), ms % 20 == 0);
    }
    is(queued.factor(Time::from_millis(2_200), 1.2).0, by_load);
}

#[test]
fn behind_a_queue_that_marks_a_frame_is_spread_and_has_a_short_lead() {
    let pacing = |others: f64, marked| {
        let mut mimosa = beside_marks(19_000, marked);
        mimosa.interval = L;
        mimosa.others = others;
        // The link was busy throughout the frame before.
        let mut before = Interval::new(FrameId(0), L, FRAME, 10);
        for packet in 0..10 {
            let sent = Time::from_millis(packet);
            before.sent(Sequence(packet), sent, PACKET);
            before.arrived(Sequence(packet), DELAY + MS(1));
        }
        before.known = Some(Time::ZERO);
        mimosa.intervals.push(before);
        mimosa.frame_encoded(ROUND, FrameId(1), FRAME, 10);
        match mimosa.decision.pacing {
            Pacing::Spread { over, lead } => (over, lead),
            other => panic!("{other:?}"),
        }
    };
    // The link serves the frame in 4 ms.
    assert_eq!(pacing(0.0, 5), (MS(4), 2));
    assert_eq!(pacing(0.0, 0), (MS(4).scale(1.0 / 1.2), 4));
    assert_eq!(pacing(0.5, 5), (MS(8), 2));
}
