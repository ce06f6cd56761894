//! Tests of what is known of the link and the path: rate, delay and reports.

use super::super::bottleneck::Bottleneck;
use super::super::service::Service;
use super::super::train::{Train, Trains};
use super::super::turns::FrameArrival;
use super::*;

fn even(size: u64, span: i64) -> Train {
    Train {
        size: Bytes::new(size),
        span: MS(span),
        uneven: TimeDelta::ZERO,
    }
}

fn seen(list: &[(u64, i64)]) -> Option<Rate> {
    let mut trains = Trains::default();
    for (size, span) in list {
        trains.add(Time::ZERO, even(*size, *span));
    }
    trains.rate()
}

#[test]
fn the_middle_half_of_trains_tells_the_rate() {
    assert_eq!(seen(&[(3_000, 3), (3_000, 3)]), None, "from three on");
    assert_eq!(seen(&[(3_000, 3), (3_000, 3), (3_000, 3)]), Some(LINK));
    // Of the rates 24, 8, 8 and 1.2 Mbit/s the middle two count.
    let four = [(3_000, 20), (3_000, 3), (3_000, 1), (3_000, 3)];
    assert_eq!(seen(&four), Some(LINK));
    // The middle two are 2000 B in 3 ms and 3000 B in 2 ms: 5000 B in 5 ms.
    let four = [(3_000, 20), (2_000, 3), (3_000, 2), (3_000, 1)];
    assert_eq!(seen(&four), Some(LINK));
}

#[test]
fn trains_that_were_compressed_on_their_way_do_not_count() {
    let mut eight = [(3_000, 3); 8];
    eight[..2].fill((3_000, 0));
    assert_eq!(seen(&eight), Some(LINK));
    assert_eq!(seen(&[(3_000, 0); 8]), None, "and none tells no rate");
}

#[test]
fn trains_are_remembered_for_32_frames() {
    let mut all = vec![(3_000, 3); 32];
    all.extend([(3_000, 6); 32]);
    assert_eq!(seen(&all), Some(Rate::from_kbps(4_000)));
}

#[test]
fn the_fastest_of_the_last_three_trains_is_what_is_left_after_a_fall() {
    let mut trains = Trains::default();
    let now = Time::from_secs(1);
    assert_eq!(trains.newest(now), None);
    trains.add(now, even(3_000, 3));
    for slow in 1..=3 {
        trains.add(now, even(3_000, 6));
        let newest = if slow < 3 { LINK } else { LINK.scale(0.5) };
        assert_eq!(trains.newest(now), Some(newest), "{slow}");
    }
}

/// The trains arrived at a rate that the receiver's clock could not tell, which is
/// not a rate of zero.
#[test]
fn trains_that_arrived_at_once_keep_no_frame_small() {
    let now = Time::from_secs(1);
    for place in 0..3 {
        let mut spans = [6; 3];
        spans[place] = 0;
        let mut trains = Trains::default();
        for span in spans {
            trains.add(now, even(3_000, span));
        }
        assert_eq!(trains.newest(now), None, "{spans:?}");
        trains.add(now, even(3_000, 6));
        let is_over = place == 0;
        assert_eq!(trains.newest(now).is_some(), is_over, "{spans:?}");
    }
}

#[test]
fn old_trains_keep_no_frame_small() {
    let mut trains = Trains::default();
    trains.add(Time::ZERO, even(3_000, 3));
    assert_eq!(trains.newest(Time::ZERO + MS(150)), Some(LINK));
    assert_eq!(trains.newest(Time::ZERO + MS(151)), None);
}

