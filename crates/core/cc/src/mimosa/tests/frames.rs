//! Tests of the answers with single frames: to a backlog, overdue frames, an outage and
//! hold-ups.

use super::*;

#[test]
fn a_backlog_makes_the_next_frame_smaller_by_itself() {
    // The smallest round trip is 20 ms: 20 kB of 8 Mbit/s are no backlog, and neither are
    // three packets of 1200 B on top.
    for (in_flight, limit, backlog) in [
        (20_000, None, 0),
        (23_600, None, 3_600),
        // The limit is 0.97 of 10 kB, less the backlog.
        (24_000, Some(5_700), 4_000),
        // The smallest frame, of 80 kbit/s.
        (40_000, Some(100), 20_000),
    ] {
        let mut stream = Stream::on_link(Config::default());
        stream.frame(&SERVED, Bytes::new(in_flight));
        stream.settle();
        stream.mimosa.rate = LINK;
        let decision = stream.due();
        assert_eq!(decision.evidence.service_rate, Some(LINK));
        assert_eq!(decision.evidence.backlog, Some(Bytes::new(backlog)));
        assert_eq!(decision.frame_limit, limit.map(Bytes::new));
        let is_answer = decision.cause == Cause::FrameFallback;
        assert_eq!(is_answer, limit.is_some(), "{in_flight}");
    }
}

/// From when the newest packet left the link until its report, the link has served 20 kB.
#[test]
fn a_backlog_is_that_of_the_moment_at_which_a_frame_is_due() {
    let backlog = |after: i64, sends: bool| {
        let mut stream = Stream::on_link(Config::default());
        stream.frame(&SERVED, Bytes::new(24_000));
        stream.settle();
        if sends {
            stream.frame(&SERVED, Bytes::ZERO);
            stream.now = stream.now - L;
        }
        stream.now += MS(after);
        stream.mimosa.rate = LINK;
        stream.due().evidence.backlog.unwrap().get()
    };
    assert_eq!(backlog(0, false), 4_000);
    assert_eq!(backlog(3, false), 1_000);
    assert_eq!(backlog(5, false), 0);
    assert_eq!(backlog(10, true), 4_000);
}

/// A link that became faster lets no packet wait, and no busy period tells its rate.
#[test]
fn a_busy_period_that_is_long_over_tells_no_backlog() {
    for (frames, is_told) in [(8, true), (9, false)] {
        let mut stream = Stream::on_link(Config::default());
        stream.mimosa.rate = LINK;
        for _ in 0..frames {
            let free = [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0)];
            stream.frame(&free, Bytes::new(60_000));
        }
        stream.settle();
        stream.mimosa.rate = LINK;
        let decision = stream.due();
        assert_eq!(decision.frame_limit.is_some(), is_told, "{frames}");
    }
}

/// All packets of a frame arrive within one step of the receiver's clock.
#[test]
fn a_link_that_is_faster_than_can_be_told_keeps_no_frame_small() {
    let mut stream = Stream::new(Config::default());
    for frame in 0..100 {
        stream.frame(&[(0, 0); 10], Bytes::ZERO);
        stream.settle();
        let decision = stream.due();
        assert_eq!(decision.frame_limit, None, "{frame}");
    }
    assert!(stream.mimosa.rate > LINK);
}

/// The link needs 10 ms for the frame of 10 kB that was sent last; L is as long.
#[test]
fn a_frame_is_spread_over_its_own_time_and_that_of_others() {
    let spread_after = |served: usize, others: f64, size: u64| {
        let mut stream = Stream::on_link(Config::default());
        stream.frame(&SERVED[..served], Bytes::ZERO);
        stream.settle();
        stream.mimosa.others = others;
        let interval = L;
        let frame = FrameId(stream.frame + 1);
        let now = stream.now;
        stream
            .mimosa
            .handle(now, Event::FrameDue { frame, interval });
        let encoded = Event::FrameEncoded {
            frame,
            size: Bytes::new(size),
            packets: 4,
        };
        let Pacing::Spread { over, lead: 4 } = stream.mimosa.handle(now, encoded).pacing else {
            panic!("not spread");
        };
        over.as_millis()
    };
    let spread = |others, size| spread_after(10, others, size);
    let near = |one: f64, other: f64| assert!((one - other).abs() < 1e-3, "{one}, not {other}");
    // For a flow that is alone, 5 kB take half of the link's time.
    near(spread(0.0, 5_000), 5.0 / 1.2);
    near(spread(0.14, 10_000), 10.0 / 1.2);
    near(spread(0.16, 10_000), 10.0 / 1.1);
    near(spread(0.0, 20_000), 10.0 / 1.2);
    // The link has become twice as fast: a frame of 8 kB needs 4 ms.
    near(spread_after(5, 0.0, 8_000), 4.0 / 1.2);
    near(spread_after(5, 0.0, 16_000), 8.0 / 1.2);
    // Beside others, a frame is spread over the load without the frame before, and its own
    // time.
    near(spread(0.5, 5_000), 5.0 / 1.1);
    near(spread(0.5, 10_000), 10.0 / 1.1);
}

