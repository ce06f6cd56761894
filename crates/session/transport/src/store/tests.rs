use mimosa_facts::TransportSequence;
use mimosa_rtp::h264::Packetiser;
use mimosa_rtp::video::{filler, is_filler};
use mimosa_units::Bytes;

use super::*;

/// A frame of one NAL unit of `size` bytes.
fn frame(size: usize) -> Payloads {
    let mut unit = vec![0, 0, 0, 1, 0x65];
    unit.extend((0..size).map(|i| u8::try_from(i % 200 + 1).unwrap()));
    Packetiser::new(Bytes::new(1_000)).packetise(&unit)
}

fn outgoing(kind: PacketKind, frame: u64, index: u32) -> Outgoing {
    Outgoing {
        sequence: TransportSequence(0),
        kind,
        frame: FrameId(frame),
        index,
        size: Bytes::new(1_000),
        asks_feedback: false,
        ecn: mimosa_units::Ecn::NotEct,
    }
}

#[test]
fn packets_are_numbered_as_they_leave() {
    let mut store = Store::new(Codec::H264, 100, true);
    store.insert(FrameId(1), 3_000, None, frame(2_500));
    store.insert(FrameId(2), 6_000, None, frame(2_500));
    store.insert(FrameId(3), 9_000, None, frame(2_500));
    // Frame 2 never leaves, and makes no gap.
    let sent: Vec<_> = [(1, 0), (1, 1), (1, 2), (3, 0), (3, 1), (3, 2)]
        .map(|(frame, index)| store.packet(&outgoing(PacketKind::Media, frame, index)))
        .into();
    let numbers: Vec<_> = sent.iter().map(|packet| packet.sequence).collect();
    assert_eq!(numbers, [100, 101, 102, 103, 104, 105]);
    let markers: Vec<_> = sent.iter().map(|packet| packet.marker).collect();
    assert_eq!(markers, [false, false, true, false, false, true]);
    assert_eq!((sent[2].timestamp, sent[3].timestamp), (3_000, 9_000));
    assert_eq!(store.named(MediaSequence(104)), Some((FrameId(3), 1)));
    assert_eq!(
        (
            store.named(MediaSequence(99)),
            store.named(MediaSequence(106))
        ),
        (None, None)
    );
    assert_eq!(store.at(9_000), Some(FrameId(3)));
}

#[test]
fn what_is_sent_again_names_its_original() {
    let mut store = Store::new(Codec::H264, 65_535, true);
    store.insert(FrameId(0), 0, None, frame(2_500));
    for index in 0..3 {
        store.packet(&outgoing(PacketKind::Media, 0, index));
    }
    let again = store.packet(&outgoing(PacketKind::Retransmission, 0, 1));
    assert_eq!(again.stream, Stream::Retransmission);
    assert_eq!(again.payload[..2], [0, 0], "the number after 65535");
    let probe = store.packet(&outgoing(PacketKind::Probe, 0, 0));
    assert_eq!(probe.stream, Stream::Retransmission);
    assert_eq!(probe.sequence, again.sequence + 1);
    assert_eq!(
        OVERHEAD + Bytes::new(probe.payload.len() as u64),
        Bytes::new(1_000)
    );
    assert_eq!(
        probe.payload[..2],
        65_534_u16.to_be_bytes(),
        "nobody's number"
    );
    assert!(is_filler(Codec::H264, &probe.payload[2..]));
    let smallest = Outgoing {
        size: OVERHEAD,
        ..outgoing(PacketKind::Probe, 0, 0)
    };
    assert!(store.packet(&smallest).payload.is_empty());
}

