//! RTP: what leaves, when, and what the browser makes of it.

use mimosa_facts::{FrameId, PacketKind, TransportSequence};
use mimosa_protocol::control::FeedbackKind;
use mimosa_rtp::dependency::{Dependency, Reference};
use mimosa_rtp::transport_cc::TransportExtension;
use mimosa_rtp::{repair, rtx};
use mimosa_stream::{Code, FLEXFEC_HEADER, Outgoing, REPAIR_HEADER};
use mimosa_transport::{HostTransport, LARGEST_PAYLOAD, OVERHEAD, PeerEvent};
use mimosa_units::TimeDelta;

use crate::browser::{H264, RTX, Received};
use crate::rtp::{Kind, Rtp, kind};
use crate::world::{DELAY, MS, World, frame, outgoing};

/// Numbers of the header extensions in the browser's offer.
const PLAYOUT_DELAY: u8 = 5;
const DEPENDENCY: u8 = 12;
const MEDIA_ID: u8 = 9;

/// The number that the answer gives a header extension.
fn number(world: &World, uri: &str) -> u8 {
    let line = world
        .answer
        .lines()
        .find(|line| line.ends_with(uri))
        .unwrap();
    line.strip_prefix("a=extmap:")
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap()
}

fn transport_sequence(world: &World, packet: &Rtp) -> TransportExtension {
    let number = number(world, "transport-wide-cc-02");
    TransportExtension::parse(&packet.extensions[&number]).unwrap()
}

#[test]
fn a_call_makes_one_packet_at_once() {
    let mut world = World::connected(FeedbackKind::OnRequest, 65_533);
    let mut expected = Vec::new();
    let mut times = Vec::new();
    let mut count = 0_u16;
    for id in 0..4_u64 {
        let payloads = frame(id, 3);
        // Wraps.
        let timestamp = (u32::MAX - 2_000).wrapping_add(u32::try_from(id).unwrap() * 1_500);
        let reference = id.checked_sub(1).map(FrameId);
        world
            .peer
            .insert(FrameId(id), timestamp, reference, payloads.clone(), 0);
        assert_eq!(world.peer.frame_at(timestamp), Some(FrameId(id)));
        for (index, payload) in (0..).zip(payloads.iter()) {
            let is_last = index == 2;
            let packet = Outgoing {
                asks_feedback: is_last,
                ..outgoing(PacketKind::Media, count.wrapping_add(65_530), id, index)
            };
            let sent = world.send(&packet);
            times.push(world.now);
            let sequence = 65_533_u16.wrapping_add(count);
            let header = (
                sent.payload_type,
                sent.sequence,
                sent.timestamp,
                sent.marker,
            );
            assert_eq!(header, (H264, sequence, timestamp, is_last));
            assert_eq!(sent.extensions[&PLAYOUT_DELAY], [0, 0, 0]);
            let dependency = Dependency {
                is_first: index == 0,
                is_last,
                frame_number: u16::try_from(id).unwrap(),
                reference: reference.map_or(Reference::None, |_| Reference::Back(1)),
            };
            assert_eq!(sent.extensions[&DEPENDENCY], dependency.to_bytes());
            // Three packets in each frame; reports go three frames back.
            let frames = u16::try_from(id.min(2)).unwrap() + 1;
            let wanted = TransportExtension {
                sequence: packet.sequence,
                request: is_last.then_some(3 * frames),
            };
            assert_eq!(transport_sequence(&world, &sent), wanted);
            expected.push(Received {
                at: world.now + DELAY,
                sequence,
                payload_type: H264,
                timestamp,
                marker: is_last,
                payload: payload.to_vec(),
            });
            count += 1;
            world.run(TimeDelta::from_micros(700));
        }
    }
    world.run(TimeDelta::from_millis(10_000));
    assert_eq!(world.browser.received, expected);
    let left: Vec<_> = world.rtp().map(|left| (left.at, left.by_itself)).collect();
    assert_eq!(
        left,
        times.iter().map(|&at| (at, false)).collect::<Vec<_>>()
    );
}

/// What a packet is counted as is what it has on the wire, once the browser has
/// told media from media.
#[test]
fn no_packet_is_larger_than_it_is_counted() {
    let mut world = World::connected(FeedbackKind::OnRequest, 1);
    world.peer.insert(FrameId(0), 0, None, frame(0, 2), 0);
    let first = world.send(&outgoing(PacketKind::Media, 0, 0, 0));
    assert!(first.extensions.contains_key(&MEDIA_ID));
    // Receiver reports come.
    world.run(TimeDelta::from_millis(5_000));
    let last = Outgoing {
        asks_feedback: true,
        ..outgoing(PacketKind::Media, 1, 0, 1)
    };
    let second = world.send(&last);
    assert!(!second.extensions.contains_key(&MEDIA_ID));
    let again = Outgoing {
        sequence: TransportSequence(2),
        ..outgoing(PacketKind::Retransmission, 2, 0, 1)
    };
    world.send(&again);
    let ip_udp = 28;
    let sizes: Vec<_> = world
        .rtp()
        .map(|left| left.contents.len() + ip_udp)
        .collect();
    let payload = frame(0, 2).get(1).unwrap().len();
    let overhead = usize::try_from(OVERHEAD.get()).unwrap();
    assert_eq!(sizes[1], payload + overhead);
    let largest = usize::try_from(LARGEST_PAYLOAD.get()).unwrap();
    for size in sizes {
        assert!(size - payload + largest <= 1_200 + ip_udp, "{size}");
    }
}

