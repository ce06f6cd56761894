//! A client of our own in the browser's place: what comes, and what it reports.

use std::collections::VecDeque;

use mimosa_facts::{Codec, FrameId, PacketKind, TransportSequence};
use mimosa_protocol::control::FeedbackKind;
use mimosa_rtp::congestion_control::{CongestionFeedback, Metric, ReportTime, StreamReport};
use mimosa_rtp::dependency::Reference;
use mimosa_rtp::repair::{self, Repair};
use mimosa_rtp::transport_cc::TransportFeedback;
use mimosa_rtp::{red, rtx};
use mimosa_stream::{Code, Outgoing};
use mimosa_transport::{
    Call, Caller, CallerEvent, Carries, Channel, Datagram, HostTransport, Incoming, Peer,
    PeerEvent, ViewerTransport,
};
use mimosa_units::{Bytes, Ecn, PeerTime, Time};

use crate::world::{DELAY, MS, NUMBERS, beginning, browser_address, frame, host_address};

struct Meeting {
    now: Time,
    peer: Peer,
    caller: Caller,
    answer: String,
    heard: Vec<PeerEvent>,
    came: Vec<CallerEvent>,
    /// ECN fields of what the peer sent.
    fields: Vec<Ecn>,
    to_caller: VecDeque<(Time, Datagram)>,
    to_peer: VecDeque<(Time, Datagram)>,
}

impl Meeting {
    fn begun(edit: impl FnOnce(String) -> String) -> Self {
        Self::with(&[Codec::H264], &[Codec::H264], edit)
    }

    /// A host that sends some codecs, and a client that decodes some.
    fn with(sent: &[Codec], decoded: &[Codec], edit: impl FnOnce(String) -> String) -> Self {
        let mut call = Self::called(sent, decoded, edit);
        for _ in 0..2_000 {
            call.pass(1);
        }
        let connected = |event: &CallerEvent| matches!(event, CallerEvent::Connected);
        assert!(call.came.iter().any(connected));
        call
    }

    /// A host and a client that have exchanged their descriptions, and no datagram yet.
    fn called(sent: &[Codec], decoded: &[Codec], edit: impl FnOnce(String) -> String) -> Self {
        let now = beginning();
        let ours = [browser_address()];
        let (call, offer) = Call::offer(&ours, decoded, true, 9, now).unwrap();
        let theirs = [host_address()];
        let (peer, answer) =
            Peer::answer(&edit(offer), sent, None, &theirs, NUMBERS, true, now).unwrap();
        let caller = call.accept(&answer).unwrap();
        Self {
            now,
            peer,
            caller,
            answer,
            heard: Vec::new(),
            came: Vec::new(),
            fields: Vec::new(),
            to_caller: VecDeque::new(),
            to_peer: VecDeque::new(),
        }
    }

    /// Lets milliseconds pass.
    fn pass(&mut self, millis: u32) {
        for _ in 0..millis {
            self.carry();
            self.now += MS;
            let now = self.now;
            while let Some((_, sent)) = self.to_caller.pop_front_if(|(at, _)| *at <= now) {
                let (from, to) = (sent.source, sent.destination);
                self.caller.receive(now, from, to, &sent.contents);
            }
            while let Some((_, sent)) = self.to_peer.pop_front_if(|(at, _)| *at <= now) {
                let (from, to) = (sent.source, sent.destination);
                self.peer.receive(now, from, to, &sent.contents);
            }
            if self.caller.deadline() <= now {
                self.caller.timeout(now);
            }
            if self.peer.deadline() <= now {
                self.peer.timeout(now);
            }
        }
        self.carry();
        self.heard
            .extend(std::iter::from_fn(|| self.peer.poll_event()));
        self.came
            .extend(std::iter::from_fn(|| self.caller.poll_event()));
    }

    fn carry(&mut self) {
        let at = self.now + DELAY;
        while let Some(datagram) = self.peer.poll_datagram() {
            self.fields.push(datagram.ecn);
            self.to_caller.push_back((at, datagram));
        }
        let out = std::iter::from_fn(|| self.caller.poll_datagram());
        self.to_peer.extend(out.map(|datagram| (at, datagram)));
    }

