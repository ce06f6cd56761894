//! Repair packets of a sender, and what it sends again, over a path whose every packet the
//! test decides.

#![allow(clippy::unwrap_used, reason = "a test may")]

use mimosa_facts::{
    Arrival, ArrivalReport, Controller, Decision, Event, FrameEnd, FrameId, PacketKind,
};
use mimosa_stream::{
    Broken, Code, Outgoing, Protection, REPAIR_HEADER, RepairConfig, RetransmissionDeadline,
    Sender, SenderConfig, packetise,
};
use mimosa_units::{Bytes, Ecn, PeerTime, Rate, Time, TimeDelta};

/// Wants 4.8 Mbit/s: 9600 bytes in 16 ms.
#[derive(Debug)]
struct Constant(Decision);

impl Controller for Constant {
    fn handle(&mut self, _now: Time, _event: Event<'_>) -> &Decision {
        &self.0
    }

    fn decision(&self) -> &Decision {
        &self.0
    }
}

const L: TimeDelta = TimeDelta::from_millis(16);
const PACKET: Bytes = Bytes::new(1_000);

fn sender(protection: Protection) -> Sender {
    let config = SenderConfig {
        protection,
        ..SenderConfig::default()
    };
    let decision = Decision::starting_at(Rate::from_kbps(4_800));
    Sender::new(config, Box::new(Constant(decision)))
}

/// To be whole in so many milliseconds.
fn within(millis: i64) -> RepairConfig {
    RepairConfig {
        deadline: TimeDelta::from_millis(millis),
        largest_packet: PACKET,
        ..RepairConfig::default()
    }
}

/// Sends a frame of `packets` packets of 1000 bytes.
fn frame(sender: &mut Sender, now: Time, packets: u64) -> Vec<Outgoing> {
    sender.frame_due(now, L);
    let size = Bytes::new(PACKET.get() * packets);
    sender.frame_encoded(now, packetise(size, PACKET, Bytes::ZERO));
    sent(sender, now)
}

fn sent(sender: &mut Sender, now: Time) -> Vec<Outgoing> {
    std::iter::from_fn(|| sender.poll_packet(now)).collect()
}

/// All of these packets but those at the places `lost` have arrived.
fn report(sender: &mut Sender, now: Time, packets: &[Outgoing], lost: &[usize]) {
    let there = packets.iter().enumerate();
    let arrivals = there.filter(|(place, _)| !lost.contains(place));
    let arrivals = arrivals.map(|(_, packet)| Arrival {
        sequence: packet.sequence,
        at: PeerTime::from_nanos(now.as_nanos().cast_signed()),
        ecn: Ecn::NotEct,
    });
    let report = ArrivalReport {
        arrivals: arrivals.collect(),
        absences: None,
    };
    sender.feedback(now, &report);
}

/// At first one loss in four thousand is thought possible: twelve packets get one more.
#[test]
fn a_repair_packet_follows_its_frame_and_stands_for_a_loss() {
    let mut sender = sender(Protection::Fec(within(100)));
    let packets = frame(&mut sender, Time::ZERO, 12);
    assert_eq!(packets.len(), 13);
    let last = packets[12];
    assert_eq!((last.kind, last.index), (PacketKind::Repair, 12));
    assert_eq!(last.size, PACKET + REPAIR_HEADER);
    assert!(last.asks_feedback && !packets[11].asks_feedback);
    assert!(
        packets[..12]
            .iter()
            .all(|packet| packet.kind == PacketKind::Media)
    );
    report(&mut sender, Time::from_millis(4), &packets, &[3]);
    let life = sender.poll_frame().unwrap();
    assert_eq!(life.end, Some(FrameEnd::Acknowledged(Time::from_millis(4))));
    assert_eq!((life.packets, life.size), (12, Bytes::new(12_000)));
    let protection = life.protection.unwrap();
    assert_eq!(
        (protection.repairs, protection.repaired, protection.rounds),
        (1, 1, 0)
    );
    assert!(
        protection.late > 0.0 && protection.late <= 1e-3,
        "{protection:?}"
    );
    assert!((protection.loss.rate() - 0.25 / 1_000.5).abs() < 1e-9);
    // It counts as lost, and nobody cares.
    let next = frame(&mut sender, Time::from_millis(16), 12);
    report(&mut sender, Time::from_millis(20), &next, &[]);
    assert_eq!(sent(&mut sender, Time::from_millis(20)), []);
    assert_eq!(
        (sender.poll_broken(), sender.in_flight()),
        (None, Bytes::ZERO)
    );
    let life = sender.poll_frame().unwrap();
    assert_eq!(life.protection.unwrap().repaired, 0);
}