#[test]
fn a_train_is_what_left_together_and_arrived_in_a_row() {
    let train = |packets: &[(i64, Option<i64>)]| {
        let mut interval = Interval::new(FrameId(1), L, FRAME, 6);
        for (sequence, (after, waited)) in (1_u64..).zip(packets) {
            let sequence = Sequence(sequence);
            interval.sent(sequence, Time::from_secs(1) + MS(*after), PACKET);
            if let Some(waited) = waited {
                interval.arrived(sequence, DELAY + MS(*waited));
            }
        }
        let train = interval.train(4);
        train.map(|train| (train.size.get(), train.span))
    };
    let at = |after: i64, waited: i64| (after, Some(waited));
    let five = [at(0, 1), at(0, 2), at(0, 3), at(0, 4), at(5, 1)];
    assert_eq!(train(&five), Some((3_000, MS(3))));
    // The train ends before the first packet that was lost.
    let lost = [at(0, 1), at(0, 2), (0, None), at(0, 4)];
    assert_eq!(train(&lost), Some((1_000, MS(1))));
    assert_eq!(train(&[(0, None), at(0, 2), at(0, 3)]), None);
    assert_eq!(train(&[at(0, 1)]), None, "one packet has no rate");
    // Packets of the next part leave later, and are none of the train.
    assert_eq!(train(&[at(0, 1), at(0, 2), at(1, 2)]), Some((1_000, MS(1))));
    assert_eq!(train(&[at(0, 1), at(1, 2)]), None);
}

/// The train of four packets that leave together and arrive `gaps` milliseconds
/// after one another.
fn gaps(gaps: [i64; 3]) -> Train {
    let mut interval = Interval::new(FrameId(1), L, FRAME, 4);
    let mut waited = 1;
    for (sequence, gap) in (1..).map(Sequence).zip([0].into_iter().chain(gaps)) {
        waited += gap;
        interval.sent(sequence, Time::from_secs(1), PACKET);
        interval.arrived(sequence, DELAY + MS(waited));
    }
    interval.train(4).unwrap()
}

#[test]
fn gaps_that_are_uneven_tell_how_much_delays_are_without_a_queue() {
    assert_eq!(gaps([2, 2, 2]).uneven, TimeDelta::ZERO, "a slow link");
    // Even gaps would be 2 ms: these differ by 1, 0 and 1, or by 2, 4 and 2.
    assert_eq!(gaps([1, 2, 3]).uneven, MS(2) / 3);
    assert_eq!(gaps([0, 6, 0]).uneven, MS(8) / 3);
    // The median of the trains counts, and not one train that was held up.
    let mut stream = Stream::new(Config::default());
    let mut noise = |train: Train| {
        stream.mimosa.bottleneck.train(Time::ZERO, train);
        stream.mimosa.reference().noise
    };
    let twice = [(); 2].map(|()| noise(even(3_000, 3)));
    assert_eq!(twice, [TimeDelta::ZERO; 2]);
    assert_eq!(noise(gaps([0, 6, 0])), TimeDelta::ZERO);
    // From two uneven trains of four on, the noise is 1.6 times 2/3 of a
    // millisecond.
    let small = (MS(2) / 3).scale(1.6);
    assert_eq!(noise(gaps([1, 2, 3])), small);
    assert_eq!(noise(gaps([1, 2, 3])), small);
    // The noise is a quarter of L at most.
    let most = [(); 8].map(|()| noise(gaps([0, 6, 0]))).into_iter().max();
    assert_eq!(most, Some(MS(10) / 4));
}

#[test]
fn the_shortest_delay_is_that_of_a_packet_without_size() {
    let mut stream = Stream::blind(Config::default());
    for _ in 0..2 {
        stream.frame(&SERVED, Bytes::ZERO);
        stream.settle();
    }
    // The first packet of each frame takes 1 ms on the link, whose rate is not
    // known yet.
    assert_eq!(stream.mimosa.base.shortest(), DELAY + MS(1));
    stream.frame(&SERVED, Bytes::ZERO);
    stream.settle();
    assert_eq!(stream.mimosa.bottleneck.rate(), Some(LINK));
    assert_eq!(stream.mimosa.base.shortest(), DELAY);
}

/// A `Base` that met an empty path at one second.
fn base() -> Base {
    let mut base = Base::new(MS(3_000));
    base.arrived(Time::from_secs(1), DELAY, MS(20));
    base
}