/// 0.97 of what the link carries in L are 9.7 kB; up to a tenth more may be tried.
#[test]
fn no_frame_is_larger_than_the_link_carries() {
    for (kbps, limit) in [
        (8_000, None),
        (8_530, None),
        (8_540, Some(9_700)),
        (30_000, Some(9_700)),
        // Noise may have stretched the trains: a quarter of 62.5 kB.
        (50_000, Some(15_625)),
    ] {
        let mut stream = Stream::on_link(Config::default());
        stream.mimosa.rate = Rate::from_kbps(kbps);
        let limit = limit.map(Bytes::new);
        assert_eq!(stream.due().frame_limit, limit, "{kbps} kbit/s");
    }
}

/// Probes of 100 B take a twentieth of a frame at most, but one is always sent.
#[test]
fn small_frames_have_few_probes_and_leave_them_room() {
    let mut stream = Stream::on_link(Config::default());
    let probe = |stream: &mut Stream, size: u64| {
        let packet = SentPacket {
            sequence: Sequence(1_000),
            frame: FrameId(stream.frame),
            kind: PacketKind::Probe,
            size: Bytes::new(size),
            sent: stream.now,
        };
        stream.mimosa.handle(stream.now, Event::PacketSent(packet));
    };
    let probes = |stream: &Stream| {
        [12_000, 11_900, 4_000, 200].map(|size| stream.mimosa.probes(Bytes::new(size)))
    };
    assert_eq!(probes(&stream), [6; 4], "their size is not known");
    probe(&mut stream, 100);
    assert_eq!(probes(&stream), [6, 5, 2, 1]);
    // The limit is 9.7 kB less six probes, in place of 25 kB.
    stream.mimosa.rate = Rate::from_kbps(20_000);
    assert_eq!(stream.due().frame_limit, Some(Bytes::new(9_100)));
}

/// 50 kB are in flight: those of 50 ms on the way, or those of 20 ms on the way and of a
/// queue of 30 ms.
#[test]
fn reports_that_come_late_are_no_backlog() {
    let mut late = Stream::on_link(Config::default());
    late.round_trip = MS(50);
    late.frame(&SERVED, Bytes::new(50_000));
    late.settle();
    late.mimosa.rate = LINK;
    let decision = late.due();
    assert_eq!(decision.evidence.backlog, Some(Bytes::ZERO));
    assert_eq!(decision.frame_limit, None);

    let mut queued = Stream::on_link(Config::default());
    let packets = SERVED.map(|(after, waited)| (after, waited + 30));
    queued.frame(&packets, Bytes::new(50_000));
    queued.settle();
    queued.mimosa.rate = LINK;
    let decision = queued.due();
    assert_eq!(decision.evidence.backlog, Some(Bytes::new(30_000)));
    assert_eq!(decision.frame_limit, Some(Bytes::new(100)));
}

/// A backlog of 30 kB is three frames' time: the next frame is as small as possible, if none was for
/// 100 ms, and skipped otherwise.
#[test]
fn a_frame_to_which_the_backlog_leaves_nothing_is_skipped() {
    for (skips_by_backlog, second) in [(true, 0), (false, 100)] {
        let mut stream = Stream::on_link(Config {
            skips_by_backlog,
            ..Config::default()
        });
        stream.frame(&SERVED, Bytes::new(60_000));
        stream.settle();
        stream.mimosa.rate = LINK;
        assert_eq!(stream.due().frame_limit, Some(Bytes::new(100)));
        stream.now += L;
        let decision = stream.due();
        assert_eq!(decision.evidence.backlog, Some(Bytes::new(30_000)));
        assert_eq!(decision.frame_limit, Some(Bytes::new(second)));
    }
}