#[test]
fn without_retransmission_a_loss_too_many_breaks_the_frame() {
    let mut sender = sender(Protection::Fec(within(100)));
    let packets = frame(&mut sender, Time::ZERO, 12);
    report(&mut sender, Time::from_millis(4), &packets, &[3, 12]);
    let next = frame(&mut sender, Time::from_millis(16), 12);
    report(&mut sender, Time::from_millis(20), &next, &[]);
    assert_eq!(sent(&mut sender, Time::from_millis(20)), []);
    let broken = Broken {
        frame: FrameId(0),
        has_left: true,
    };
    assert_eq!(sender.poll_broken(), Some(broken));
}

/// As without any protection, but what is lost stays lost.
#[test]
fn with_none_nothing_is_sent_again() {
    let mut sender = sender(Protection::None);
    let packets = frame(&mut sender, Time::ZERO, 12);
    assert_eq!(packets.len(), 12);
    report(&mut sender, Time::from_millis(4), &packets, &[3]);
    let next = frame(&mut sender, Time::from_millis(16), 12);
    report(&mut sender, Time::from_millis(20), &next, &[]);
    assert_eq!(sent(&mut sender, Time::from_millis(20)), []);
    assert!(sender.poll_broken().is_some());
}

/// With 100 ms and a round trip of 4 ms there is time: no repair packet, and what is lost is
/// sent again. With 5 ms there is none.
#[test]
fn the_time_that_is_left_decides() {
    for (deadline, repairs) in [(100, 0), (5, 1)] {
        let mut sender = sender(Protection::Joint(within(deadline)));
        // Before anything is known no round is sure to fit.
        let first = frame(&mut sender, Time::ZERO, 12);
        assert_eq!(first.len(), 13);
        report(&mut sender, Time::from_millis(4), &first, &[]);
        let packets = frame(&mut sender, Time::from_millis(16), 12);
        assert_eq!(packets.len(), 12 + repairs);
        report(&mut sender, Time::from_millis(20), &packets, &[2]);
        let next = frame(&mut sender, Time::from_millis(32), 12);
        report(&mut sender, Time::from_millis(36), &next, &[]);
        let again = sent(&mut sender, Time::from_millis(36));
        let again: Vec<_> = again
            .iter()
            .map(|packet| (packet.kind, packet.index))
            .collect();
        if repairs == 0 {
            assert_eq!(again, [(PacketKind::Retransmission, 2)]);
        } else {
            assert_eq!(again, [], "the repair packet stands for it");
        }
        assert_eq!(sender.poll_broken(), None);
    }
}

/// Two losses and one repair packet: one of them is sent again, not both; though it is late
/// already, the frames after it need it.
#[test]
fn what_repair_does_not_cover_is_sent_again() {
    let mut sender = sender(Protection::Joint(within(5)));
    let packets = frame(&mut sender, Time::ZERO, 12);
    assert_eq!(packets.len(), 13);
    report(&mut sender, Time::from_millis(4), &packets, &[2, 7]);
    let next = frame(&mut sender, Time::from_millis(16), 12);
    report(&mut sender, Time::from_millis(20), &next, &[]);
    let again = sent(&mut sender, Time::from_millis(20));
    assert_eq!(again.len(), 1);
    assert_eq!(
        (again[0].kind, again[0].index),
        (PacketKind::Retransmission, 2)
    );
    while sender.poll_frame().is_some() {}
    report(&mut sender, Time::from_millis(24), &again, &[]);
    let life = sender.poll_frame().unwrap();
    assert_eq!(life.frame, FrameId(0));
    assert_eq!((life.arrived, life.lost, life.retransmitted), (12, 2, 1));
    assert_eq!(life.protection.unwrap().repaired, 1);
}