#[test]
fn the_smallest_delay_is_forgotten_after_the_window() {
    let mut base = base();
    // The window has twenty slots; a value leaves the window at most one slot
    // early.
    for ms in (1_010..=3_800).step_by(10) {
        base.arrived(Time::from_millis(ms), DELAY + MS(4), MS(24));
        assert_eq!(base.shortest(), DELAY, "at {ms} ms");
    }
    for ms in (3_810..=4_150).step_by(10) {
        base.arrived(Time::from_millis(ms), DELAY + MS(4), MS(24));
    }
    assert_eq!(base.shortest(), DELAY + MS(4));
    assert_eq!(base.round_trip(), Some(MS(24)));
}

#[test]
fn a_clock_that_was_set_forward_is_told_after_16_packets() {
    let at = Time::from_millis(1_100);
    let mut set = base();
    for packet in 1..=15 {
        assert_eq!(set.arrived(at, DELAY + MS(20), MS(20)), MS(20), "{packet}");
    }
    assert_eq!(set.arrived(at, DELAY + MS(20), MS(20)), TimeDelta::ZERO);
    assert_eq!(set.shortest(), DELAY + MS(20));
    // A queue makes the round trip longer as well.
    let mut queued = base();
    for _ in 0..100 {
        assert_eq!(queued.arrived(at, DELAY + MS(20), MS(40)), MS(20));
    }
    // Only consecutive packets count: one that says otherwise restarts the count.
    let mut one = base();
    for packet in 1..=31 {
        let wait = if packet == 16 { MS(0) } else { MS(20) };
        assert_eq!(one.arrived(at, DELAY + wait, MS(20)), wait, "{packet}");
    }
    // A step of 5 ms is left to the window.
    let mut little = base();
    for _ in 0..100 {
        assert_eq!(little.arrived(at, DELAY + MS(5), MS(20)), MS(5));
    }
}

#[test]
fn a_path_is_stale_when_no_packet_saw_it_empty_for_two_seconds() {
    let at = Time::from_millis;
    let mut base = base();
    assert!(!base.is_stale(at(3_000)));
    assert!(base.is_stale(at(3_001)));
    // A queue of 0.5 ms is as good as none, one of 0.6 ms is not.
    base.arrived(at(2_000), DELAY + TimeDelta::from_micros(500), MS(21));
    base.arrived(at(2_500), DELAY + TimeDelta::from_micros(600), MS(21));
    assert!(!base.is_stale(at(4_000)));
    assert!(base.is_stale(at(4_001)));
    base.asked(at(4_001));
    assert!(!base.is_stale(at(6_001)));
}

#[test]
fn the_least_of_four_gaps_between_reports_counts() {
    let mut gap = ReportGap::default();
    let mut after = |ms: u64| {
        gap.came(Time::from_millis(ms));
        gap.get()
    };
    for ms in [0, 50, 100, 150] {
        assert_eq!(after(ms), TimeDelta::ZERO, "fewer than four");
    }
    assert_eq!(after(200), MS(50));
    // Three long gaps of an outage do not count.
    assert_eq!([1_200, 2_200, 3_200].map(&mut after), [MS(50); 3]);
    assert_eq!(after(4_200), MS(1_000));
    assert_eq!(after(4_210), MS(10));
}

/// A packet each of `after` milliseconds that arrives `waited` milliseconds later than on an empty path.
fn frame(packets: &[(i64, i64)]) -> Option<FrameArrival> {
    let count = u32::try_from(packets.len()).unwrap();
    let mut interval = Interval::new(FrameId(1), L, FRAME, count);
    for (sequence, (after, waited)) in (1_u64..).zip(packets) {
        interval.sent(Sequence(sequence), Time::from_secs(1) + MS(*after), PACKET);
        interval.arrived(Sequence(sequence), DELAY + MS(*waited));
    }
    // A probe is no part of the frame.
    interval.sent(Sequence(99), Time::from_secs(2), PACKET);
    interval.arrived(Sequence(99), DELAY + MS(50));
    interval.arrival()
}