#[test]
fn a_repair_packet_is_of_all_packets_of_its_frame() {
    let mut store = Store::new(Codec::H264, 65_535, true);
    store.set_repairs(Repairs::Own);
    store.insert(FrameId(7), 3_000, None, frame(2_500));
    store.insert(FrameId(9), 6_000, Some(FrameId(7)), frame(2_500));
    let early = store.packet(&outgoing(PacketKind::Repair, 7, 3));
    assert_eq!(early.payload.len(), 0, "nothing has left: a probe");
    let sent: Vec<_> = [(7, 0), (7, 1), (7, 2), (9, 0), (9, 1), (9, 2)]
        .map(|(frame, index)| store.packet(&outgoing(PacketKind::Media, frame, index)))
        .into();
    let packet = store.packet(&outgoing(PacketKind::Repair, 9, 4));
    assert_eq!(
        (packet.stream, packet.timestamp, packet.dependency),
        (Stream::Retransmission, 6_000, None)
    );
    let repair = Repair::parse(&packet.payload).unwrap();
    assert_eq!((repair.place, repair.media), (4, 3));
    assert_eq!((repair.before, repair.frame, repair.distance), (1, 9, 2));
    let there = [(0, &sent[3]), (2, &sent[5])];
    let mut there = there
        .map(|(place, packet)| (place, &packet.payload[..]))
        .to_vec();
    there.push((4, repair.coded));
    let all = mimosa_fec::decode(3, &there).unwrap();
    assert_eq!(all[1], sent[4].payload);
    // A repair packet that is sent again is the same; one with another number differs.
    let again = store.packet(&outgoing(PacketKind::Retransmission, 9, 4));
    assert_eq!(again.payload, packet.payload);
    let first = store.packet(&outgoing(PacketKind::Retransmission, 9, 3));
    assert_eq!(Repair::parse(&first.payload).unwrap().place, 3);
    let further = store.packet(&outgoing(PacketKind::Retransmission, 9, 5));
    assert_eq!(Repair::parse(&further.payload).unwrap().place, 5);
}

/// As libwebrtc recovers a packet: the exclusive or of a repair packet with all but one of the
/// packets that it protects.
/// those that it protects.
#[test]
fn flexfec_is_of_whole_packets_but_for_what_changes() {
    const MEDIA: [u8; 4] = [9, 8, 7, 6];
    let datagram = |number: u64, transport: u8, ssrc: [u8; 4]| {
        #[expect(clippy::cast_possible_truncation, reason = "the low bits are meant")]
        let [high, low] = (number as u16).to_be_bytes();
        let mut all = vec![0x90, 96, high, low, 0, 0, 0, 1];
        all.extend(ssrc);
        all.extend([0xBE, 0xDE, 0, 1, 0x31, 1, transport, 0, 0xEE, 0xEE]);
        all
    };
    let mut store = Store::new(Codec::H264, 500, true);
    let (ssrc, extension) = (u32::from_be_bytes(MEDIA), 3);
    store.set_repairs(Repairs::Flexfec { ssrc, extension });
    store.insert(FrameId(7), 3_000, None, frame(4_500));
    store.protect(FrameId(7), 2);
    let media = store.frames[0].payloads.len();
    let mut whole = Vec::new();
    for index in 0..media {
        let place = u32::try_from(index).unwrap();
        let packet = store.packet(&outgoing(PacketKind::Media, 7, place));
        // The header of another stream's packet is ignored.
        store.left(&datagram(packet.sequence, 5, [1, 1, 1, 1]));
        store.left(&datagram(packet.sequence, 9, MEDIA));
        let header = &mut datagram(packet.sequence, 0, MEDIA)[..20];
        header[17] = 0;
        whole.push([header, &packet.payload[..]].concat());
    }
    for number in 0..2 {
        let place = u32::try_from(media + number).unwrap();
        let repair = store.packet(&outgoing(PacketKind::Repair, 7, place));
        assert_eq!(
            (repair.stream, repair.sequence),
            (Stream::Repair, 500 + number as u64)
        );
        let columns = xor::columns(media, 2);
        let its: Vec<_> = (0..media)
            .filter(|&i| columns[i] >> number & 1 == 1)
            .collect();
        assert!(its.len() > 1 && its.len() < media);
        assert_eq!(repair.payload[12..16], MEDIA);
        assert_eq!(repair.payload[16..18], 500_u16.to_be_bytes());
        let mut rest = repair.payload[20..].to_vec();
        for &place in &its[1..] {
            for (byte, other) in rest.iter_mut().zip(&whole[place][12..]) {
                *byte ^= other;
            }
        }
        let first = &whole[its[0]][12..];
        assert_eq!(rest[..first.len()], *first);
    }
}