    /// Sends packets of a frame, numbered from `sequence` on.
    fn send(&mut self, kind: PacketKind, frame: u64, places: &[u32], sequence: u16, ecn: Ecn) {
        let packets: Vec<_> = (0..)
            .zip(places)
            .map(|(count, &index)| Outgoing {
                sequence: TransportSequence(sequence.wrapping_add(count)),
                kind,
                frame: FrameId(frame),
                index,
                size: Bytes::new(1_000),
                asks_feedback: index == 2,
                ecn,
            })
            .collect();
        self.peer.send(self.now, &packets, &mut Vec::new());
        self.pass(20);
    }

    fn packets(&mut self) -> Vec<Incoming> {
        let came = std::mem::take(&mut self.came).into_iter();
        came.filter_map(|event| match event {
            CallerEvent::Packet(packet) => Some(packet),
            _ => None,
        })
        .collect()
    }
}

#[test]
fn every_packet_comes_as_it_was_sent() {
    let mut call = Meeting::begun(|offer| offer);
    assert_eq!(call.peer.agreed().feedback, FeedbackKind::CongestionControl);
    assert!(call.caller.reads_congestion());
    assert!(call.peer.agreed().bears_gaps && call.peer.agreed().has_retransmissions);
    let payloads = frame(0, 3);
    call.peer
        .insert(FrameId(0), 90_000, None, payloads.clone(), 0);
    call.peer
        .insert(FrameId(4), 180_000, Some(FrameId(0)), frame(4, 1), 0);
    call.send(PacketKind::Media, 0, &[0, 1, 2], 100, Ecn::Ect1);
    call.send(PacketKind::Retransmission, 0, &[1], 103, Ecn::NotEct);
    call.send(PacketKind::Probe, 0, &[0], 104, Ecn::NotEct);
    call.send(PacketKind::Media, 4, &[0], 105, Ecn::NotEct);
    let marked = call.fields.iter().filter(|field| **field == Ecn::Ect1);
    assert_eq!(marked.count(), 3, "the packets of the first frame alone");
    let packets = call.packets();
    let [first, middle, last, again, probe, next] = &packets[..] else {
        panic!("{packets:?}");
    };
    for (packet, payload) in [first, middle, last].into_iter().zip(payloads.iter()) {
        assert_eq!((packet.carries, packet.timestamp), (Carries::Video, 90_000));
        assert_eq!(packet.payload, payload);
    }
    assert_eq!(middle.sequence, first.sequence + 1);
    let places = [first, middle, last].map(|packet| {
        let dependency = packet.dependency.unwrap();
        assert_eq!(
            (dependency.frame_number, dependency.reference),
            (0, Reference::None)
        );
        (dependency.is_first, dependency.is_last)
    });
    assert_eq!(places, [(true, false), (false, false), (false, true)]);
    assert_eq!(again.carries, Carries::Repeat);
    let original = rtx::parse(&again.payload).unwrap();
    assert_eq!(original.sequence, middle.sequence);
    assert_eq!(original.payload, middle.payload);
    assert_eq!((probe.carries, probe.payload.len()), (Carries::Repeat, 924));
    assert_eq!(probe.ssrc, again.ssrc);
    let dependency = next.dependency.unwrap();
    assert_eq!(
        (dependency.frame_number, dependency.reference),
        (4, Reference::Back(4))
    );
    let numbers = packets.iter().map(|packet| packet.transport.unwrap());
    let numbers: Vec<_> = numbers
        .map(|number| (number.sequence, number.request))
        .collect();
    let asked = numbers.iter().filter(|(_, request)| request.is_some());
    assert_eq!(asked.count(), 1);
    assert!(
        numbers
            .iter()
            .map(|(number, _)| *number)
            .eq((100..106).map(TransportSequence))
    );
}

