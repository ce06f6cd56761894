//! Single decisions, and their causes.

use super::*;

const MS: TimeDelta = TimeDelta::from_millis(1);
/// A display of 50 Hz, whose refreshes are at whole multiples.
const INTERVAL: TimeDelta = TimeDelta::from_millis(20);

fn at(millis: u64) -> Time {
    Time::from_millis(millis)
}

/// A pacer that knows the display's refreshes up to that at 1 s.
fn pacer() -> Pacer {
    let mut pacer = Pacer::new(PresentationConfig::default());
    for millis in (500..=1_000).step_by(20) {
        pacer.refreshed(at(millis));
    }
    pacer
}

/// Gives the pacer picture `number`, captured each 20 ms, at this time.
fn ready(pacer: &mut Pacer, number: u64, millis: u64) {
    let captured = i64::try_from(number * 20).unwrap() * 1_000_000;
    pacer.ready(at(millis), number, PeerTime::from_nanos(captured));
}

/// The next decision.
fn next(pacer: &mut Pacer, now: u64) -> Decision {
    let due = pacer.due(at(now)).unwrap();
    pacer.decide(due).unwrap()
}

#[test]
fn each_refresh_has_its_picture_and_one_without_any_repeats() {
    let mut pacer = pacer();
    for number in 0..10 {
        let now = 1_005 + number * 20;
        ready(&mut pacer, number, now);
        let decision = next(&mut pacer, now);
        assert_eq!((decision.show, decision.cause), (Some(number), Cause::Due));
        assert_eq!(decision.refresh, Some(at(1_020 + number * 20)));
        assert_eq!(pacer.decide(at(now)), None, "not before the next is due");
    }
    let decision = next(&mut pacer, 1_201);
    assert_eq!((decision.show, decision.cause), (None, Cause::NothingReady));
    let expected = PresentationCounts {
        shown: 10,
        repeated: 1,
        ..PresentationCounts::default()
    };
    assert_eq!(pacer.counts(), expected);
    assert_eq!(
        pacer.due(at(2_001)),
        None,
        "of a display that was not observed for so long nothing is known"
    );
}

#[test]
fn decisions_leave_time_for_drawing_and_are_never_after_the_refresh() {
    let mut pacer = pacer();
    ready(&mut pacer, 0, 1_001);
    let margin = PresentationConfig::default().margin;
    assert_eq!(pacer.due(at(1_001)), Some(at(1_020) - margin));
    pacer.drawn(MS * 4);
    pacer.drawn(MS);
    assert_eq!(pacer.due(at(1_001)), Some(at(1_016) - margin));
    // Later than that, there is no time for drawing before the refresh.
    assert_eq!(pacer.due(at(1_015)), Some(at(1_015)));
    assert_eq!(pacer.due(at(1_017)), Some(at(1_036) - margin));
    pacer.drawn(MS * 100);
    assert_eq!(
        pacer.due(at(1_001)),
        Some(at(1_010) - margin),
        "half a refresh at most is for drawing"
    );
}

#[test]
fn a_late_picture_moves_those_after_it_and_they_move_back_slowly() {
    let mut pacer = pacer();
    let mut lateness = Vec::new();
    for number in 0..500_u64 {
        // Picture 20 misses its refresh by a little.
        let now = 1_010 + number * 20 + if number == 20 { 9 } else { 0 };
        pacer.refreshed(at(1_000 + number * 20));
        ready(&mut pacer, number, now);
        while let Some(due) = pacer
            .due(at(now))
            .filter(|due| *due < at(1_029 + number * 20))
        {
            let decision = pacer.decide(due).unwrap();
            if let [(_, cause)] = decision.dropped[..] {
                assert_eq!(cause, DropCause::NewerDue);
                lateness.push(-1.0);
            }
            if let Some(shown) = decision.show {
                let on_time = at(1_020 + shown * 20);
                lateness.push((decision.refresh.unwrap() - on_time).as_millis().round());
            }
        }
    }
    let first = lateness.iter().position(|late| *late > 0.0).unwrap();
    let back = lateness.iter().position(|late| *late < 0.0).unwrap();
    assert_eq!(first, 20);
    assert!(
        lateness[first..back].iter().all(|late| *late >= 20.0),
        "{lateness:?}"
    );
    assert!(back - first > 15, "3 ms a second, {back}");
    assert!(
        lateness[back + 1..].iter().all(|late| *late <= 0.0),
        "{lateness:?}"
    );
}

#[test]
fn pictures_behind_a_pause_are_left_out_but_for_the_newest() {
    let mut pacer = pacer();
    for number in 0..5 {
        ready(&mut pacer, number, 1_005 + number * 20);
        next(&mut pacer, 1_005 + number * 20);
    }
    for number in 5..9 {
        ready(&mut pacer, number, 1_165);
    }
    let decision = next(&mut pacer, 1_165);
    assert_eq!(decision.show, Some(8));
    let dropped: Vec<_> = (5..8).map(|number| (number, DropCause::NewerDue)).collect();
    assert_eq!(decision.dropped, dropped);
    // The pause is no reason to hold the next ones.
    ready(&mut pacer, 9, 1_185);
    assert_eq!(next(&mut pacer, 1_185).refresh, Some(at(1_200)));
}

#[test]
fn without_a_known_refresh_the_newest_picture_is_shown_at_once() {
    let mut pacer = Pacer::new(PresentationConfig::default());
    assert_eq!(pacer.due(at(100)), None, "there is nothing to show");
    ready(&mut pacer, 0, 100);
    ready(&mut pacer, 1, 101);
    let decision = pacer.decide(at(101)).unwrap();
    let expected = Decision {
        refresh: None,
        show: Some(1),
        cause: Cause::AtOnce,
        dropped: vec![(0, DropCause::NewerDue)],
    };
    assert_eq!(decision, expected);
    assert_eq!(pacer.decide(at(101)), None);
    // A display that was switched off refreshes once in a while.
    for seconds in 1..40 {
        pacer.refreshed(at(seconds * 997));
        ready(&mut pacer, 1 + seconds, seconds * 997);
        assert_eq!(
            pacer.decide(at(seconds * 997)).unwrap().cause,
            Cause::AtOnce
        );
    }
}

#[test]
fn what_waits_is_bounded_and_a_new_session_forgets_it() {
    let mut pacer = pacer();
    for number in 0..20 {
        ready(&mut pacer, number, 1_005);
    }
    let decision = next(&mut pacer, 1_005);
    let too_many = |dropped: &&(u64, DropCause)| dropped.1 == DropCause::TooMany;
    assert_eq!(decision.dropped.iter().filter(too_many).count(), 4);
    assert!(decision.dropped.len() >= 18, "{decision:?}");
    ready(&mut pacer, 20, 1_006);
    pacer.restart();
    assert_eq!(pacer.counts(), PresentationCounts::default());
    assert_eq!(pacer.due(at(1_010)), None);
    assert!(
        pacer.interval(at(1_010)).unwrap() - INTERVAL < MS,
        "the display is the same"
    );
}
