use mimosa_units::{Rate, Time, TimeDelta};

use crate::mimosa::Config;
use crate::mimosa::beside::{Beside, View};

const ROUND_TRIP: TimeDelta = TimeDelta::from_millis(40);
const QUEUE: TimeDelta = TimeDelta::from_millis(2);
const BUDGET: TimeDelta = TimeDelta::from_millis(150);

fn view(share: f64, standing_ms: i64) -> View {
    View {
        share,
        is_alone: false,
        is_slow: false,
        standing: TimeDelta::from_millis(standing_ms),
        round_trip: ROUND_TRIP,
    }
}

/// A flow that is so many connections at most, and finds out in so long whether it is one.
fn config(connections: f64, trial: TimeDelta) -> Config {
    Config {
        connections,
        trial,
        delay_budget: BUDGET,
        ..Config::default()
    }
}

fn at(ms: u64) -> Time {
    Time::from_millis(ms)
}

/// A flow that lost a packet at 1 s.
fn overflowed() -> Beside {
    let mut beside = Beside::default();
    beside.look(at(990), view(0.9, 0), QUEUE, BUDGET);
    beside.resolved(at(1_000), true);
    beside
}

/// Looks every 10 ms for so long, and returns when it first changed whether the flow competes.
fn looked(beside: &mut Beside, from_ms: u64, for_ms: u64, view: View) -> Option<u64> {
    let before = beside.competes();
    let times = (from_ms..from_ms + for_ms).step_by(10);
    let changed = times.filter(|ms| {
        beside.look(at(*ms), view, QUEUE, BUDGET);
        beside.competes() != before
    });
    changed.min()
}

/// A flow that competes, at 10 s.
fn competing() -> Beside {
    let mut beside = overflowed();
    looked(&mut beside, 1_000, 9_000, view(0.2, 20));
    assert!(beside.competes());
    beside
}

#[test]
fn a_flow_competes_while_a_queue_of_others_stands() {
    let mut beside = overflowed();
    let begun = looked(&mut beside, 1_000, 4_000, view(0.2, 20));
    // 2 s ln(1 / (1 - 0.45)) after the look before the first.
    assert_eq!(begun, Some(2_190));
    assert_eq!(looked(&mut beside, 5_000, 40_000, view(0.5, 20)), None);
    let ended = looked(&mut beside, 45_000, 10_000, view(0.5, 0));
    // 2 s ln(1 / 0.2), of which two thirds.
    assert!((47_120..47_200).contains(&ended.unwrap()), "{ended:?}");
}

#[test]
fn a_flow_does_not_compete_with_itself_nor_beyond_the_budget() {
    for (share, standing) in [(0.51, 20), (0.9, 20), (0.2, 2), (0.2, 150)] {
        let begun = looked(&mut overflowed(), 1_000, 20_000, view(share, standing));
        assert_eq!(begun, None, "{share} {standing}");
    }
    let alone = View {
        is_alone: true,
        ..view(0.2, 20)
    };
    assert_eq!(looked(&mut overflowed(), 1_000, 20_000, alone), None);
    // The others have left, or the path has become longer.
    for view in [view(0.8, 20), alone] {
        assert!(looked(&mut competing(), 10_000, 10_000, view).is_some());
    }
}

/// Flows of the same kind let a queue stand on a slow link, and none overflow.
#[test]
fn without_a_loss_in_half_a_minute_nobody_is_competed_with() {
    let mut beside = Beside::default();
    let stands = view(0.2, 20);
    assert_eq!(looked(&mut beside, 1_000, 20_000, stands), None);
    beside.resolved(at(21_000), false);
    assert_eq!(looked(&mut beside, 21_000, 5_000, stands), None);
    beside.resolved(at(26_000), true);
    assert_eq!(looked(&mut beside, 26_000, 29_000, view(0.2, 0)), None);
    // A second is left, of which 45 % of 2 s would be needed.
    assert_eq!(looked(&mut beside, 55_000, 20_000, stands), None);
}

