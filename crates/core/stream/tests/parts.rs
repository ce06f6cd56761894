//! Frames that come from the encoder in parts.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::sync::{Arc, Mutex};

use mimosa_facts::{
    Arrival, ArrivalReport, Controller, Decision, Event, FrameEnd, FrameId, Pacing, PacketKind,
};
use mimosa_stream::{Broken, Outgoing, Protection, RepairConfig, Sender, SenderConfig, packetise};
use mimosa_units::{Bytes, Ecn, PeerTime, Rate, Time, TimeDelta};

const L: TimeDelta = TimeDelta::from_millis(16);
const PACKET: Bytes = Bytes::new(1_000);

/// What a controller is told of frames: the event, the frame, and its size and packets.
type Told = (&'static str, u64, u64, u32);

/// Wants 4.8 Mbit/s, which is 9600 bytes in 16 ms, spread over 8 ms.
#[derive(Debug)]
struct Listener {
    decision: Decision,
    told: Arc<Mutex<Vec<Told>>>,
}

impl Controller for Listener {
    fn handle(&mut self, _now: Time, event: Event<'_>) -> &Decision {
        let told = match event {
            Event::FrameBegun {
                frame,
                size,
                packets,
            } => Some(("begun", frame.0, size.get(), packets)),
            Event::FrameEncoded {
                frame,
                size,
                packets,
            } => Some(("encoded", frame.0, size.get(), packets)),
            Event::PacketSent(packet) => Some(("sent", packet.frame.0, packet.size.get(), 1)),
            Event::FrameGivenUp { frame } => Some(("given up", frame.0, 0, 0)),
            _ => None,
        };
        self.told.lock().unwrap().extend(told);
        &self.decision
    }

    fn decision(&self) -> &Decision {
        &self.decision
    }
}

fn sender(config: &SenderConfig, pacing: Pacing) -> (Sender, Arc<Mutex<Vec<Told>>>) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let controller = Listener {
        decision: Decision {
            pacing,
            ..Decision::starting_at(Rate::from_kbps(4_800))
        },
        told: Arc::clone(&told),
    };
    (Sender::new(*config, Box::new(controller)), told)
}

fn ms(millis: u64) -> Time {
    Time::from_millis(millis)
}

fn part(sender: &mut Sender, now: Time, packets: u64, is_last: bool) {
    let size = Bytes::new(PACKET.get() * packets);
    sender.frame_part(now, packetise(size, PACKET, Bytes::ZERO), is_last);
}

/// All packets that leave until `now`, and when each does.
fn left(sender: &mut Sender, now: Time) -> Vec<(Time, Outgoing)> {
    let mut all = Vec::new();
    while let Some(at) = sender.deadline().filter(|at| *at <= now) {
        match sender.poll_packet(at) {
            Some(packet) => all.push((at, packet)),
            None => sender.timer(at),
        }
    }
    all
}

/// All packets that leave until `now`, with the millisecond in which each does.
fn sent(sender: &mut Sender, now: Time) -> Vec<(u64, Outgoing)> {
    let left = left(sender, now).into_iter();
    left.map(|(at, packet)| (at.as_nanos() / 1_000_000, packet))
        .collect()
}

