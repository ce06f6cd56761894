#![expect(
    clippy::unnecessary_wraps,
    reason = "all paths are of one type, that of one which loses packets"
)]

mod edges;

use mimosa_units::TimeDelta;

use super::*;

const MS: TimeDelta = TimeDelta::from_millis(1);
const RTT: TimeDelta = TimeDelta::from_millis(20);

/// A sender of a packet each millisecond, over a path that makes of each packet what
/// `path` says: the field it arrives with, or `None` for lost.
struct Stream {
    policy: EcnPolicy,
    now: Time,
    sent: Vec<Ecn>,
}

impl Stream {
    fn new() -> Self {
        Self::with(EcnConfig::default())
    }

    fn with(config: EcnConfig) -> Self {
        Self {
            policy: EcnPolicy::new(config, true),
            now: Time::ZERO,
            sent: Vec::new(),
        }
    }

    /// Sends for `millis`; of each packet the sender hears a round trip later.
    fn run(&mut self, millis: i64, path: impl Fn(Ecn) -> Option<Ecn>) -> EcnState {
        let begin = self.now;
        let mut under_way = std::collections::VecDeque::new();
        let end = begin + TimeDelta::from_millis(millis);
        while self.now < end {
            while let Some((sent, ecn)) =
                under_way.pop_front_if(|(sent, _): &mut (Time, Ecn)| *sent + RTT <= self.now)
            {
                match path(ecn) {
                    Some(arrived) => self.policy.arrived(self.now, sent, ecn, Some(arrived)),
                    None => self.policy.lost(self.now, sent, ecn),
                }
            }
            let ecn = self.policy.next(self.now);
            under_way.push_back((self.now, ecn));
            self.sent.push(ecn);
            self.now += MS;
        }
        self.policy.state()
    }

    fn capable(&self) -> usize {
        let is_capable = |ecn: &&Ecn| **ecn == Ecn::Ect1;
        self.sent.iter().filter(is_capable).count()
    }
}

/// Nothing happens to it.
const fn kept(ecn: Ecn) -> Option<Ecn> {
    Some(ecn)
}

/// A queue that marks everything.
const fn marked(ecn: Ecn) -> Option<Ecn> {
    Some(if ecn.is_capable() {
        Ecn::Ce
    } else {
        Ecn::NotEct
    })
}

fn bleached(_: Ecn) -> Option<Ecn> {
    Some(Ecn::NotEct)
}

fn remarked(ecn: Ecn) -> Option<Ecn> {
    Some(if ecn.is_capable() {
        Ecn::Ect0
    } else {
        Ecn::NotEct
    })
}

fn dropped(ecn: Ecn) -> Option<Ecn> {
    (!ecn.is_capable()).then_some(ecn)
}

fn outage(_: Ecn) -> Option<Ecn> {
    None
}

fn failed(why: EcnFailure) -> EcnState {
    EcnState::Failed(why)
}

#[test]
fn a_trial_marks_every_other_packet_ten_times_and_waits() {
    let mut stream = Stream::new();
    assert_eq!(stream.run(20, kept), EcnState::Trying);
    let (first, rest) = stream.sent.split_at(20);
    assert!(first.chunks(2).all(|two| two == [Ecn::Ect1, Ecn::NotEct]));
    assert!(rest.is_empty());
    // Nothing is ever heard of those.
    assert_eq!(stream.run(3_000, kept), EcnState::Trying);
    assert_eq!(stream.capable(), 10);
}

/// A packet of a trial whose report is lost is no news, and another one is sent in its place.
#[test]
fn a_trial_does_without_packets_of_lost_reports() {
    let mut stream = Stream::new();
    stream.run(20, kept);
    for (index, ecn) in (0..).zip(stream.sent.clone()) {
        let sent = Time::ZERO + MS * index;
        if index < 8 {
            stream.policy.unknown(sent, ecn);
        } else {
            stream.policy.arrived(stream.now, sent, ecn, Some(ecn));
        }
    }
    assert_eq!(stream.policy.state(), EcnState::Trying, "of six packets");
    let capable = stream.capable();
    assert_eq!(stream.run(20, kept), EcnState::Trying);
    assert_eq!(
        stream.capable() - capable,
        4,
        "in place of the unknown ones"
    );
    for (index, ecn) in (20..).zip(stream.sent.split_off(20)) {
        let sent = Time::ZERO + MS * index;
        stream.policy.arrived(stream.now, sent, ecn, Some(ecn));
    }
    assert_eq!(stream.policy.state(), EcnState::Capable);
}