/// A flow that yields early loses nothing while TCP loses, and has next to nothing.
#[test]
fn a_flow_that_is_left_little_competes_without_a_loss() {
    let begun = |view| looked(&mut Beside::default(), 1_000, 20_000, view);
    // 4 s ln(1 / (1 - 0.45)) until the flow counts as starved, and 2 s of that for the queue to be another's.
    let at = begun(view(0.13, 20)).unwrap();
    assert!((4_400..4_600).contains(&at), "{at}");
    let slow = View {
        is_slow: true,
        ..view(0.13, 20)
    };
    let alone = View {
        is_alone: true,
        ..view(0.13, 20)
    };
    for other in [view(0.15, 20), view(0.13, 2), view(0.13, 150), slow, alone] {
        assert_eq!(begun(other), None, "{other:?}");
    }
    // A flow that came late has not starved before it came.
    let late = looked(&mut Beside::default(), 60_000, 2_000, view(0.13, 20));
    assert_eq!(late, None);
}

#[test]
fn it_begins_although_the_queue_is_gone_a_third_of_the_time() {
    for (gone, competes) in [(330, true), (700, false)] {
        let mut beside = overflowed();
        let mut has = false;
        for ms in (1_000..20_000).step_by(10) {
            let standing = if ms % 1_000 < gone { 0 } else { 20 };
            beside.look(at(ms), view(0.2, standing), QUEUE, BUDGET);
            has |= beside.competes();
        }
        assert_eq!(has, competes, "{gone} ms of each second");
    }
}

/// The bitrate after a round trip with 10 Mbit/s, as a part of that.
fn factor(share: f64, standing: i64, congested: bool) -> f64 {
    let mut beside = competing();
    let sent = Rate::from_mbps(10.0);
    let now = view(share, standing);
    let _ = beside.answer(at(10_000), sent, now, &config(4.0, TimeDelta::ZERO));
    if congested {
        beside.congested(at(10_010));
    }
    let (rate, is_lower) = beside.answer(at(10_040), sent, now, &config(4.0, TimeDelta::ZERO));
    assert_eq!(is_lower, congested);
    rate.ratio(sent)
}

#[test]
fn the_less_a_flow_has_the_more_connections_it_is() {
    // 0.53 packets of 12 000 bits in a round trip of 40 ms, as a part of 10 Mbit/s.
    let one = 0.53 * 12_000.0 / 0.04 / 10e6;
    let near = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-4, "{value}");
    near(factor(0.1, 20, false), 1.0 + 4.0 * one);
    near(factor(0.33, 20, false), 1.0 + 4.0 * one);
    near(factor(0.355, 20, false), 1.0 + 2.5 * one);
    near(factor(0.38, 20, false), 1.0 + one);
    near(factor(0.5, 20, false), 1.0 + one);
    near(factor(0.55, 20, false), 1.0 + one / 2.0);
    near(factor(0.6, 20, false), 1.0);
    near(factor(0.1, 20, true), 1.0 - 0.3 / 4.0);
    near(factor(0.45, 20, true), 0.7);
    near(factor(0.6, 20, true), 0.7);
    // Longer than the budget: no more, and less when something is lost.
    near(factor(0.1, 151, false), 1.0);
    near(factor(0.1, 151, true), 1.0 - 0.3 / 4.0);
}

#[test]
fn where_much_is_lost_a_flow_is_one_connection() {
    let lost_of = |every: u64| {
        let mut beside = competing();
        for number in 0..5_000 {
            beside.resolved(at(9_000), number % every == 0);
        }
        let sent = Rate::from_mbps(10.0);
        let now = view(0.1, 20);
        let _ = beside.answer(at(10_000), sent, now, &config(4.0, TimeDelta::ZERO));
        beside.congested(at(10_010));
        let (rate, _) = beside.answer(at(10_040), sent, now, &config(4.0, TimeDelta::ZERO));
        rate.ratio(sent)
    };
    assert!(
        (lost_of(20) - (1.0 - 0.3 / 4.0)).abs() < 1e-4,
        "a twentieth"
    );
    assert!((lost_of(6) - 0.7).abs() < 1e-4, "a sixth");
}

#[test]
fn nothing_is_added_while_the_queue_drains_or_is_gone() {
    let grown = |standing: [i64; 3]| {
        let mut beside = competing();
        let sent = Rate::from_mbps(10.0);
        let mut rate = sent;
        for (number, standing) in (0..).zip(standing) {
            let now = at(10_000 + 310 * number);
            let seen = view(0.1, standing);
            beside.look(now, seen, QUEUE, BUDGET);
            rate = beside
                .answer(now, sent, seen, &config(4.0, TimeDelta::ZERO))
                .0;
        }
        rate > sent
    };
    assert!(grown([20, 20, 20]));
    assert!(grown([20, 20, 21]));
    assert!(!grown([20, 20, 19]));
    assert!(!grown([20, 20, 1]));
}