fn report<'a>(sender: &mut Sender, now: Time, packets: impl IntoIterator<Item = &'a Outgoing>) {
    let arrivals = packets.into_iter().map(|packet| Arrival {
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

const SPREAD: Pacing = Pacing::Spread {
    over: TimeDelta::from_millis(8),
    lead: 1,
};

#[test]
fn the_controller_hears_of_the_first_part_and_of_the_whole() {
    let (mut sender, told) = sender(&SenderConfig::default(), SPREAD);
    sender.frame_due(ms(0), L);
    part(&mut sender, ms(2), 2, false);
    part(&mut sender, ms(3), 2, false);
    part(&mut sender, ms(5), 3, true);
    let sent = sent(&mut sender, ms(20));
    let all = told.lock().unwrap();
    let frames: Vec<_> = all.iter().filter(|told| told.0 != "sent").collect();
    // 9600 bytes are what the frame may have: as many packets of the part's size.
    assert_eq!(
        frames,
        [&("begun", 0, 9_600, 10), &("encoded", 0, 7_000, 7)]
    );
    assert_eq!(all.iter().filter(|told| told.0 == "sent").count(), 7);
    // 9600 bytes over 8 ms are a packet each 0.83 ms.
    let times: Vec<_> = sent.iter().map(|(at, _)| *at).collect();
    assert_eq!(times, [2, 2, 3, 4, 5, 6, 7]);
    let places: Vec<_> = sent.iter().map(|(_, packet)| packet.index).collect();
    assert_eq!(places, [0, 1, 2, 3, 4, 5, 6]);
    let asks: Vec<_> = sent
        .iter()
        .map(|(_, packet)| packet.asks_feedback)
        .collect();
    assert_eq!(asks, [false, false, false, false, false, false, true]);
}

/// A driver relies on this that is not woken for a part while packets wait.
#[test]
fn a_part_that_is_taken_when_the_next_packet_is_due_leaves_as_early() {
    let bucket = Pacing::Bucket {
        rate: Rate::from_kbps(4_000),
        burst: PACKET,
    };
    // When each part is coded, in milliseconds, and its packets. Nothing waits any more when the fourth one comes.
    let parts = [(2, 2), (2, 1), (3, 3), (11, 2), (12, 2), (13, 1)];
    for pacing in [Pacing::Burst, SPREAD, bucket] {
        let run = |waits: bool| {
            let (mut sender, _) = sender(&SenderConfig::default(), pacing);
            sender.frame_due(ms(0), L);
            assert_eq!(sender.next_of_frames(), None);
            let (mut all, mut taken_later) = (Vec::new(), 0);
            for (place, (coded, packets)) in parts.into_iter().enumerate() {
                all.extend(left(&mut sender, ms(coded)));
                let next = sender.next_of_frames().filter(|next| *next > ms(coded));
                let at = next.filter(|_| waits).unwrap_or(ms(coded));
                taken_later += u32::from(at > ms(coded));
                part(&mut sender, at, packets, place + 1 == parts.len());
            }
            all.extend(left(&mut sender, ms(40)));
            assert_eq!(sender.next_of_frames(), None);
            (all, taken_later)
        };
        let ((at_once, none), (later, some)) = (run(false), run(true));
        assert_eq!(at_once.len(), 11);
        assert_eq!(later, at_once, "{pacing:?}");
        assert_eq!((none, some > 0), (0, pacing != Pacing::Burst), "{pacing:?}");
    }
}

#[test]
fn a_frame_ends_when_its_last_part_has_arrived() {
    let (mut sender, _) = sender(&SenderConfig::default(), Pacing::Burst);
    sender.frame_due(ms(0), L);
    part(&mut sender, ms(2), 2, false);
    let first = sent(&mut sender, ms(2));
    report(&mut sender, ms(4), first.iter().map(|(_, packet)| packet));
    assert!(sender.poll_frame().is_none(), "parts are still to come");
    part(&mut sender, ms(5), 1, true);
    assert!(sender.poll_frame().is_none());
    let second = sent(&mut sender, ms(5));
    report(&mut sender, ms(9), second.iter().map(|(_, packet)| packet));
    let life = sender.poll_frame().unwrap();
    assert_eq!(life.end, Some(FrameEnd::Acknowledged(ms(9))));
    assert_eq!((life.handed_over, life.size.get()), (ms(2), 3_000));
    assert_eq!((life.packets, life.arrived), (3, 3));
}

#[test]
fn a_lost_packet_of_an_early_part_is_sent_again_while_others_are_coded() {
    let (mut sender, _) = sender(&SenderConfig::default(), Pacing::Burst);
    sender.frame_due(ms(0), L);
    part(&mut sender, ms(2), 3, false);
    let first = sent(&mut sender, ms(2));
    part(&mut sender, ms(30), 2, false);
    let second = sent(&mut sender, ms(30));
    let there = first
        .iter()
        .skip(1)
        .chain(&second)
        .map(|(_, packet)| packet);
    report(&mut sender, ms(40), there);
    let again = sent(&mut sender, ms(40));
    assert_eq!(
        (again[0].1.kind, again[0].1.index),
        (PacketKind::Retransmission, 0)
    );
}

#[test]
fn repair_packets_follow_the_last_part_and_cover_all() {
    let repairs = RepairConfig {
        largest_packet: PACKET,
        ..RepairConfig::default()
    };
    let config = SenderConfig {
        protection: Protection::Fec(repairs),
        ..SenderConfig::default()
    };
    let (mut sender, _) = sender(&config, Pacing::Burst);
    sender.frame_due(ms(0), L);
    part(&mut sender, ms(2), 6, false);
    let mut all = sent(&mut sender, ms(2));
    // One packet of the early part is lost, which is known before the last part is there.
    part(&mut sender, ms(30), 2, false);
    all.extend(sent(&mut sender, ms(30)));
    let there = all.iter().filter(|(_, packet)| packet.index != 3);
    report(&mut sender, ms(35), there.map(|(_, packet)| packet));
    assert_eq!(
        sender.poll_broken(),
        None,
        "a repair packet is still to come"
    );
    part(&mut sender, ms(36), 4, true);
    let last = sent(&mut sender, ms(36));
    let kinds: Vec<_> = last
        .iter()
        .map(|(_, packet)| (packet.kind, packet.index))
        .collect();
    let media = |index| (PacketKind::Media, index);
    assert_eq!(kinds[..4], [media(8), media(9), media(10), media(11)]);
    // One loss among eight packets lets more be planned for.
    let repairs = kinds[4..].iter().zip(12..);
    assert!(
        kinds.len() > 4
            && repairs
                .clone()
                .all(|(kind, place)| *kind == (PacketKind::Repair, place))
    );
    report(&mut sender, ms(40), last.iter().map(|(_, packet)| packet));
    let life = sender.poll_frame().unwrap();
    assert_eq!(life.end, Some(FrameEnd::Acknowledged(ms(40))));
    assert_eq!(life.protection.unwrap().repaired, 1);
}

#[test]
fn a_frame_whose_last_part_never_comes_is_given_up() {
    let (mut sender, told) = sender(&SenderConfig::default(), Pacing::Burst);
    sender.frame_due(ms(0), L);
    part(&mut sender, ms(2), 2, false);
    sent(&mut sender, ms(2));
    sender.frame_due(ms(16), L);
    let broken = Broken {
        frame: FrameId(0),
        has_left: true,
    };
    assert_eq!(sender.poll_broken(), Some(broken));
    assert_eq!(sender.poll_frame().unwrap().end, Some(FrameEnd::GivenUp));
    assert!(told.lock().unwrap().contains(&("given up", 0, 0, 0)));
    part(&mut sender, ms(18), 1, true);
    assert_eq!(sent(&mut sender, ms(18))[0].1.frame, FrameId(1));
}

#[test]
fn what_all_parts_take_beyond_their_grant_a_later_frame_has_less() {
    let config = SenderConfig {
        carry: 0.25,
        ..SenderConfig::default()
    };
    let (mut sender, _) = sender(&config, Pacing::Burst);
    assert_eq!(sender.frame_due(ms(0), L).size, Bytes::new(9_600));
    part(&mut sender, ms(2), 6, false);
    part(&mut sender, ms(4), 5, true);
    assert_eq!(sender.frame_due(ms(16), L).size, Bytes::new(8_200));
}