#[test]
fn a_path_that_keeps_the_field_is_used() {
    let mut stream = Stream::new();
    assert_eq!(stream.run(100, kept), EcnState::Capable);
    // The tenth left at 18 ms, and was known of at 38.
    assert!(stream.sent[18] == Ecn::Ect1 && stream.sent[37] == Ecn::NotEct);
    assert!(stream.sent[38..].iter().all(|ecn| *ecn == Ecn::Ect1));
    assert_eq!(stream.run(100_000, kept), EcnState::Capable);
    assert_eq!(stream.capable(), 10 + 62 + 100_000);
}

#[test]
fn without_reports_of_the_field_nothing_is_ever_marked() {
    let mut off = EcnPolicy::new(EcnConfig::default(), false);
    for ms in 0..200_000 {
        assert_eq!(off.next(Time::from_millis(ms)), Ecn::NotEct);
        off.arrived(
            Time::from_millis(ms),
            Time::from_millis(ms),
            Ecn::NotEct,
            None,
        );
    }
    assert_eq!(off.state(), EcnState::Off);

    let mut policy = EcnPolicy::new(EcnConfig::default(), true);
    assert_eq!(policy.next(Time::ZERO), Ecn::Ect1);
    let later = Time::from_millis(20);
    policy.arrived(later, Time::ZERO, Ecn::Ect1, None);
    assert_eq!(policy.state(), failed(EcnFailure::NotReported));
    assert_eq!(
        policy.next(Time::from_secs(100_000)),
        Ecn::NotEct,
        "for good"
    );
}

#[test]
fn one_packet_that_is_bleached_or_mangled_ends_it() {
    for (path, why) in [
        (bleached as fn(Ecn) -> Option<Ecn>, EcnFailure::Bleached),
        (remarked, EcnFailure::Mangled),
    ] {
        let mut stream = Stream::new();
        assert_eq!(stream.run(30_000, path), failed(why), "in the trial");
        assert_eq!(
            stream.capable(),
            10,
            "those sent before the first was heard of"
        );

        let mut stream = Stream::new();
        assert_eq!(stream.run(1_000, kept), EcnState::Capable);
        stream.sent.clear();
        assert_eq!(stream.run(30_000, path), failed(why), "later");
        assert_eq!(stream.capable(), 20, "a round trip's");
    }
}

#[test]
fn a_field_on_what_was_not_capable_is_no_queues() {
    for field in [Ecn::Ce, Ecn::Ect0, Ecn::Ect1] {
        let mut stream = Stream::new();
        let path = |ecn| Some(if ecn == Ecn::NotEct { field } else { ecn });
        assert_eq!(stream.run(100, path), failed(EcnFailure::Mangled));
    }
}

/// A busy queue may mark the whole of a trial: then there is another one a second later, and
/// after the fifth it is no queue.
#[test]
fn trials_that_are_marked_whole_are_repeated_and_then_believed() {
    let mut stream = Stream::new();
    assert_eq!(stream.run(3_000, marked), EcnState::Trying);
    assert_eq!(stream.capable(), 30, "three trials");
    assert_eq!(
        stream.run(500, kept),
        EcnState::Capable,
        "the queue is gone"
    );

    let mut stream = Stream::new();
    let state = stream.run(10_000, marked);
    assert_eq!(state, failed(EcnFailure::AlwaysMarked));
    assert_eq!(stream.capable(), 50);
}

#[test]
fn marks_on_a_part_or_for_a_while_are_a_queues() {
    let mut stream = Stream::new();
    stream.run(100, kept);
    assert_eq!(stream.run(4_000, marked), EcnState::Capable);
    assert_eq!(stream.run(6_000, kept), EcnState::Capable);
    let count = std::cell::Cell::new(0);
    let most = |ecn| {
        count.set(count.get() + 1);
        if count.get() % 50 == 0 {
            Some(ecn)
        } else {
            marked(ecn)
        }
    };
    assert_eq!(stream.run(30_000, most), EcnState::Capable, "98 %");
    let state = stream.run(11_000, marked);
    assert_eq!(state, failed(EcnFailure::AlwaysMarked));
}