#[test]
fn what_left_before_an_answer_is_not_answered_again() {
    let mut beside = competing();
    let sent = Rate::from_mbps(10.0);
    let mut answer = |lost: u64, now: u64| {
        beside.congested(at(10_000 + lost));
        beside
            .answer(
                at(10_000 + now),
                sent,
                view(0.2, 20),
                &config(4.0, TimeDelta::ZERO),
            )
            .1
    };
    assert!(answer(5, 50));
    assert!(!answer(40, 60));
    assert!(!answer(50, 70));
    assert!(answer(51, 100));
}

/// A flow is one connection until the trial is over, which takes 50 round trips on a long path, and the most without a trial.
#[test]
fn a_flow_begins_as_one_connection() {
    let one_for = |trial: TimeDelta, round_trip_ms: i64| {
        let mut beside = overflowed();
        let sent = Rate::from_mbps(10.0);
        let seen = View {
            round_trip: TimeDelta::from_millis(round_trip_ms),
            ..view(0.1, 20)
        };
        looked(&mut beside, 1_000, 1_200, seen);
        let mut ms = 2_200;
        loop {
            beside.look(at(ms), seen, QUEUE, BUDGET);
            beside.congested(at(ms));
            let (rate, _) = beside.answer(at(ms), sent, seen, &config(4.0, trial));
            if rate.ratio(sent) > 0.9 {
                return ms - 2_200;
            }
            assert!((rate.ratio(sent) - 0.7).abs() < 1e-4, "{ms}");
            ms += 10;
        }
    };
    let seconds = TimeDelta::from_millis(5_000);
    // Two seconds to settle; the first round has 0.2 s.
    assert!((6_750..7_000).contains(&one_for(seconds, 40)));
    assert!((11_750..12_000).contains(&one_for(seconds, 200)));
    assert_eq!(one_for(TimeDelta::ZERO, 40), 0);
}

/// Packets that are lost while a flow does not compete do not count in its trial.
#[test]
fn only_what_is_lost_in_a_competition_counts_in_the_trial() {
    let connections = |lost_between: u32, lost_within: u32| {
        let mut beside = competing();
        let sent = Rate::from_mbps(10.0);
        let seen = view(0.1, 20);
        let mut ms = 10_000;
        let competes_for = |beside: &mut Beside, ms: &mut u64, seconds: u64, lost: u32| {
            for round in 0..seconds * 50 {
                *ms += 20;
                for packet in 0..20 {
                    beside.resolved(Time::ZERO, round % 5 == 0 && packet < lost);
                }
                beside.look(at(*ms), seen, QUEUE, BUDGET);
                let trial = TimeDelta::from_millis(5_000);
                let _ = beside.answer(at(*ms), sent, seen, &config(4.0, trial));
            }
        };
        // The queue is empty at times, so that it does not stay full.
        for _ in 0..5 {
            competes_for(&mut beside, &mut ms, 1, 0);
            for _ in 0..50 {
                ms += 20;
                beside.look(at(ms), seen, QUEUE, BUDGET);
                let trial = TimeDelta::from_millis(5_000);
                let short = view(0.1, 2);
                let _ = beside.answer(at(ms), sent, short, &config(4.0, trial));
            }
        }
        ms = looked(&mut beside, ms, 10_000, view(0.1, 0)).unwrap();
        for _ in 0..lost_between {
            beside.resolved(Time::ZERO, true);
        }
        beside.resolved(at(ms), true);
        ms = looked(&mut beside, ms + 10, 10_000, seen).unwrap();
        competes_for(&mut beside, &mut ms, 9, lost_within);
        competes_for(&mut beside, &mut ms, 4, 0);
        beside.congested(at(ms + 10));
        let trial = TimeDelta::from_millis(5_000);
        let (lower, _) = beside.answer(at(ms + 20), sent, seen, &config(4.0, trial));
        0.3 / (1.0 - lower.ratio(sent))
    };
    let near = |value: f64, expected: f64| assert!((value - expected).abs() < 0.1, "{value}");
    near(connections(0, 0), 4.0);
    near(connections(2_000, 0), 4.0);
    near(connections(0, 10), 1.0);
}