/// A stream with a frame on its way about which no report comes, and when the frame left.
fn silent() -> (Stream, Time) {
    let mut stream = Stream::new(Config::default());
    stream.mimosa.rate = LINK;
    let sent = stream.now;
    stream.frame(&[(0, 0)], Bytes::ZERO);
    stream.pending.clear();
    (stream, sent)
}

#[test]
fn an_overdue_frame_halves_the_next_and_a_stalled_one_leaves_the_least() {
    let (mut stream, sent) = silent();
    // The smallest round trip is 20 ms; a frame is overdue 16 ms after it, and stalled 22
    // ms after it.
    for (age, expected) in [
        (36, None),
        (37, Some(5_000)),
        (42, Some(5_000)),
        (43, Some(100)),
    ] {
        stream.now = sent + MS(age);
        let limit = stream.due().frame_limit;
        assert_eq!(limit, expected.map(Bytes::new), "after {age} ms");
    }
    assert_eq!(stream.due().cause, Cause::NextDelayFallback);
    // Silence halves the bitrate, and does not do so again at once.
    for (age, kbps) in [(120, 8_000), (121, 4_000), (131, 4_000), (222, 2_000)] {
        stream.now = sent + MS(age);
        stream.due();
        assert_eq!(stream.mimosa.rate, Rate::from_kbps(kbps), "{age}");
    }
    assert_eq!(stream.mimosa.cause, Cause::FeedbackTimeout);
}

#[test]
fn what_was_decoded_or_given_up_is_not_overdue() {
    for is_decoded in [true, false] {
        let (mut stream, sent) = silent();
        let frame = FrameId(stream.frame);
        stream.now = sent + MS(60);
        let event = if is_decoded {
            Event::FrameDecoded { frame }
        } else {
            Event::FrameGivenUp { frame }
        };
        stream.mimosa.handle(stream.now, event);
        assert_eq!(stream.due().frame_limit, None);
    }
}

/// Reports come 50 ms apart: beyond its interval of 10 ms, a frame may wait 40 ms for the
/// next report.
#[test]
fn frames_that_wait_for_a_seldom_report_are_not_overdue() {
    let (mut stream, sent) = silent();
    for report in 0..8 {
        stream
            .mimosa
            .report_gap
            .came(Time::from_millis(50 * report));
    }
    for (age, expected) in [(84, None), (85, Some(5_000)), (94, Some(100))] {
        stream.now = sent + MS(age);
        let limit = stream.due().frame_limit;
        assert_eq!(limit, expected.map(Bytes::new), "after {age} ms");
    }
}

#[test]
fn in_an_outage_a_frame_each_100_ms_is_sent_and_the_others_skipped() {
    let (mut stream, sent) = silent();
    let mut shown = Vec::new();
    for age in (45..=400).step_by(5) {
        stream.now = sent + MS(age);
        let limit = stream.due().frame_limit.unwrap();
        if limit > Bytes::ZERO {
            assert_eq!(limit, Bytes::new(100), "after {age} ms");
            shown.push(age);
        }
    }
    // A frame is stalled, not skipped, up to 35 ms above the round trip of 20 ms.
    assert_eq!(shown, [45, 50, 55, 155, 255, 355]);
}

/// Beside others a frame may wait 1.5 times as long, and so it may where the link serves in turns.
#[test]
fn beside_others_frames_are_overdue_later() {
    let (mut stream, sent) = silent();
    stream.mimosa.others = 1.0;
    for (age, expected) in [
        (44, None),
        (45, Some(5_000)),
        (53, Some(5_000)),
        (54, Some(100)),
    ] {
        stream.now = sent + MS(age);
        let limit = stream.due().frame_limit;
        assert_eq!(limit, expected.map(Bytes::new), "after {age} ms");
    }
}