#[test]
fn what_is_sent_again_repairs_and_probes_are_filler() {
    let mut world = World::connected(FeedbackKind::OnRequest, 300);
    let payloads = frame(0, 4);
    world
        .peer
        .insert(FrameId(0), 9_000, None, payloads.clone(), 0);
    let mut lost = 0;
    world.arrives = Box::new(move |datagram| {
        let is_second = kind(datagram) == Kind::Rtp && Rtp::parse(datagram).sequence == 301;
        lost += u8::from(is_second);
        !(is_second && lost == 1)
    });
    let media: Vec<Rtp> = (0..4)
        .map(|index| {
            let packet = outgoing(PacketKind::Media, u16::try_from(index).unwrap(), 0, index);
            world.send(&packet)
        })
        .collect();
    world.run(MS * 2);
    let again = world.send(&outgoing(PacketKind::Retransmission, 4, 0, 1));
    let probe = world.send(&outgoing(PacketKind::Probe, 5, 0, 0));
    world.run(MS * 20);
    assert!(world.peer.agreed().has_retransmissions);
    for repair in [&again, &probe] {
        assert_eq!((repair.payload_type, repair.marker), (RTX, false));
        assert_ne!(repair.ssrc, media[0].ssrc);
        assert_eq!((repair.ssrc, repair.timestamp), (again.ssrc, 9_000));
        assert_eq!(repair.extensions[&PLAYOUT_DELAY], [0, 0, 0]);
    }
    assert_eq!(probe.sequence, again.sequence + 1);
    let named = [&again, &probe].map(|packet| transport_sequence(&world, packet).sequence);
    assert_eq!(named, [4, 5].map(TransportSequence));
    assert_eq!(transport_sequence(&world, &again).request, Some(5));
    let payload_of = |packet: &Rtp| {
        let mut found = world.browser.payloads.iter();
        let found =
            found.find(|(ssrc, sequence, _)| (*ssrc, *sequence) == (packet.ssrc, packet.sequence));
        found.unwrap().2.clone()
    };
    assert_eq!(
        payload_of(&again),
        rtx::write(301, payloads.get(1).unwrap())
    );
    // All that a probe of 1200 bytes has beside its headers, under the number before the first packet's.
    let filling = payload_of(&probe);
    assert_eq!(filling.len(), 1_124);
    assert_eq!(rtx::parse(&filling).unwrap().sequence, 299);
    // The browser's application has all four, the second one late.
    let received: Vec<_> = world
        .browser
        .received
        .iter()
        .map(|packet| packet.sequence)
        .collect();
    assert_eq!(received, [300, 302, 303, 301]);
    assert_eq!(world.browser.received[3].payload, payloads.get(1).unwrap());
}

#[test]
fn a_burst_leaves_in_the_order_of_its_numbers() {
    let mut world = World::connected(FeedbackKind::OnRequest, 10);
    world.peer.insert(FrameId(0), 0, None, frame(0, 3), 0);
    world
        .peer
        .insert(FrameId(1), 1_500, Some(FrameId(0)), frame(1, 50), 0);
    let mut burst: Vec<_> = (0..3).map(|index| (PacketKind::Media, 0, index)).collect();
    burst.push((PacketKind::Retransmission, 0, 1));
    burst.extend((0..50).map(|index| (PacketKind::Media, 1, index)));
    burst.push((PacketKind::Probe, 1, 0));
    burst.push((PacketKind::Retransmission, 1, 7));
    let burst: Vec<_> = (0..)
        .zip(burst)
        .map(|(sequence, (kind, frame, index))| outgoing(kind, sequence, frame, index))
        .collect();
    let sent = world.send_all(&burst);
    let numbers: Vec<_> = sent
        .iter()
        .map(|packet| transport_sequence(&world, packet).sequence)
        .collect();
    let expected: Vec<_> = (0..56).map(TransportSequence).collect();
    assert_eq!(numbers, expected);
}