/// Each codec goes over its own payload types, with repeats and reports.
#[test]
fn both_ends_agree_on_the_hosts_first_codec_that_the_client_has() {
    use Codec::{Av1, H264, H265};
    for (sent, decoded, expected) in [
        (&[H265][..], &[H264, H265, Av1][..], H265),
        (&[Av1, H264], &[H264, H265, Av1], Av1),
        (&[Av1, H264], &[H264, H265], H264),
        (&[H265, Av1], &[Av1], Av1),
    ] {
        let mut call = Meeting::with(sent, decoded, |offer| offer);
        let agreed = (call.peer.agreed().codec, call.caller.codec());
        assert_eq!(agreed, (expected, expected));
        assert_eq!(call.peer.agreed().feedback, FeedbackKind::CongestionControl);
        assert!(call.caller.reads_congestion());
        assert!(call.peer.agreed().bears_gaps && call.peer.agreed().has_retransmissions);
        let payloads = frame(0, 3);
        call.peer
            .insert(FrameId(0), 90_000, None, payloads.clone(), 0);
        call.send(PacketKind::Media, 0, &[0, 1, 2], 100, Ecn::NotEct);
        call.send(PacketKind::Retransmission, 0, &[1], 103, Ecn::NotEct);
        let packets = call.packets();
        let carries: Vec<_> = packets.iter().map(|packet| packet.carries).collect();
        let video = Carries::Video;
        assert_eq!(carries, [video, video, video, Carries::Repeat]);
        let came = packets[..3].iter().map(|packet| &packet.payload[..]);
        assert!(came.eq(payloads.iter()), "{expected:?}");
    }
    let nothing = Call::offer(&[browser_address()], &[], true, 9, beginning());
    assert!(nothing.is_err());
}

#[test]
fn repair_packets_come_to_who_knows_them() {
    let mut call = Meeting::begun(|offer| offer);
    assert_eq!(call.peer.agreed().repairs, Some(Code::ReedSolomon));
    assert!(call.answer.contains(repair::ATTRIBUTE));
    let payloads = frame(3, 3);
    call.peer
        .insert(FrameId(3), 90_000, None, payloads.clone(), 0);
    call.send(PacketKind::Media, 3, &[0, 1, 2], 100, Ecn::NotEct);
    call.send(PacketKind::Repair, 3, &[3, 4], 103, Ecn::NotEct);
    let packets = call.packets();
    let [first, _, last, one, two] = &packets[..] else {
        panic!("{packets:?}");
    };
    let repairs = [one, two].map(|packet| {
        assert_eq!((packet.carries, packet.dependency), (Carries::Repeat, None));
        assert_eq!(packet.timestamp, 90_000);
        let repair = Repair::parse(&packet.payload).unwrap();
        assert_eq!(repair.before.wrapping_add(1), first.sequence);
        assert_eq!((repair.frame, repair.media), (3, 3));
        (usize::from(repair.place), repair.coded)
    });
    let [one, two] = repairs;
    let all = mimosa_fec::decode(3, &[one, two, (2, &last.payload)]).unwrap();
    assert!(all.iter().map(Vec::as_slice).eq(payloads.iter()));
    // The stream goes on: what str0m makes of them stands in nothing's way.
    call.peer
        .insert(FrameId(4), 93_000, Some(FrameId(3)), frame(4, 3), 0);
    call.send(PacketKind::Media, 4, &[0, 1, 2], 105, Ecn::NotEct);
    assert_eq!(call.packets().len(), 3);
}

#[test]
fn who_does_not_know_repair_packets_gets_none() {
    let call = Meeting::begun(|offer| offer.replace(repair::ATTRIBUTE, "a=x-other"));
    assert!(call.peer.agreed().repairs.is_none() && call.peer.agreed().has_retransmissions);
    assert!(!call.answer.contains(repair::ATTRIBUTE));
}

#[test]
fn reports_have_times_and_marks() {
    let mut call = Meeting::begun(|offer| offer);
    call.peer.insert(FrameId(0), 90_000, None, frame(0, 3), 0);
    call.send(PacketKind::Media, 0, &[0, 1, 2], 65_535, Ecn::Ect1);
    call.send(PacketKind::Retransmission, 0, &[1], 2, Ecn::Ect1);
    let packets = call.packets();
    let at = |millis: i64| PeerTime::from_nanos(millis * 1_000_000);
    let now = ReportTime::not_before(at(70_000));
    let metric = |ecn| Some(Metric::of(at(69_990), ecn, now));
    let streams = [
        StreamReport::new(
            packets[0].ssrc,
            packets[0].sequence,
            vec![metric(Ecn::Ect1), None, metric(Ecn::Ce)],
        ),
        StreamReport::new(
            packets[3].ssrc,
            packets[3].sequence,
            vec![metric(Ecn::Ect0)],
        ),
        StreamReport::new(99, packets[0].sequence, vec![metric(Ecn::NotEct)]),
    ];
    let streams = streams.map(Result::unwrap);
    let name = call.caller.name();
    let marks = CongestionFeedback::packets(name, now, streams, 1_200);
    let times = [Some(at(64_001)), None, Some(at(64_003)), Some(at(64_030))];
    let times = TransportFeedback::new(name, name, 0, 65_535, &times).unwrap();
    let compound = [marks[0].to_bytes(), times.to_bytes()].concat();
    call.heard.clear();
    call.caller.report(&compound);
    call.pass(20);
    let reports = call.heard.iter().filter_map(|event| match event {
        PeerEvent::Feedback(report) => Some(&report.arrivals),
        _ => None,
    });
    let reports: Vec<_> = reports.collect();
    let [arrivals] = &reports[..] else {
        panic!("{reports:?}");
    };
    let read: Vec<_> = arrivals
        .iter()
        .map(|arrival| (arrival.sequence, arrival.at - at(64_000), arrival.ecn))
        .map(|(sequence, after, ecn)| (sequence.0, after.as_nanos() / 1_000_000, ecn))
        .collect();
    let expected = [(65_535, 1, Ecn::Ect1), (1, 3, Ecn::Ce), (2, 30, Ecn::Ect0)];
    assert_eq!(read, expected);
}

