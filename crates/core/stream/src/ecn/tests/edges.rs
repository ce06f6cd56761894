//! Where one row of the tables ends and the next begins.

use super::*;

const ARRIVED: Option<Ecn> = Some(Ecn::Ect1);
const MARKED: Option<Ecn> = Some(Ecn::Ce);
const LOST: Option<Ecn> = None;

/// The packets of a trial, one each millisecond from `from` on.
fn send(policy: &mut EcnPolicy, from: Time) -> Vec<Time> {
    let times: Vec<_> = (0..20).map(|ms| from + MS.scale(f64::from(ms))).collect();
    for two in times.chunks(2) {
        assert_eq!(policy.next(two[0]), Ecn::Ect1);
        assert_eq!(policy.next(two[1]), Ecn::NotEct);
    }
    times
}

/// The first `arrived` of the nine packets between them arrived, and the others are lost; then,
/// of the ten marked ones, `capable` became of the first, and the others are lost.
fn report(policy: &mut EcnPolicy, sent: &[Time], capable: &[Option<Ecn>], arrived: usize) {
    let now = sent[0] + TimeDelta::from_millis(100);
    for (number, two) in sent.chunks(2).take(9).enumerate() {
        if number < arrived {
            policy.arrived(now, two[1], Ecn::NotEct, Some(Ecn::NotEct));
        } else {
            policy.lost(now, two[1], Ecn::NotEct);
        }
    }
    for (number, two) in sent.chunks(2).enumerate() {
        match capable.get(number).copied().unwrap_or(LOST) {
            Some(field) => policy.arrived(now, two[0], Ecn::Ect1, Some(field)),
            None => policy.lost(now, two[0], Ecn::Ect1),
        }
    }
}

/// After a single trial.
fn judged(capable: &[Option<Ecn>], arrived: usize) -> EcnState {
    let mut policy = EcnPolicy::new(EcnConfig::default(), true);
    let sent = send(&mut policy, Time::ZERO);
    report(&mut policy, &sent, capable, arrived);
    policy.state()
}

#[test]
fn one_that_arrives_unmarked_is_enough() {
    let mut nine_marked = [MARKED; 10];
    nine_marked[9] = ARRIVED;
    assert_eq!(judged(&nine_marked, 9), EcnState::Capable);
    assert_eq!(judged(&[ARRIVED], 9), EcnState::Capable);
    assert_eq!(judged(&[ARRIVED], 0), EcnState::Capable);
    assert_eq!(judged(&[MARKED, ARRIVED], 9), EcnState::Capable);
    // Marked is all that arrived.
    assert_eq!(judged(&[MARKED; 9], 9), EcnState::Trying);
    assert_eq!(judged(&[MARKED], 9), EcnState::Trying);
}

#[test]
fn dropped_is_said_when_five_arrive_between_ten_lost() {
    assert_eq!(judged(&[], 5), failed(EcnFailure::Dropped));
    assert_eq!(judged(&[], 4), EcnState::Trying);
}

/// An outage ends as another trial begins: packets that left just before it are lost, and the
/// nine between arrive.
#[test]
fn dropped_is_said_when_more_arrive_than_are_lost() {
    let dropped = failed(EcnFailure::Dropped);
    for (lost, state) in [(9, EcnState::Trying), (8, dropped)] {
        let mut policy = EcnPolicy::new(EcnConfig::default(), true);
        let first = send(&mut policy, Time::ZERO);
        report(&mut policy, &first, &[], 0);
        // Heard of at 100 ms, and another one a second later.
        let before = Time::from_millis(1_099);
        for _ in 0..lost {
            assert_eq!(policy.next(before), Ecn::NotEct);
        }
        let second = send(&mut policy, Time::from_millis(1_100));
        for _ in 0..lost {
            policy.lost(Time::from_millis(1_200), before, Ecn::NotEct);
        }
        report(&mut policy, &second, &[], 9);
        assert_eq!(policy.state(), state, "{lost} lost");
    }
}

/// Two hundred packets in five seconds, of which three or two are not marked.
#[test]
fn always_is_ninety_nine_of_a_hundred() {
    let always = failed(EcnFailure::AlwaysMarked);
    for (unmarked, state) in [(3, EcnState::Capable), (2, always)] {
        let mut policy = EcnPolicy::new(EcnConfig::default(), true);
        let sent = send(&mut policy, Time::ZERO);
        report(&mut policy, &sent, &[ARRIVED; 10], 9);
        for number in 0..200 {
            assert_eq!(policy.state(), EcnState::Capable, "{number}");
            let at = Time::from_millis(5_100 + number);
            assert_eq!(policy.next(at), Ecn::Ect1);
            let field = if number < unmarked { ARRIVED } else { MARKED };
            policy.arrived(at, at, Ecn::Ect1, field);
        }
        assert_eq!(policy.state(), state, "{unmarked} unmarked");
    }
}

#[test]
fn a_report_without_the_field_ends_a_capable_path_too() {
    let mut policy = EcnPolicy::new(EcnConfig::default(), true);
    let sent = send(&mut policy, Time::ZERO);
    report(&mut policy, &sent, &[ARRIVED; 10], 9);
    let now = Time::from_millis(200);
    assert_eq!(policy.next(now), Ecn::Ect1);
    policy.arrived(now, now, Ecn::Ect1, None);
    assert_eq!(policy.state(), failed(EcnFailure::NotReported));
}

/// Each trial fails in the second in which it begins.
#[test]
fn the_times_between_trials_double_from_a_minute_to_sixteen() {
    let mut policy = EcnPolicy::new(EcnConfig::default(), true);
    let mut trials = Vec::new();
    for second in 0..3_000 {
        let now = Time::from_secs(second);
        if policy.next(now) == Ecn::Ect1 {
            trials.push(second);
            policy.arrived(now, now, Ecn::Ect1, Some(Ecn::NotEct));
        }
    }
    assert_eq!(trials, [0, 60, 180, 420, 900, 1_860, 2_820]);
}