/// A loss is noticed 20 ms after the departure: in 35 ms there is one round, and that is the
/// last. Where losses are many, it sends more than is lacking.
#[test]
fn the_last_round_is_sent_with_more() {
    let mut sender = sender(Protection::Joint(within(35)));
    let mut now = Time::ZERO;
    let mut further = 0;
    for number in 0..200_u64 {
        let packets = frame(&mut sender, now, 12);
        // Every third frame loses one of its packets.
        let lost = if number % 3 == 0 { vec![5] } else { vec![] };
        report(
            &mut sender,
            now + TimeDelta::from_millis(4),
            &packets,
            &lost,
        );
        // They are a nanosecond apart.
        let again = [4_000, 4_001, 4_002, 4_003]
            .map(|micros| sent(&mut sender, now + TimeDelta::from_micros(micros)))
            .concat();
        if number > 100 && number % 3 == 1 {
            assert_eq!(again[0].index, 5, "{again:?}");
            further += again.len() - 1;
            assert!(
                again[1..].iter().all(|packet| packet.index >= 12),
                "{again:?}"
            );
        }
        report(&mut sender, now + TimeDelta::from_millis(8), &again, &[]);
        now += L;
    }
    assert!((33..=66).contains(&further), "{further}");
    let lives: Vec<_> = std::iter::from_fn(|| sender.poll_frame()).collect();
    assert!(lives.len() >= 199);
    assert!(lives.iter().all(|life| life.end != Some(FrameEnd::GivenUp)));
}

/// Of 9600 bytes a frame of nine packets has what a repair packet of 1008 bytes leaves.
#[test]
fn a_grant_leaves_room_for_repair() {
    let mut plain = sender(Protection::Retransmission);
    assert_eq!(plain.frame_due(Time::ZERO, L).size, Bytes::new(9_600));
    let mut coded = sender(Protection::Fec(within(100)));
    let grant = coded.frame_due(Time::ZERO, L);
    assert_eq!(grant.size, Bytes::new(9_600 - 1_008));
    coded.frame_encoded(Time::ZERO, packetise(grant.size, PACKET, Bytes::ZERO));
    let whole: Bytes = sent(&mut coded, Time::ZERO)
        .iter()
        .map(|packet| packet.size)
        .sum();
    assert!((9_500..=9_600).contains(&whole.get()), "{whole}");
}

/// Sends again for the sake of what refers to a frame.
fn chained() -> Sender {
    let config = SenderConfig {
        retransmission_deadline: RetransmissionDeadline::Chain,
        ..SenderConfig::default()
    };
    let decision = Decision::starting_at(Rate::from_kbps(4_800));
    Sender::new(config, Box::new(Constant(decision)))
}

#[test]
fn as_long_as_others_refer_to_it_a_frame_is_mended_however_old() {
    let mut sender = chained();
    let first = frame(&mut sender, Time::ZERO, 4);
    let next = frame(&mut sender, Time::from_millis(16), 4);
    report(&mut sender, Time::from_millis(20), &first[..2], &[]);
    report(&mut sender, Time::from_millis(900), &next, &[]);
    let again: Vec<_> = std::iter::from_fn(|| {
        let at = sender.deadline()?;
        sender.poll_packet(at)
    })
    .collect();
    let places: Vec<_> = again.iter().map(|packet| packet.index).collect();
    assert_eq!(places, [2, 3]);
    assert_eq!(sender.poll_broken(), None);
}

/// A frame has 9600 bytes at the target.
#[test]
fn what_takes_longer_than_a_frame_is_not_sent_again_nor_what_refers_to_it() {
    let mut sender = chained();
    let whole = frame(&mut sender, Time::ZERO, 4);
    let first = frame(&mut sender, Time::from_millis(16), 10);
    let next = frame(&mut sender, Time::from_millis(32), 8);
    let now = Time::from_millis(50);
    let all = [&whole[..], &first, &next].concat();
    let lost: Vec<usize> = (4..14).collect();
    report(&mut sender, now, &all, &lost);
    assert_eq!(sent(&mut sender, now), []);
    let broken = Broken {
        frame: first[0].frame,
        has_left: true,
    };
    assert_eq!(sender.poll_broken(), Some(broken));
    // Nothing of the frames that nobody waits for, but of the one that does without them.
    sender.missing(Time::from_millis(51), next[3].frame, 3);
    assert_eq!(sent(&mut sender, Time::from_millis(51)), []);
    let fresh = frame(&mut sender, Time::from_millis(60), 4);
    sender.missing(Time::from_millis(110), fresh[2].frame, 2);
    assert_eq!(sent(&mut sender, Time::from_millis(110)).len(), 1);
    assert_eq!(sender.poll_broken(), None);
}