#[test]
fn without_an_offer_of_rfc_8888_there_are_the_times_alone() {
    let call = Meeting::begun(|offer| offer.replace("ack ccfb", "ack other"));
    assert_eq!(call.peer.agreed().feedback, FeedbackKind::OnRequest);
    assert!(!call.caller.reads_congestion());
    assert!(!call.answer.contains("ccfb"));
}

#[test]
fn messages_sound_and_keyframes_go_their_ways() {
    let mut call = Meeting::begun(|offer| offer);
    call.heard.clear();
    call.came.clear();
    assert!(call.caller.write(Channel::Keys, &[1, 2, 3]));
    call.caller.want_keyframe(call.now);
    assert!(call.peer.write(Channel::Control, b"{}"));
    for (timestamp, redundancy) in [(480, 0), (960, 2)] {
        call.peer
            .send_sound(call.now, timestamp, &[7; 20], redundancy);
    }
    call.pass(20);
    let wanted = |event: &&PeerEvent| matches!(event, PeerEvent::KeyframeWanted);
    assert_eq!(call.heard.iter().filter(wanted).count(), 1);
    let told = call.heard.iter().any(|event| {
        matches!(event, PeerEvent::Message { channel: Channel::Keys, data } if data == &[1, 2, 3])
    });
    assert!(told);
    let told = call.came.iter().any(|event| {
        matches!(event, CallerEvent::Message { channel: Channel::Control, data } if data == b"{}")
    });
    assert!(told);
    let packets = call.packets();
    assert_eq!(packets.len(), 2);
    assert_eq!(packets[0].carries, Carries::RedundantSound);
    let blocks = red::parse(&packets[1].payload).unwrap();
    let ages: Vec<_> = blocks.iter().map(|block| block.age).collect();
    assert_eq!(ages, [480, 0]);
    assert!(blocks.iter().all(|block| block.payload == [7; 20]));
    call.caller.close();
    call.pass(50);
    let ended = |event: &PeerEvent| matches!(event, PeerEvent::Closed { .. });
    assert!(call.heard.iter().any(ended));
}

#[test]
fn who_closes_before_the_channels_open_has_closed_and_broken_nothing() {
    let codecs = [Codec::H264];
    let mut call = Meeting::called(&codecs, &codecs, |offer| offer);
    let is_connected = |event: &PeerEvent| matches!(event, PeerEvent::Connected);
    while !call.heard.iter().any(is_connected) {
        call.pass(1);
    }
    call.peer.close();
    call.pass(100);
    let reasons: Vec<_> = call.came.iter().filter_map(reason).collect();
    assert_eq!(reasons, ["the host closed the connection"]);

    let mut call = Meeting::called(&codecs, &codecs, |offer| offer);
    let is_connected = |event: &CallerEvent| matches!(event, CallerEvent::Connected);
    while !call.came.iter().any(is_connected) {
        call.pass(1);
    }
    // The association of SCTP has begun, and is not established.
    call.caller.close();
    call.pass(100);
    let ends = |event: &CallerEvent| reason(event).is_some();
    assert!(!call.came.iter().any(ends));
}

fn reason(event: &CallerEvent) -> Option<&str> {
    match event {
        CallerEvent::Closed { reason } => Some(reason),
        _ => None,
    }
}
