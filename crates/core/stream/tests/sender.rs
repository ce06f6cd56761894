//! A sender and its receiver over a path whose every packet the test decides.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::sync::{Arc, Mutex};

use mimosa_facts::{
    Arrival, BucketCause, Cause, Controller, Decision, Event, FrameEnd, FrameId, Limits, Pacing,
    PacketKind, PacketOutcome, Probe, ProbeStart, TransportSequence,
};
use mimosa_stream::pace::Policy;
use mimosa_stream::{Broken, FeedbackMode, Outgoing, Receiver, Sender, SenderConfig, packetise};
use mimosa_units::{Bytes, Ecn, PeerTime, Rate, Time, TimeDelta};

/// Does as it is told and remembers what it heard.
#[derive(Debug)]
struct Puppet {
    decision: Decision,
    heard: Arc<Mutex<Vec<Heard>>>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Heard {
    Arrived(u64, bool),
    Lost(u64),
    InFlight(u64),
    GivenUp(u64),
    Decoded(u64),
}

impl Controller for Puppet {
    fn handle(&mut self, _now: Time, event: Event<'_>) -> &Decision {
        if let Event::Feedback { reports, in_flight } = event {
            let mut heard = self.heard.lock().unwrap();
            heard.extend(reports.iter().map(|report| match report.outcome {
                PacketOutcome::Arrived { after_loss, .. } => {
                    Heard::Arrived(report.packet.sequence.0, after_loss)
                }
                PacketOutcome::Lost => Heard::Lost(report.packet.sequence.0),
            }));
            heard.push(Heard::InFlight(in_flight.get()));
        }
        match event {
            Event::FrameGivenUp { frame } => {
                self.heard.lock().unwrap().push(Heard::GivenUp(frame.0));
            }
            Event::FrameDecoded { frame } => {
                self.heard.lock().unwrap().push(Heard::Decoded(frame.0));
            }
            _ => {}
        }
        &self.decision
    }