#[test]
fn pauses_are_gaps_longer_than_twice_the_even_ones() {
    let even = frame(&[(0, 1), (0, 2), (0, 3), (0, 4)]).unwrap();
    assert_eq!((even.size.get(), even.span), (3_000, MS(3)));
    assert_eq!(even.pauses, TimeDelta::ZERO);
    // Two and two packets, 6 ms apart: 2 ms would be even, and two of the 6 ms are a pause.
    let turns = frame(&[(0, 1), (0, 1), (0, 7), (0, 7)]).unwrap();
    assert_eq!((turns.span, turns.pauses), (MS(6), MS(2)));
    // At once, and one packet alone.
    let once = frame(&[(0, 1), (0, 1)]).unwrap();
    assert_eq!((once.span, once.pauses), (MS(0), MS(0)));
    assert!(frame(&[(0, 1)]).is_none());
}

#[test]
fn a_clock_of_a_quarter_of_a_millisecond_makes_no_pauses() {
    let mut interval = Interval::new(FrameId(1), L, FRAME, 40);
    for sequence in 0..40_u64 {
        // A packet each 100 us, to the quarter of a millisecond.
        let at = i64::try_from(sequence).unwrap() * 100 / 250 * 250;
        interval.sent(Sequence(sequence), Time::from_secs(1), PACKET);
        interval.arrived(Sequence(sequence), DELAY + TimeDelta::from_micros(at));
    }
    assert_eq!(interval.arrival().unwrap().pauses, TimeDelta::ZERO);
}

#[test]
fn a_third_of_pauses_for_a_dozen_frames_are_turns_and_a_fifth_are_none() {
    let now = Time::from_secs(1);
    let with = |pauses: i64| FrameArrival {
        size: Bytes::new(9_000),
        span: MS(10),
        pauses: MS(pauses),
    };
    let mut bottleneck = Bottleneck::default();
    for number in 1..=12 {
        assert!(!bottleneck.serves_in_turns(), "{number}");
        bottleneck.frame(now, &with(4));
    }
    assert!(bottleneck.serves_in_turns());
    // Of 64 frames: 0.25 is too little to begin with, and enough to go on.
    for _ in 0..640 {
        bottleneck.frame(now, &with(2));
        bottleneck.frame(now, &with(3));
    }
    assert!(bottleneck.serves_in_turns());
    for _ in 0..640 {
        bottleneck.frame(now, &with(1));
    }
    assert!(!bottleneck.serves_in_turns());
    for _ in 0..640 {
        bottleneck.frame(now, &with(2));
        bottleneck.frame(now, &with(3));
    }
    assert!(!bottleneck.serves_in_turns());
}

/// 1000 bytes are served each millisecond while others wait.
fn served(service: &mut Service) {
    for number in 0..40 {
        let sent = Time::from_secs(1);
        let at = PeerTime::from_nanos(0) + sent.since(Time::ZERO) + MS(number);
        service.arrived(sent, at, PACKET, TimeDelta::ZERO);
    }
}

#[test]
fn in_turns_the_rate_is_that_of_the_service() {
    let now = Time::from_secs(1);
    let mut bottleneck = Bottleneck::default();
    assert_eq!(bottleneck.rate(), None);
    served(&mut bottleneck.service);
    let frame = |pauses: i64| FrameArrival {
        size: Bytes::new(30_000),
        span: MS(10),
        pauses: MS(pauses),
    };
    for _ in 0..64 {
        bottleneck.train(now, even(3_000, 6));
        bottleneck.frame(now, &frame(0));
    }
    // Whole frames arrive at 24 Mbit/s: the first packets were held up.
    assert_eq!(bottleneck.rate(), Some(Rate::from_kbps(24_000)));
    assert_eq!(bottleneck.newest(now), Some(Rate::from_kbps(24_000)));
    for _ in 0..64 {
        bottleneck.frame(now, &frame(5));
    }
    let rate = bottleneck.rate().unwrap().as_mbps();
    assert!((rate - 8.0).abs() < 0.01, "{rate}");
}
