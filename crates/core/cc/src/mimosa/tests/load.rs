//! Tests of the load of an interval.

use super::*;

fn reference(link: Rate, standing_gain: f64) -> Reference {
    Reference {
        shortest: DELAY,
        noise: TimeDelta::ZERO,
        link: Some(link),
        in_turns: false,
        standing_gain,
    }
}

/// An interval of L. Each of `packets` leaves the first number of milliseconds after
/// `begins`, and takes the second number of milliseconds longer than on an empty path.
fn interval(begins: i64, packets: &[(i64, i64)]) -> Interval {
    let count = u32::try_from(packets.len()).unwrap();
    let mut interval = Interval::new(FrameId(1), L, FRAME, count);
    for (sequence, (after, waited)) in (1_u64..).zip(packets) {
        let sent = Time::from_secs(1) + MS(begins + after);
        let sequence = Sequence(sequence);
        interval.sent(sequence, sent, PACKET);
        interval.arrived(sequence, DELAY + MS(*waited));
    }
    interval.known = Some(Time::from_secs(2));
    interval
}

/// The load of `packets`. `next` is by how many milliseconds the next interval's first
/// packet takes longer than on an empty path, if that is known.
fn load(packets: &[(i64, i64)], next: Option<i64>, standing_gain: f64) -> f64 {
    let reference = reference(LINK, standing_gain);
    let end = next.and_then(|waited| interval(10, &[(0, waited)]).begin(&reference));
    interval(0, packets).load(&reference, end).unwrap()
}

#[test]
fn the_link_is_busy_with_what_each_packet_meets_up_to_the_next() {
    // Busy for 1 ms, for 2 of 3 ms up to the next packet, and for 1 ms: 4 of 10 ms.
    assert!(close(load(&[(0, 1), (2, 3), (4, 1)], None, 0.0), 0.4));
    // A burst keeps the link busy until its last packet has left.
    assert!(close(
        load(&[(0, 1), (0, 2), (0, 3), (0, 6)], None, 0.0),
        0.6
    ));
    // Busy time ends with the interval: 4 of 6 ms are left then, and count as growth of the
    // queue.
    assert!(close(load(&[(0, 1), (8, 6)], None, 0.0), 0.1 + 0.2 + 0.4));
}

#[test]
fn the_queue_grows_from_the_beginning_of_an_interval_to_that_of_the_next() {
    // Busy for 1, 1 and 3 ms; then 4 ms are ahead of the next frame's first packet, which
    // takes 1 ms itself.
    let packets = [(0, 1), (1, 2), (2, 3)];
    assert!(close(load(&packets, Some(5), 0.0), 0.5 + 0.4));
    assert!(close(load(&packets, Some(1), 0.0), 0.5));
    // The link is busy all the time, and a queue of 6 ms drains: 0.4 came.
    assert!(close(load(&[(0, 7), (5, 5), (9, 2)], Some(1), 0.0), 0.4));
}

#[test]
fn what_stands_adds_a_tenth_of_itself() {
    // A queue of 3 ms is ahead of each packet, and of the next frame's first one.
    let packets = [(0, 4), (4, 4), (8, 4)];
    assert!(close(load(&packets, Some(4), 0.0), 1.0));
    assert!(close(load(&packets, Some(4), 0.1), 1.03));
    // A queue that is gone at one of them does not stand.
    assert!(close(
        load(&[(0, 4), (4, 1), (5, 5)], Some(4), 0.1),
        0.4 + 0.1 + 0.5
    ));
}

/// The first packet met no queue, since nothing served one in that time: the interval began
/// within a hold-up.
#[test]
fn a_load_is_no_less_than_what_the_frame_itself_brought() {
    // Busy for 5, 3 and 1 ms, with a queue that is 7 ms shorter at the end: 0.2. The packets
    // need 3 ms.
    let held = [(0, 8), (5, 3), (9, 1)];
    assert!(close(load(&held, Some(1), 0.0), 0.3));
    // A link that has become faster than it is taken for does not look as busy as that.
    let slow = reference(LINK.scale(0.5), 0.0);
    let mut quick = interval(0, &[(0, 1), (1, 1), (2, 1), (3, 1)]);
    assert!(close(quick.load(&slow, None).unwrap(), 0.4));
}