#[test]
fn every_number_of_the_senders_is_on_the_wire() {
    let mut store = Store::new(Codec::H264, 0, false);
    store.insert(FrameId(0), 0, None, frame(500));
    store.packet(&outgoing(PacketKind::Media, 0, 0));
    for (kind, frame, length) in [
        (PacketKind::Retransmission, 0, filler(Codec::H264).len()),
        (PacketKind::Probe, 0, 924),
        (PacketKind::Media, 77, filler(Codec::H264).len()),
    ] {
        let packet = store.packet(&outgoing(kind, frame, 0));
        assert_eq!(
            (packet.stream, packet.payload),
            (Stream::Media, filler_of(Codec::H264, length))
        );
    }
    assert_eq!(store.named(MediaSequence(3)), None, "no frame's");
}

#[test]
fn memory_is_bounded() {
    let mut store = Store::new(Codec::H264, 0, true);
    for id in 0..2_000 {
        store.insert(FrameId(id), 0, None, frame(9_500));
        for index in 0..10 {
            store.packet(&outgoing(PacketKind::Media, id, index));
        }
    }
    assert_eq!(
        (store.frames.len(), store.sent.len()),
        (MOST_FRAMES, MOST_PACKETS)
    );
    assert_eq!(store.named(MediaSequence(0)), None, "forgotten");
}

#[test]
fn what_has_arrived_is_not_kept() {
    for repairs in [Repairs::None, Repairs::Own] {
        let mut store = Store::new(Codec::H264, 0, true);
        store.set_repairs(repairs);
        for id in 0..2 {
            store.insert(
                FrameId(id),
                3_000 * u32::try_from(id).unwrap(),
                None,
                frame(2_500),
            );
            store.protect(FrameId(id), 1);
            for index in 0..3 {
                store.packet(&outgoing(PacketKind::Media, id, index));
            }
        }
        store.arrived(FrameId(0));
        store.arrived(FrameId(7));
        let kept = store.frames.iter().map(|frame| frame.payloads.len());
        assert_eq!(kept.collect::<Vec<_>>(), [0, 3]);
        assert_eq!(store.at(0), Some(FrameId(0)));
        assert_eq!(store.named(MediaSequence(1)), Some((FrameId(0), 1)));
        // What of it waited in the pacer is as empty as a probe; the other frame is there.
        for (kind, index) in [
            (PacketKind::Media, 2),
            (PacketKind::Retransmission, 1),
            (PacketKind::Repair, 3),
        ] {
            let none = store.packet(&outgoing(kind, 0, index));
            assert!(!none.has_frame && none.payload.is_empty(), "{kind:?}");
        }
        let again = store.packet(&outgoing(PacketKind::Retransmission, 1, 1));
        assert!(again.has_frame && again.payload.len() > 800);
    }
}

#[test]
fn a_frame_that_is_not_whole_is_kept() {
    let mut store = Store::new(Codec::H264, 0, true);
    store.begin(FrameId(0), 0, None, frame(2_500));
    store.arrived(FrameId(0));
    store.extend(FrameId(0), &frame(500), Some(0));
    let last = store.packet(&outgoing(PacketKind::Media, 0, 3));
    assert!(last.has_frame && last.marker);
}

/// Also where 32 bits of RTP's clock begin anew.
#[test]
fn frames_are_kept_for_two_seconds() {
    let mut store = Store::new(Codec::H264, 0, true);
    let begun = u32::MAX - 100_000;
    for id in 0..300 {
        let timestamp = begun.wrapping_add(u32::try_from(id).unwrap() * 3_000);
        store.insert(FrameId(id), timestamp, None, frame(9_500));
        let kept = usize::try_from(id + 1).unwrap().min(60);
        assert_eq!(store.frames.len(), kept, "{id}");
    }
    let oldest = store.frames.front().unwrap().id;
    assert_eq!(oldest, FrameId(240));
    // A clock that goes back keeps what there is.
    store.insert(FrameId(300), begun, None, frame(9_500));
    assert_eq!(store.frames.len(), 61);
}
