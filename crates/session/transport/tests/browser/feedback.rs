//! Feedback, from the numbers on our packets to the report.

use std::collections::BTreeMap;

use mimosa_facts::{Arrival, FrameId, PacketKind, TransportSequence};
use mimosa_protocol::control::FeedbackKind;
use mimosa_rtp::congestion_control::{
    ArrivalOffset, CongestionFeedback, Metric, ReportTime, StreamReport,
};
use mimosa_transport::{HostTransport, PeerEvent};
use mimosa_units::{Ecn, PeerTime, Time, TimeDelta};

use crate::browser::H264;
use crate::rtp::{Kind, Rtp, kind};
use crate::world::{DELAY, MS, World, frame, outgoing};

const FRAMES: u64 = 7_400;
const PACKETS: u32 = 8;

/// Every number from `first` on, by when the packet with it came to the browser.
struct Sent {
    next: u64,
    arrived: BTreeMap<u64, Time>,
}

/// Sends frames with retransmissions and probes between them, and loses some.
fn stream(world: &mut World, frames: u64, transport_cc: u8) -> Sent {
    let mut sent = Sent {
        next: 0,
        arrived: BTreeMap::new(),
    };
    world.arrives = Box::new(move |datagram| {
        kind(datagram) != Kind::Rtp || !is_lost(&Rtp::parse(datagram).extensions[&transport_cc])
    });
    for id in 0..frames {
        let media = (0..PACKETS).map(|index| (PacketKind::Media, index));
        let mut packets: Vec<_> = media.collect();
        if id % 3 == 0 {
            packets.push((
                PacketKind::Retransmission,
                u32::try_from(id).unwrap() % PACKETS,
            ));
        }
        if id % 4 == 0 {
            packets.extend([(PacketKind::Probe, 0); 3]);
        }
        let timestamp = u32::try_from(id).unwrap() * 1_500;
        world
            .peer
            .insert(FrameId(id), timestamp, None, frame(id, PACKETS as usize), 0);
        for (kind, index) in packets {
            let sequence = TransportSequence::of(sent.next).0;
            let packet = world.send(&outgoing(kind, sequence, id, index));
            let number = &packet.extensions[&transport_cc];
            assert_eq!(number[..2], sequence.to_be_bytes(), "of {kind:?}");
            if !is_lost(number) {
                sent.arrived.insert(sent.next, world.now + DELAY);
            }
            sent.next += 1;
            world.run(TimeDelta::from_micros(150));
        }
        world.run(MS);
    }
    world.run(MS * 200);
    sent
}

/// One packet in 101 does not arrive, and a whole frame now and then.
fn is_lost(number: &[u8]) -> bool {
    let number = u16::from_be_bytes([number[0], number[1]]);
    number % 101 == 50 || (number / 8) % 301 == 7
}

/// The arrivals of all reports, their numbers unwrapped.
fn arrivals(world: &World) -> Vec<(u64, Arrival)> {
    let mut newest = 0_u64;
    let reports = world.events.iter().filter_map(|event| match event {
        PeerEvent::Feedback(report) => Some(report),
        _ => None,
    });
    reports
        .flat_map(|report| &report.arrivals)
        .map(|arrival| {
            let ahead = arrival.sequence.since(TransportSequence::of(newest));
            let ahead = ahead.cast_signed();
            let number = newest.checked_add_signed(ahead.into()).unwrap();
            newest = newest.max(number);
            (number, *arrival)
        })
        .collect()
}

/// Asserts that each packet that arrived is in the reports, and none that did not,
/// with the time at which it did.
fn check(world: &World, sent: &Sent) {
    let heard: BTreeMap<u64, Arrival> = arrivals(world).into_iter().collect();
    let numbers: Vec<u64> = heard.keys().copied().collect();
    let expected: Vec<u64> = sent.arrived.keys().copied().collect();
    assert_eq!(numbers, expected);
    let (first, began) = (heard[&expected[0]].at, sent.arrived[&expected[0]]);
    for (number, at) in &sent.arrived {
        let said = (heard[number].at - first).as_nanos();
        let was = (*at - began).as_nanos();
        assert!(
            (said - was).abs() < 1_000_000,
            "{number}: {said} ns, not {was}"
        );
    }
}