    fn decision(&self) -> &Decision {
        &self.decision
    }
}

const L: TimeDelta = TimeDelta::from_millis(16);
const MS: TimeDelta = TimeDelta::from_millis(1);

/// A sender whose controller wants `decision`, and what that one hears.
fn sender(decision: Decision) -> (Sender, Arc<Mutex<Vec<Heard>>>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let puppet = Puppet {
        decision,
        heard: Arc::clone(&heard),
    };
    let sender = Sender::new(SenderConfig::default(), Box::new(puppet));
    (sender, heard)
}

fn decision() -> Decision {
    let limits = Limits::new(Rate::ZERO, Rate::from_kbps(4_800), Rate::MAX);
    Decision::starting_at(limits.start())
}

/// Asks for a frame of `packets` packets of 1000 bytes and sends all it may.
fn frame(sender: &mut Sender, now: Time, packets: u64) -> Vec<Outgoing> {
    sender.frame_due(now, L);
    let size = Bytes::new(1000 * packets);
    sender.frame_encoded(now, packetise(size, Bytes::new(1000), Bytes::ZERO));
    std::iter::from_fn(|| sender.poll_packet(now)).collect()
}

/// Reports these sequence numbers as arrived a millisecond before `now`.
fn report(sender: &mut Sender, now: Time, sequences: &[u16]) {
    let mut receiver = Receiver::new(FeedbackMode::OnRequest, 0);
    let at = PeerTime::from_nanos(now.as_nanos().cast_signed());
    let mut last = None;
    for (index, &sequence) in sequences.iter().enumerate() {
        let arrival = Arrival {
            sequence: TransportSequence(sequence),
            at,
            ecn: Ecn::NotEct,
        };
        last = receiver.packet(arrival, index + 1 == sequences.len());
    }
    sender.feedback(now, &last.unwrap());
}

#[test]
fn a_frame_ends_with_its_last_acknowledgement() {
    let (mut sender, _) = sender(decision());
    let sent = frame(&mut sender, Time::from_millis(5), 3);
    assert_eq!(sent.len(), 3);
    assert!(sent[2].asks_feedback && !sent[1].asks_feedback);
    report(&mut sender, Time::from_millis(9), &[0, 2]);
    assert!(sender.poll_frame().is_none());
    report(&mut sender, Time::from_millis(10), &[1]);
    let life = sender.poll_frame().unwrap();
    assert_eq!(life.delay(), Some(MS * 5));
    assert_eq!((life.arrived, life.packets, life.lost), (3, 3, 0));
    assert_eq!(sender.in_flight(), Bytes::ZERO);
}

#[test]
fn a_lost_packet_is_declared_and_sent_again_first() {
    let (mut sender, heard) = sender(decision());
    frame(&mut sender, Time::ZERO, 3);
    // Packet 1 is overtaken by a frame sent 16 ms later.
    let next = Time::ZERO + L;
    frame(&mut sender, next, 1);
    report(&mut sender, Time::from_millis(10), &[0, 2]);
    report(&mut sender, Time::from_millis(20), &[3]);
    assert!(heard.lock().unwrap().contains(&Heard::Lost(1)));
    let again = sender.poll_packet(Time::from_millis(20)).unwrap();
    assert_eq!((again.kind, again.index), (PacketKind::Retransmission, 1));
    assert_eq!((again.sequence.0, again.frame.0), (4, 0));
    report(&mut sender, Time::from_millis(30), &[4]);
    let first = std::iter::from_fn(|| sender.poll_frame()).find(|life| life.frame.0 == 0);
    assert_eq!(
        first.unwrap().end,
        Some(FrameEnd::Acknowledged(Time::from_millis(30)))
    );
}

#[test]
fn a_packet_thought_lost_may_arrive_and_counts_once() {
    let (mut sender, heard) = sender(decision());
    frame(&mut sender, Time::ZERO, 2);
    frame(&mut sender, Time::ZERO + L, 1);
    report(&mut sender, Time::from_millis(5), &[0]);
    report(&mut sender, Time::from_millis(20), &[2]);
    sender.poll_packet(Time::from_millis(20)).unwrap();
    report(&mut sender, Time::from_millis(21), &[1]);
    report(&mut sender, Time::from_millis(25), &[3, 1, 0]);
    let heard = heard.lock().unwrap();
    let of_one = heard
        .iter()
        .filter(|h| matches!(h, Heard::Arrived(1, _) | Heard::Lost(1)));
    let of_one: Vec<_> = of_one.copied().collect();
    assert_eq!(of_one, [Heard::Lost(1), Heard::Arrived(1, true)]);
    let arrived: Vec<_> = std::iter::from_fn(|| sender.poll_frame())
        .map(|life| (life.frame.0, life.arrived))
        .collect();
    assert_eq!(arrived, [(1, 1), (0, 2)]);
    assert_eq!(heard.last(), Some(&Heard::InFlight(0)));
}

/// Frames of one packet, a report on each, for half a second. Lost packets are remembered longer: their
/// reports may be late.
#[test]
fn what_has_arrived_is_forgotten_at_once() {
    for (lost, most) in [(None, 1), (Some(10_u16), 30)] {
        let (mut sender, _) = sender(decision());
        let mut kept = 0;
        for number in 0..30 {
            let now = Time::ZERO + L * number;
            let sent = frame(&mut sender, now, 1);
            let sequence = sent[0].sequence.0;
            if lost != Some(sequence) {
                report(&mut sender, now + MS, &[sequence]);
            }
            while sender.poll_frame().is_some() {}
            kept = sender.remembered();
        }
        let is_lost = lost.is_some();
        assert!(kept <= most && is_lost == (kept > 10), "{lost:?}: {kept}");
    }
}

#[test]
fn reports_of_packets_never_sent_change_nothing() {
    let (mut sender, heard) = sender(decision());
    report(&mut sender, Time::ZERO, &[0, 17, 65_535]);
    frame(&mut sender, Time::ZERO, 1);
    report(&mut sender, Time::from_millis(1), &[40_000, 1]);
    let only_in_flight = |h: &Heard| matches!(h, Heard::InFlight(0 | 1000));
    assert!(heard.lock().unwrap().iter().all(only_in_flight));
    assert_eq!(sender.in_flight(), Bytes::new(1000));
}

#[test]
fn numbers_wrap_on_the_wire_and_not_in_here() {
    let (mut sender, heard) = sender(decision());
    let mut now = Time::ZERO;
    for round in 0..40_u64 {
        let sent = frame(&mut sender, now, 2_000);
        assert_eq!(u64::from(sent[0].sequence.0), (round * 2_000) % 65_536);
        let sequences: Vec<_> = sent.iter().map(|packet| packet.sequence.0).collect();
        now += MS;
        report(&mut sender, now, &sequences);
        now += L;
    }
    let heard = heard.lock().unwrap();
    assert!(heard.contains(&Heard::Arrived(79_999, false)));
    assert!(!heard.iter().any(|h| matches!(h, Heard::Lost(_))));
}

#[test]
fn a_window_holds_packets_back_until_there_is_room() {
    let mut windowed = decision();
    windowed.window = Some(Bytes::new(2_000));
    let (mut sender, _) = sender(windowed);
    assert_eq!(frame(&mut sender, Time::ZERO, 5).len(), 2);
    assert_eq!(sender.deadline(), None, "only feedback can help");
    report(&mut sender, Time::from_millis(10), &[0]);
    assert_eq!(sender.deadline(), Some(Time::ZERO), "overdue");
    assert!(sender.poll_packet(Time::from_millis(10)).is_some());
    assert!(sender.poll_packet(Time::from_millis(10)).is_none());
}

/// Else the report that opens the window would be asked for by a packet that it holds back.
#[test]
fn the_last_packet_that_the_window_lets_out_asks() {
    let asking = |packets: &[Outgoing]| -> Vec<u16> {
        let asks = packets.iter().filter(|packet| packet.asks_feedback);
        asks.map(|packet| packet.sequence.0).collect()
    };
    let (mut windowed, _) = sender(Decision {
        window: Some(Bytes::new(16_500)),
        ..decision()
    });
    let out = frame(&mut windowed, Time::ZERO, 18);
    // The third, with which an eighth is full, 2062 bytes; and the last of the sixteen.
    assert_eq!(asking(&out), [2, 5, 8, 11, 14, 15]);
    let now = Time::ZERO + MS;
    report(&mut windowed, now, &[0, 1, 2, 3]);
    let out: Vec<_> = std::iter::from_fn(|| windowed.poll_packet(now)).collect();
    assert_eq!(asking(&out), [17], "the last of its frame");
    let (mut free, _) = sender(decision());
    assert_eq!(asking(&frame(&mut free, Time::ZERO, 18)), [17], "no window");
}

#[test]
fn what_the_pacer_gives_up_ends_its_frame() {
    let mut windowed = decision();
    windowed.window = Some(Bytes::ZERO);
    let (mut sender, heard) = sender(windowed);
    for index in 0..100 {
        frame(&mut sender, Time::ZERO + L * index, 5);
    }
    let given_up = std::iter::from_fn(|| sender.poll_frame());
    let given_up: Vec<_> = given_up.map(|life| life.end.unwrap()).collect();
    assert!(given_up.len() > 60 && given_up.iter().all(|end| *end == FrameEnd::GivenUp));
    assert!(sender.open_frames().count() < 40, "memory is bounded");
    let heard = heard.lock().unwrap();
    let told = heard.iter().filter(|h| matches!(h, Heard::GivenUp(_)));
    assert_eq!(told.count(), given_up.len(), "the controller knows");
    let broken = Broken {
        frame: FrameId(0),
        has_left: false,
    };
    assert_eq!(sender.poll_broken(), Some(broken), "nobody misses them");
}

#[test]
fn what_left_in_part_makes_a_gap() {
    let mut paced = decision();
    paced.pacing = Pacing::Bucket {
        rate: Rate::from_kbps(80),
        burst: Bytes::ZERO,
    };
    let (mut sender, _) = sender(paced);
    // A packet of 1000 bytes takes 100 ms.
    frame(&mut sender, Time::ZERO, 1);
    let (mut left, mut broken) = (0, None);
    for index in 1..40 {
        left += frame(&mut sender, Time::ZERO + L * index, 5).len();
        broken = broken.or(sender.poll_broken());
    }
    assert!(left > 0 && broken.is_some_and(|broken| broken.has_left));
}

#[test]
fn the_controller_hears_of_a_decoded_frame_whose_packets_are_still_out() {
    let (mut sender, heard) = sender(decision());
    frame(&mut sender, Time::ZERO, 3);
    sender.decoded(Time::from_millis(8), FrameId(0));
    assert_eq!(*heard.lock().unwrap(), [Heard::Decoded(0)]);
    assert_eq!(sender.in_flight(), Bytes::new(3000), "no packet's report");
    assert!(sender.poll_frame().is_none());
}

#[test]
fn silence_leaves_nothing_in_flight_for_ever() {
    let (mut sender, heard) = sender(decision());
    frame(&mut sender, Time::ZERO, 3);
    assert_eq!(sender.in_flight(), Bytes::new(3000));
    sender.frame_due(Time::from_secs(4), L);
    assert_eq!(sender.in_flight(), Bytes::ZERO);
    assert!(heard.lock().unwrap().contains(&Heard::Lost(2)));
}

#[test]
fn probes_leave_through_the_pacer_and_ask_at_their_end() {
    let mut probing = decision();
    probing.pacing = Pacing::Spread {
        over: MS * 4,
        lead: 1,
    };
    probing.probe = Some(Probe {
        id: 1,
        packets: 2,
        interval: MS,
        size: None,
        start: ProbeStart::AfterFrame(FrameId(0)),
    });
    let (mut sender, _) = sender(probing);
    frame(&mut sender, Time::ZERO, 4);
    let mut sent = Vec::new();
    while let Some(due) = sender.deadline() {
        let packet = sender.poll_packet(due).unwrap();
        sent.push((
            due.as_nanos() / 1_000_000,
            packet.kind,
            packet.asks_feedback,
        ));
    }
    let (media, probe) = (PacketKind::Media, PacketKind::Probe);
    let expected = [
        (1, media, false),
        (2, media, false),
        (3, media, true),
        (4, probe, false),
        (5, probe, true),
    ];
    assert_eq!(sent, expected);
}

#[test]
fn a_cap_holds_where_the_controller_grants_more() {
    // 4.8 Mbit/s for 16 ms are 9,600 bytes.
    let grant = |cap: Option<u64>, limit: Option<u64>| {
        let frame_limit = limit.map(Bytes::new);
        let (mut sender, _) = sender(Decision {
            frame_limit,
            ..decision()
        });
        sender.set_cap(cap.map(Rate::from_kbps));
        let grant = sender.frame_due(Time::ZERO, L);
        (grant.size.get(), grant.is_limit, grant.is_capped)
    };
    assert_eq!(grant(None, None), (9_600, false, false));
    assert_eq!(grant(Some(1_000), None), (2_000, false, true));
    assert_eq!(grant(Some(9_000), None), (9_600, false, false));
    assert_eq!(grant(Some(1_000), Some(500)), (500, true, false));
    assert_eq!(grant(Some(1_000), Some(5_000)), (2_000, false, true));
}

#[test]
fn the_grant_is_the_limit_where_there_is_one() {
    let mut limited = decision();
    limited.cause = Cause::FrameFallback;
    let (mut sender, _) = sender(limited);
    let grant = sender.frame_due(Time::ZERO, L);
    assert_eq!(grant.size, Rate::from_kbps(4_800).amount_in(L));
    limited.frame_limit = Some(Bytes::new(7));
    let (mut sender, _) = self::sender(limited);
    let grant = sender.frame_due(Time::ZERO, L);
    assert_eq!(
        (grant.size, grant.cause),
        (Bytes::new(7), Cause::FrameFallback)
    );
}

#[test]
fn a_packet_asked_for_is_sent_again_at_once_and_once() {
    let (mut sender, heard) = sender(decision());
    let sent = frame(&mut sender, Time::ZERO, 4);
    report(&mut sender, Time::from_millis(20), &[sent[0].sequence.0]);
    let (due, asked) = (sent[2].frame, 2);
    sender.missing(Time::from_millis(25), due, asked);
    let again = sender.poll_packet(Time::from_millis(25)).unwrap();
    assert_eq!(
        (again.kind, again.index),
        (PacketKind::Retransmission, asked)
    );
    assert!(heard.lock().unwrap().contains(&Heard::Lost(2)));
    sender.missing(Time::from_millis(30), due, asked);
    assert_eq!(
        sender.poll_packet(Time::from_millis(30)),
        None,
        "it may still be on its way"
    );
    sender.missing(Time::from_millis(46), due, asked);
    let third = sender.poll_packet(Time::from_millis(46)).unwrap();
    assert_eq!(third.index, asked, "the second was lost as well");
    sender.missing(Time::from_millis(46), due, 77);
    assert_eq!(sender.poll_packet(Time::from_millis(46)), None);
}

#[test]
fn a_frame_that_cannot_be_mended_is_broken_once() {
    let (mut sender, _) = sender(decision());
    let sent = frame(&mut sender, Time::ZERO, 4);
    report(&mut sender, Time::from_millis(20), &[sent[0].sequence.0]);
    sender.missing(Time::from_millis(50), sent[1].frame, 1);
    assert_eq!(sender.poll_broken(), None, "there is time to send it again");
    sender.missing(Time::from_millis(150), sent[2].frame, 2);
    sender.missing(Time::from_millis(150), sent[3].frame, 3);
    let broken = Broken {
        frame: sent[0].frame,
        has_left: true,
    };
    assert_eq!(sender.poll_broken(), Some(broken));
    assert_eq!(sender.poll_broken(), None);
}

/// The bucket begins with a frame of the target's size, 9600 bytes in 16 ms: of twelve
/// packets ten leave at once, and the next when 400 bytes more have leaked.
#[test]
fn a_policy_that_adapts_is_asked_and_its_reason_is_kept() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let puppet = Puppet {
        decision: decision(),
        heard,
    };
    let config = SenderConfig {
        policy: Policy::from_name("ace-n").unwrap(),
        ..SenderConfig::default()
    };
    let mut sender = Sender::new(config, Box::new(puppet));
    assert_eq!(sender.bucket(), None);
    let now = Time::from_millis(5);
    assert_eq!(frame(&mut sender, now, 12).len(), 10);
    let next = sender.deadline().unwrap();
    assert_eq!(next.since(now).as_nanos() / 1_000, 666);
    assert!(sender.poll_packet(next).is_some());

    let bucket = sender.bucket().unwrap();
    assert_eq!((bucket.at, bucket.depth), (now, Bytes::new(9_600)));
    assert_eq!(bucket.cause, BucketCause::Start);
    let life = sender.open_frames().next().unwrap();
    assert_eq!(life.bucket, Some(bucket));
    let burst = bucket.depth;
    let rate = decision().target;
    assert_eq!(life.pacing, Pacing::Bucket { rate, burst });
}