/// A stretch is of packets as well as of time: a stream of few is not judged by them.
#[test]
fn a_stretch_of_few_packets_goes_on() {
    let mut policy = EcnPolicy::new(EcnConfig::default(), true);
    let mut hear = |ms: u64, ecn| {
        let at = Time::from_millis(ms);
        if policy.next(at) == Ecn::Ect1 {
            policy.arrived(at, at, Ecn::Ect1, Some(ecn));
        }
        policy.state()
    };
    (0..20).for_each(|ms| {
        hear(ms, Ecn::Ect1);
    });
    // A packet each tenth of a second: five seconds are fifty. One is in the stretch already.
    let states = (1..=198).map(|tenths| hear(tenths * 100, Ecn::Ce));
    assert!(
        states
            .collect::<Vec<_>>()
            .iter()
            .all(|state| *state == EcnState::Capable)
    );
    assert_eq!(hear(19_900, Ecn::Ce), failed(EcnFailure::AlwaysMarked));
}

#[test]
fn what_is_dropped_for_its_field_is_told_from_what_is_dropped() {
    let mut stream = Stream::new();
    assert_eq!(stream.run(1_000, dropped), failed(EcnFailure::Dropped));
    assert_eq!(stream.capable(), 10);

    let mut stream = Stream::new();
    assert_eq!(stream.run(3_000, outage), EcnState::Trying, "an outage");
    assert_eq!(stream.run(2_000, kept), EcnState::Capable, "over");
}

/// Here the trial lies in an outage that ends just after it: what passes later says nothing.
#[test]
fn packets_after_the_trial_do_not_count_as_beside_it() {
    let mut policy = EcnPolicy::new(EcnConfig::default(), true);
    let sent: Vec<_> = (0..60)
        .map(|ms| (Time::from_millis(ms), policy.next(Time::from_millis(ms))))
        .collect();
    let now = Time::from_millis(100);
    for (at, ecn) in &sent[20..] {
        policy.arrived(now, *at, *ecn, Some(*ecn));
    }
    for (at, ecn) in &sent[..20] {
        policy.lost(now, *at, *ecn);
    }
    assert_eq!(policy.state(), EcnState::Trying);
    assert_eq!(policy.next(now), Ecn::NotEct, "a pause");
}

#[test]
fn a_path_that_begins_to_drop_is_found_out_by_another_trial() {
    let mut stream = Stream::new();
    stream.run(1_000, kept);
    stream.sent.clear();
    assert_eq!(stream.run(1_000, dropped), failed(EcnFailure::Dropped));
    // A hundred, those that left until the hundredth was heard of, and the trial's.
    assert_eq!(stream.capable(), 100 + 19 + 10);

    let mut stream = Stream::new();
    stream.run(1_000, kept);
    stream.run(500, outage);
    assert_eq!(stream.run(3_000, kept), EcnState::Capable, "an outage");
}

#[test]
fn a_failed_path_is_tried_again_ever_more_seldom() {
    let mut stream = Stream::with(EcnConfig {
        retry: TimeDelta::from_millis(6_000),
        longest_retry: TimeDelta::from_millis(96_000),
        ..EcnConfig::default()
    });
    let mut trials = Vec::new();
    for second in 0..400_u64 {
        let before = stream.capable();
        stream.run(1_000, bleached);
        if stream.capable() > before {
            trials.push(second);
        }
    }
    // 6, 12, 24, 48, 96, 96, 96 s after the failure before, which takes a round trip.
    assert_eq!(trials, [0, 6, 18, 42, 90, 186, 282, 378]);
}

#[test]
fn a_good_stretch_makes_the_next_failure_the_first() {
    let mut stream = Stream::new();
    stream.run(61_000, bleached);
    assert_eq!(stream.policy.failures, 2);
    stream.run(130_000, kept);
    assert_eq!(stream.policy.state(), EcnState::Capable);
    stream.run(100, bleached);
    let failed = stream.now;
    assert_eq!(
        stream.run(59_000, kept),
        EcnState::Failed(EcnFailure::Bleached)
    );
    assert_eq!(stream.run(2_000, kept), EcnState::Capable, "after {failed}");
}

/// What left before the failure, or before the trial, is heard of later.
#[test]
fn old_news_changes_nothing() {
    let mut policy = EcnPolicy::new(EcnConfig::default(), true);
    let at = Time::from_millis(1);
    policy.next(at);
    policy.arrived(Time::from_millis(20), at, Ecn::Ect1, Some(Ecn::NotEct));
    policy.arrived(Time::from_millis(21), at, Ecn::Ect1, Some(Ecn::Ect0));
    policy.lost(Time::from_millis(21), at, Ecn::Ect1);
    assert_eq!(policy.state(), failed(EcnFailure::Bleached));
    let again = Time::from_millis(60_020);
    assert_eq!(policy.next(again), Ecn::Ect1);
    policy.arrived(again, at, Ecn::Ect1, Some(Ecn::NotEct));
    assert_eq!(policy.state(), EcnState::Trying);
}