#[test]
fn a_path_that_is_being_forgotten_is_seen_by_one_small_frame() {
    let mut stream = Stream::new(Config::default());
    stream.mimosa.rate = LINK;
    let met = stream.now;
    let mut after = |ms: i64, share: f64| {
        stream.mimosa.decision.evidence.smoothed_utilization = Some(share);
        stream.now = met + MS(ms);
        let decision = stream.due();
        let is_asked = decision.cause == Cause::PathChange;
        assert_eq!(decision.frame_limit.is_some(), is_asked, "{ms}");
        decision.frame_limit
    };
    assert_eq!(after(2_000, 1.1), None);
    assert_eq!(after(2_001, 0.97), None, "no queue stands");
    assert_eq!(after(2_001, 1.1), Some(Bytes::new(5_000)));
    assert_eq!(after(2_011, 1.1), None, "once");
    assert_eq!(after(4_001, 1.1), None);
    assert_eq!(after(4_002, 1.1), Some(Bytes::new(5_000)));
}

/// Only the last two packets of a frame are among those held up. The hold-up cannot be told
/// before the packets of the next frame, which come with them.
#[test]
fn an_answer_to_a_hold_up_is_taken_back() {
    let mut stream = Stream::on_link(Config::default());
    stream.mimosa.hold_until = FrameId(0);
    let believed = stream.smoothed();
    stream.frame(&[(0, 1), (4, 1), (8, 33), (9, 32)], Bytes::ZERO);
    stream.frame(&[(0, 31), (1, 30), (2, 29), (3, 28)], Bytes::ZERO);
    let pending: Vec<_> = stream.pending.drain(..).collect();
    let reports: Vec<_> = pending.iter().flat_map(|each| &each.reports).collect();
    let now = pending[1].at;
    let mut rates = Vec::new();
    for report in reports {
        let (reports, in_flight) = (&[*report][..], Bytes::ZERO);
        let event = Event::Feedback { reports, in_flight };
        rates.push(stream.mimosa.handle(now, event).target);
    }
    assert!(rates[3] < LINK.scale(0.9), "{rates:?}");
    // The third consecutive packet that comes too fast restores the bitrate.
    assert_eq!(rates[4], rates[3]);
    assert!(rates[5..].iter().all(|rate| *rate >= rates[2]), "{rates:?}");
    assert!(stream.smoothed() < believed + 0.02);
}

/// A clock with steps of a millisecond brings packets of a fast link together, ten at a
/// time.
#[test]
fn packets_that_a_coarse_clock_brings_together_were_not_held_up() {
    let mut release = Release::default();
    let belief = Belief {
        rate: LINK,
        cause: Cause::Start,
        load: None,
    };
    let mut arrives = |sent_us: u64, at_us: i64| {
        let packet = SentPacket {
            sequence: Sequence(sent_us),
            frame: FrameId(1),
            kind: PacketKind::Media,
            size: PACKET,
            sent: Time::ZERO + TimeDelta::from_micros(sent_us.cast_signed()),
        };
        let at = PeerTime::from_nanos(at_us * 1_000);
        let soonest = Some(TimeDelta::from_micros(50));
        release.arrived(&packet, at, soonest, L, belief).is_some()
    };
    let clock = |us: i64| us / 1_000 * 1_000;
    for sent in (0..20_000_u32).step_by(100) {
        assert!(!arrives(u64::from(sent), clock(i64::from(sent) + 30_000)));
    }
    // The packets of 5 ms come at once; an eighth of L is 1.25 ms.
    let held: Vec<_> = (20_000..25_000_u64)
        .step_by(100)
        .map(|sent| arrives(sent, 55_000))
        .collect();
    assert_eq!(held.iter().position(|is_held| *is_held), Some(13));
}

#[test]
fn a_frame_that_was_held_up_is_no_queue() {
    // The first packet passes; the others come 30 ms later, all at once or as the link
    // serves them, 1 ms apart.
    for (packets, is_queue) in [
        ([(0, 1), (1, 30), (2, 29), (3, 28), (4, 27)], false),
        ([(0, 1), (1, 30), (2, 30), (3, 30), (4, 30)], true),
    ] {
        let mut stream = Stream::on_link(Config::default());
        let before = stream.smoothed();
        stream.frame(&packets, Bytes::ZERO);
        stream.settle();
        let after = stream.smoothed();
        let at = format!("{before}, {after}");
        assert!((0.9..=1.1).contains(&before), "{at}");
        assert_eq!(after > 1.2, is_queue, "{at}");
        assert_eq!((after - before).abs() < 0.02, !is_queue, "{at}");
    }
}