#[test]
fn a_nack_is_heard_and_answered_by_nobody_else() {
    let mut world = World::connected(FeedbackKind::OnRequest, 65_535);
    world.arrives = Box::new(|datagram| {
        kind(datagram) != Kind::Rtp || !matches!(Rtp::parse(datagram).sequence, 0 | 4)
    });
    let mut sequence = 0;
    for id in 0..4_u64 {
        world.peer.insert(FrameId(id), 0, None, frame(id, 2), 0);
        for index in 0..2 {
            world.send(&outgoing(PacketKind::Media, sequence, id, index));
            sequence += 1;
        }
        world.run(MS * 16);
    }
    world.run(TimeDelta::from_millis(1_000));
    let missing: Vec<_> = world
        .events
        .iter()
        .filter_map(|event| match event {
            PeerEvent::Missing { frame, index } => Some((frame.0, *index)),
            _ => None,
        })
        .collect();
    // 65535, 0 | 1, 2 | 3, 4 | 5, 6.
    assert!(
        missing.contains(&(0, 1)) && missing.contains(&(2, 1)),
        "{missing:?}"
    );
    assert!(
        missing.iter().all(|place| [(0, 1), (2, 1)].contains(place)),
        "{missing:?}"
    );
    assert_eq!(world.rtp().count(), 8);
    assert!(world.rtp().all(|left| !left.by_itself));
    // Without retransmissions the browser asks again; with them it stops.
    world.arrives = Box::new(|_| true);
    world.send(&outgoing(PacketKind::Retransmission, 8, 0, 1));
    world.send(&outgoing(PacketKind::Retransmission, 9, 2, 1));
    world.run(MS * 100);
    world.events.clear();
    world.run(TimeDelta::from_millis(1_000));
    let asks = |event: &PeerEvent| matches!(event, PeerEvent::Missing { .. });
    assert!(!world.events.iter().any(asks), "{:?}", world.events);
    assert_eq!(world.browser.received.len(), 8);
}

/// Without RTX in the offer, what cannot be sent again is still on the wire.
#[test]
fn a_browser_without_retransmissions_gets_filler() {
    let without = |offer: String| offer.replace("rtx/90000", "other/90000");
    let mut world = World::answered(FeedbackKind::OnRequest, 7, without);
    assert!(!world.peer.agreed().has_retransmissions && !world.answer.contains("rtx/90000"));
    world.run(TimeDelta::from_millis(2_000));
    world.peer.insert(FrameId(0), 0, None, frame(0, 1), 0);
    for (sequence, kind) in [
        PacketKind::Media,
        PacketKind::Retransmission,
        PacketKind::Probe,
    ]
    .into_iter()
    .enumerate()
    {
        let sequence = u16::try_from(sequence).unwrap();
        let sent = world.send(&outgoing(kind, sequence, 0, 0));
        assert_eq!((sent.payload_type, sent.sequence), (H264, 7 + sequence));
    }
    world.run(MS * 20);
    let received = world
        .browser
        .received
        .iter()
        .map(|packet| packet.payload.len());
    assert_eq!(
        received.collect::<Vec<_>>(),
        [frame(0, 1).get(0).unwrap().len(), 2, 1_124]
    );
}

/// What a frame of three packets has on the wire: the largest, and its repair packets.
fn sizes_of_repairs(world: &mut World) -> (usize, Vec<usize>) {
    world.peer.insert(FrameId(0), 9_000, None, frame(0, 3), 2);
    for index in 0..3 {
        let number = u16::try_from(index).unwrap();
        world.send(&outgoing(PacketKind::Media, number, 0, index));
    }
    for (number, index) in [(3, 3), (4, 4)] {
        world.send(&outgoing(PacketKind::Repair, number, 0, index));
    }
    let mut sizes: Vec<_> = world.rtp().map(|left| left.contents.len()).collect();
    let repairs = sizes.split_off(3);
    (*sizes.iter().max().unwrap(), repairs)
}

/// A repair packet is counted as the largest packet of its frame and a header.
#[test]
fn no_repair_packet_is_larger_than_it_is_counted() {
    for (line, code, header) in [
        ("a=rtpmap:49 flexfec-03/90000", Code::Xor, FLEXFEC_HEADER),
        (repair::ATTRIBUTE, Code::ReedSolomon, REPAIR_HEADER),
    ] {
        let edit = |offer: String| {
            let (before, video) = offer.split_once("m=video ").unwrap();
            let (formats, rest) = video.split_once("\r\n").unwrap();
            let number = if code == Code::Xor { " 49" } else { "" };
            let rest = rest.replacen("a=rtpmap:", &format!("{line}\r\na=rtpmap:"), 1);
            format!("{before}m=video {formats}{number}\r\n{rest}")
        };
        let mut world = World::connected_by(FeedbackKind::OnRequest, 1, edit);
        assert_eq!(world.peer.agreed().repairs, Some(code), "{}", world.answer);
        let (largest, repairs) = sizes_of_repairs(&mut world);
        assert_eq!(repairs.len(), 2);
        let most = largest + usize::try_from(header.get()).unwrap();
        for size in repairs {
            // It carries as much as the largest.
            assert!(
                (largest - 40..=most).contains(&size),
                "{size} {largest} {code:?}"
            );
        }
    }
}