#[test]
fn noise_counts_as_little_as_it_is_in_the_mean() {
    let load = |noise: i64, packets: &[(i64, i64)]| {
        let reference = Reference {
            noise: MS(noise),
            ..reference(Rate::from_kbps(8_000_000_000), 0.0)
        };
        interval(0, packets).load(&reference, None).unwrap()
    };
    // Nothing is on the link.
    let empty = [(0, 0), (2, 2), (4, 1), (6, 1)];
    assert!(load(0, &empty) > 0.399);
    assert!(load(1, &empty).abs() < 1e-3, "{}", load(1, &empty));
    // Others bring 4 ms of work at 2 ms, and every delay has 1 ms of noise.
    let met = [(0, 1), (2, 5), (4, 3), (6, 1), (8, 1)];
    assert!((load(1, &met) - 0.4).abs() < 1e-3);
}

/// The work that is left on a link at `at` ms, if `work` ms of it come every 10 ms, first at
/// 3 ms.
fn left(work: i64, at: i64) -> i64 {
    let mut left = 0;
    for ms in 0..=at {
        left = (left - i64::from(ms > 0)).max(0);
        left += if ms % 10 == 3 { work } else { 0 };
    }
    left
}

/// Flows look at the same queue at different phases, with packets of next to no size.
#[test]
fn it_does_not_matter_when_a_flow_looks() {
    let fast = reference(Rate::from_kbps(8_000_000_000), 0.0);
    for work in [0, 2, 6, 9, 10, 12, 15] {
        for phase in 0..10 {
            let begins = 100 + phase;
            let looks: Vec<_> = (0..10).map(|ms| (ms, left(work, begins + ms))).collect();
            let next = interval(begins + 10, &[(0, left(work, begins + 10))]);
            let mut interval = interval(begins, &looks);
            let load = interval.load(&fast, next.begin(&fast)).unwrap();
            let expected = work as f64 / 10.0;
            let at = format!("{work} ms of work, phase {phase}: {load}");
            assert!((load - expected).abs() < 1e-5, "{at}");
        }
    }
}

#[test]
fn an_interval_has_no_load_before_its_last_packet_is_accounted_for() {
    let reference = reference(LINK, 0.0);
    let mut interval = interval(0, &[(0, 1)]);
    interval.known = None;
    assert_eq!(interval.load(&reference, None), None);
}

#[test]
fn what_is_told_of_a_packet_twice_counts_once() {
    let reference = reference(LINK, 0.0);
    let mut interval = interval(0, &[(0, 1), (2, 3)]);
    let first = interval.load(&reference, None).unwrap();
    interval.arrived(Sequence(2), DELAY + MS(9));
    assert!(close(interval.load(&reference, None).unwrap(), first));
    interval.arrived(Sequence(77), DELAY + MS(9));
    assert!(close(interval.load(&reference, None).unwrap(), first));
}

/// Loads are scaled to frames as large as those to come.
#[test]
fn the_mean_is_of_frames_of_the_bitrate_asked_for() {
    let mut intervals = Intervals::default();
    // Busy for 0.4 of the interval, with a frame at 8 Mbit/s.
    intervals.push(interval(0, &[(0, 4)]));
    let reference = reference(LINK, 0.0);
    let mut smoothed = |mbps: u64, since: Time| {
        intervals.smoothed(since, Rate::from_kbps(mbps * 1_000), &reference)
    };
    // A queue of 3 ms at the beginning of the interval drains: 0.1 came.
    assert!(close(smoothed(8, Time::ZERO).unwrap(), 0.1));
    assert!(close(smoothed(16, Time::ZERO).unwrap(), 0.2));
    assert!(
        close(smoothed(80, Time::ZERO).unwrap(), 0.4),
        "four times at most"
    );
    assert_eq!(smoothed(8, Time::from_secs(2)), None, "known before that");
}

/// In turns of 5 ms the link serves what has gathered. Three packets that left 2 ms apart arrive at
/// 5 ms, before the next interval.
#[test]
fn where_a_link_serves_in_turns_waits_are_no_load() {
    let packets = [(0, 5), (2, 3), (4, 1)];
    let measured = |in_turns: bool, next: Option<i64>, packets: &[(i64, i64)]| {
        let reference = Reference {
            in_turns,
            ..reference(LINK, 0.0)
        };
        let end = next.and_then(|waited| interval(10, &[(0, waited)]).begin(&reference));
        interval(0, packets).load(&reference, end).unwrap()
    };
    assert!(close(measured(true, None, &packets), 0.3), "their own time");
    // The next frame's first packet waits for its turn, and meets no queue.
    assert!(close(measured(true, Some(5), &packets), 0.3));
    assert!(measured(false, Some(5), &packets) > 0.49);
    // What was not served before the next interval is a queue here as well.
    let late = [(0, 5), (2, 3), (4, 11)];
    let (turns, evenly) = (
        measured(true, Some(5), &late),
        measured(false, Some(5), &late),
    );
    assert!(close(turns, evenly) && turns > 0.9, "{turns} {evenly}");
}