#[test]
fn what_waits_too_long_to_be_sent_again_breaks_its_frame() {
    let mut sender = chained();
    let packets = frame(&mut sender, Time::ZERO, 4);
    report(&mut sender, Time::from_millis(20), &packets, &[0]);
    sender.missing(Time::from_millis(25), packets[0].frame, 0);
    sender.frame_due(Time::from_millis(1_500), L);
    assert_eq!(sender.poll_broken().unwrap().frame, packets[0].frame);
}

/// With one repair packet, the exclusive or of all: two losses are one too many for it, and
/// neither can be told from the other.
#[test]
fn what_the_exclusive_or_does_not_make_good_is_sent_again() {
    let config = RepairConfig {
        code: Code::Xor,
        ..within(30)
    };
    let mut sender = sender(Protection::Joint(config));
    let first = frame(&mut sender, Time::ZERO, 12);
    assert_eq!((first.len(), sender.repairs(first[0].frame)), (13, 1));
    report(&mut sender, Time::from_millis(20), &first, &[5]);
    assert!(sender.poll_frame().is_some(), "one is made good");
    let second = frame(&mut sender, Time::from_millis(32), 12);
    report(&mut sender, Time::from_millis(52), &second, &[3, 7]);
    let third = frame(&mut sender, Time::from_millis(60), 12);
    report(&mut sender, Time::from_millis(80), &third, &[]);
    assert_eq!(sender.poll_frame().unwrap().frame, third[0].frame);
    assert!(
        sender.poll_frame().is_none(),
        "twelve packets do not make it whole"
    );
    let again: Vec<_> = std::iter::from_fn(|| {
        let at = sender.deadline()?;
        sender.poll_packet(at)
    })
    .collect();
    let places: Vec<_> = again.iter().map(|packet| packet.index).collect();
    assert_eq!(places, [3, 7]);
    // The browser repairs nothing by what was sent again: both have to come.
    report(&mut sender, Time::from_millis(110), &again[..1], &[]);
    assert!(sender.poll_frame().is_none());
    report(&mut sender, Time::from_millis(111), &again[1..], &[]);
    assert_eq!(sender.poll_frame().unwrap().frame, second[0].frame);
}

/// A grant of less than two packets has room for a small one and its repair packet.
#[test]
fn a_small_grant_is_shared_with_its_repair_packet() {
    for (code, header) in [(Code::ReedSolomon, 8), (Code::Xor, 56)] {
        let config = RepairConfig {
            code,
            late_target: 1e-5,
            largest_packet: Bytes::new(9_600),
            ..within(100)
        };
        let mut sender = sender(Protection::Fec(config));
        let grant = sender.frame_due(Time::ZERO, L);
        assert_eq!(grant.size, Bytes::new((9_600 - header) / 2));
        sender.frame_encoded(Time::ZERO, [grant.size].into_iter());
        let packets = sent(&mut sender, Time::ZERO);
        let all: Bytes = packets.iter().map(|packet| packet.size).sum();
        assert_eq!((packets.len(), all), (2, Bytes::new(9_600)));
    }
}

/// 1000 bytes for a frame: half of that would be no picture.
#[test]
fn a_frame_of_few_bytes_has_no_repair_packets() {
    let config = SenderConfig {
        protection: Protection::Fec(RepairConfig {
            code: Code::Xor,
            late_target: 1e-5,
            ..within(100)
        }),
        ..SenderConfig::default()
    };
    let decision = Decision::starting_at(Rate::from_kbps(500));
    let mut sender = Sender::new(config, Box::new(Constant(decision)));
    let grant = sender.frame_due(Time::ZERO, L);
    assert_eq!(grant.size, Bytes::new(1_000));
    sender.frame_encoded(Time::ZERO, [grant.size].into_iter());
    assert_eq!(sent(&mut sender, Time::ZERO).len(), 1);
}