#[test]
fn periodic_feedback_names_what_arrived_and_when() {
    let mut world = World::connected(FeedbackKind::Periodic, 11);
    assert_eq!(world.peer.agreed().feedback, FeedbackKind::Periodic);
    let sent = stream(&mut world, FRAMES, 4);
    assert!(sent.next > 65_536, "the numbers wrap: {}", sent.next);
    check(&world, &sent);
}

/// The str0m that plays the browser reads -02 as its predecessor: it reports on
/// the same numbers, though in its own time.
#[test]
fn feedback_on_request_is_about_the_senders_numbers() {
    let mut world = World::connected(FeedbackKind::OnRequest, 11);
    assert_eq!(world.peer.agreed().feedback, FeedbackKind::OnRequest);
    let sent = stream(&mut world, 300, 14);
    check(&world, &sent);
}

/// Reports of RFC 8888 name packets by their streams; packets carry no transport-wide numbers.
#[test]
fn congestion_control_feedback_is_about_the_senders_numbers() {
    let accept = |offer: String| {
        let line = format!("a=rtpmap:{H264} ");
        offer.replacen(&line, &format!("a=rtcp-fb:{H264} ack ccfb\r\n{line}"), 1)
    };
    let mut world = World::connected_by(FeedbackKind::CongestionControl, 65_534, accept);
    assert_eq!(
        world.peer.agreed().feedback,
        FeedbackKind::CongestionControl
    );
    world.peer.insert(FrameId(0), 0, None, frame(0, 4), 0);
    let mut sent = Vec::new();
    for (sequence, (kind, index)) in (300..).zip([
        (PacketKind::Media, 0),
        (PacketKind::Media, 1),
        (PacketKind::Probe, 0),
        (PacketKind::Media, 2),
        (PacketKind::Retransmission, 1),
        (PacketKind::Media, 3),
    ]) {
        let packet = world.send(&outgoing(kind, sequence, 0, index));
        assert!(!packet.extensions.contains_key(&4) && !packet.extensions.contains_key(&14));
        sent.push(packet);
    }
    world.run(MS * 20);
    let (media, again) = (sent[0].ssrc, sent[2].ssrc);
    assert_eq!([sent[4].ssrc, sent[5].ssrc], [again, media]);
    assert_eq!(
        [sent[0].sequence, sent[5].sequence],
        [65_534, 1],
        "it wraps"
    );
    // The second packet of the frame and the probe are missing.
    let now = ReportTime::not_before(PeerTime::from_nanos(1_000_000_000));
    let metric = |ecn| {
        let offset = ArrivalOffset::Units(0);
        Some(Metric { ecn, offset })
    };
    let parts = [
        (media, vec![metric(Ecn::Ect1), None, metric(Ecn::Ce)]),
        (again, vec![None, metric(Ecn::NotEct)]),
    ];
    let parts = parts.map(|(ssrc, metrics)| StreamReport::new(ssrc, 65_534, metrics).unwrap());
    let report = CongestionFeedback::packets(9, now, parts, 1_100);
    world.browser.report(world.now, &report[0].to_bytes());
    world.run(MS * 20);
    let heard: Vec<u64> = arrivals(&world).iter().map(|(number, _)| *number).collect();
    assert_eq!(heard, [300, 303, 304]);
    let reports = world.events.iter().filter_map(|event| match event {
        PeerEvent::Feedback(report) => report.absences.as_ref(),
        _ => None,
    });
    let missing: Vec<_> = reports.flat_map(|absences| &absences.missing).collect();
    assert_eq!(missing, [&TransportSequence(301), &TransportSequence(302)]);
}

#[test]
fn without_feedback_packets_have_no_numbers() {
    let mut world = World::connected(FeedbackKind::None, 11);
    assert!(!world.answer.contains("transport-wide-cc"));
    world.peer.insert(FrameId(0), 0, None, frame(0, 1), 0);
    let sent = world.send(&outgoing(PacketKind::Media, 5, 0, 0));
    assert!(!sent.extensions.contains_key(&4) && !sent.extensions.contains_key(&14));
    world.run(TimeDelta::from_millis(1_000));
    assert!(world.events.is_empty(), "{:?}", world.events);
    assert_eq!(world.browser.received.len(), 1);
}
