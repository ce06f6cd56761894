//! Everything but video that is read from the network, from arbitrary bytes: nothing panics,
//! and what is read is written and read back as the same.
//!
//! Every parser sees the whole input. Those that read one message after another
//! also see it as a list: a byte says how long the next message is.
#![no_main]

use std::collections::BTreeSet;

use libfuzzer_sys::fuzz_target;
use mimosa_facts::{Action, TouchPhase};
use mimosa_protocol::PageTime;
use mimosa_protocol::control::{FromPage, Millis, ToPage};
use mimosa_protocol::frames::{ClockMap, FrameMessage};
use mimosa_protocol::input::{self, Tracker};
use mimosa_protocol::proof::Shown;
use mimosa_rtp::congestion_control::{CongestionFeedback, ReportClock, ReportTime};
use mimosa_rtp::nack::Nack;
use mimosa_rtp::repair::Repair;
use mimosa_rtp::transport_cc::{TransportExtension, TransportFeedback, Unwrapper};
use mimosa_rtp::{flexfec, framing, rtcp, rtx};
use mimosa_units::{PeerTime, Time, TimeDelta};

/// Up to here, 26 days, milliseconds in f64 tell nanoseconds apart.
const EXACT: TimeDelta = TimeDelta::from_nanos(1 << 51);

fuzz_target!(|data: &[u8]| {
    let list = list(data);
    compound(data);
    extension(data);
    retransmission(data);
    repair(data);
    from_page(data);
    to_page(data);
    play(&list);
    show(&list);
    let _ = input::Message::parse(data);
    let _ = FrameMessage::parse(data);
    authorization(data);
    frames(data, &list);
});

/// What a request shows is read as it is written.
fn authorization(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Some(Ok(shown)) = Shown::parse(text) {
        assert_eq!(Shown::parse(&shown.value()), Some(Ok(shown)));
    }
}

/// Datagrams come out of a stream as they went in, whatever its pieces; any other stream is refused, or
/// waits for the rest of one frame.
fn frames(data: &[u8], list: &[&[u8]]) {
    let stream: Vec<_> = list
        .iter()
        .filter_map(|one| framing::frame(one))
        .flatten()
        .collect();
    let piece = usize::from(data.first().copied().unwrap_or(0)) + 1;
    assert_eq!(
        taken(&stream, piece),
        Some(list.iter().map(|one| one.to_vec()).collect())
    );
    assert_eq!(taken(data, piece), taken(data, data.len().max(1)));
}

fn taken(stream: &[u8], piece: usize) -> Option<Vec<Vec<u8>>> {
    let mut frames = framing::Frames::default();
    let mut all = Vec::new();
    for data in stream.chunks(piece) {
        frames.push(data);
        while let Some(datagram) = frames.take().ok()? {
            all.push(datagram.to_vec());
        }
        assert!(frames.held() < 2 + framing::LONGEST_FRAME);
    }
    Some(all)
}

fn list(mut data: &[u8]) -> Vec<&[u8]> {
    let mut list = Vec::new();
    while let Some((&length, rest)) = data.split_first() {
        let (message, rest) = rest.split_at(usize::from(length).min(rest.len()));
        list.push(message);
        data = rest;
    }
    list
}

fn compound(data: &[u8]) {
    let mut unwrapper = Unwrapper::new();
    let mut clock = ReportClock::new();
    for packet in rtcp::packets(data).flatten() {
        if let Ok(nack) = Nack::parse(&packet) {
            let again = only(&nack.to_bytes(), |packet| Nack::parse(packet).ok());
            assert_eq!(again.sender_ssrc, nack.sender_ssrc);
            assert_eq!(again.media_ssrc, nack.media_ssrc);
            let set = |lost: Vec<u16>| lost.into_iter().collect::<BTreeSet<_>>();
            assert_eq!(set(again.lost), set(nack.lost));
        }
        if let Ok(feedback) = TransportFeedback::parse(&packet) {
            let bytes = feedback.to_bytes();
            let again = only(&bytes, |packet| TransportFeedback::parse(packet).ok());
            assert_eq!(again, feedback);
            let mut sequence = feedback.base_sequence;
            for (number, _) in unwrapper.statuses(&feedback) {
                assert_eq!(number, sequence);
                sequence = sequence.wrapping_add(1);
            }
            assert_ne!(sequence, feedback.base_sequence, "a report on nothing");
        }
        if let Ok(feedback) = CongestionFeedback::parse(&packet) {
            congestion_control(&feedback, &mut clock);
        }
    }
}

/// A report of RFC 8888, whole and in the smallest parts.
fn congestion_control(feedback: &CongestionFeedback, clock: &mut ReportClock) {
    let again = only(&feedback.to_bytes(), |packet| {
        CongestionFeedback::parse(packet).ok()
    });
    assert_eq!(again, *feedback);
    let said: Vec<_> = clock.statuses(feedback).collect();
    let count: usize = feedback.streams().iter().map(|s| s.metrics().count()).sum();
    assert_eq!(said.len(), count);
    let time = ReportTime::not_before(PeerTime::from_nanos(0));
    let streams = feedback.streams().iter().cloned();
    let parts = CongestionFeedback::packets(feedback.sender_ssrc(), time, streams, 0);
    let metrics = |all: &[CongestionFeedback]| {
        let streams = all.iter().flat_map(CongestionFeedback::streams);
        streams
            .flat_map(|stream| stream.metrics().map(|metric| (stream.ssrc(), metric)))
            .collect::<Vec<_>>()
    };
    assert_eq!(metrics(&parts), metrics(std::slice::from_ref(feedback)));
}

/// What a compound of one packet says.
fn only<T>(bytes: &[u8], parse: impl Fn(&rtcp::Packet<'_>) -> Option<T>) -> T {
    let mut packets = rtcp::packets(bytes);
    match (packets.next(), packets.next()) {
        (Some(Ok(packet)), None) => match parse(&packet) {
            Some(parsed) => parsed,
            None => panic!("{packet:?} is not read back"),
        },
        other => panic!("{other:?} is not one packet"),
    }
}

fn extension(data: &[u8]) {
    if let Ok(extension) = TransportExtension::parse(data) {
        let again = TransportExtension::parse(&extension.to_bytes());
        assert_eq!(again, Ok(extension));
    }
}

fn retransmission(data: &[u8]) {
    if let Ok(original) = rtx::parse(data) {
        let bytes = rtx::write(original.sequence, original.payload);
        assert_eq!(bytes, data);
    }
}

fn repair(data: &[u8]) {
    if let Ok(repair) = Repair::parse(data) {
        assert_eq!(repair.to_bytes(), data);
    }
    let mut header = data.to_vec();
    flexfec::zero_extension(&mut header, 3);
    assert_eq!(
        flexfec::header_length(&header),
        flexfec::header_length(data)
    );
    let mut twice = header.clone();
    flexfec::zero_extension(&mut twice, 3);
    assert_eq!(twice, header);
}

fn from_page(data: &[u8]) {
    let Ok(message) = FromPage::parse(data) else {
        return;
    };
    let again = FromPage::parse(message.to_json().as_bytes());
    let is_exact = match &message {
        FromPage::Client(client) => {
            let sound = client.sound.unwrap_or_default();
            let spans = [
                client.freeze_duration,
                client.jitter_buffer,
                sound.jitter_buffer,
                sound.playout,
                sound.skew,
            ];
            let mut spans = spans.into_iter().flatten();
            spans.all(|Millis(span)| span < EXACT && -span < EXACT)
        }
        FromPage::Clipboard(_) | FromPage::Limit(_) | FromPage::TestLine | FromPage::Unknown => {
            true
        }
    };
    assert!(again.is_ok());
    assert!(!is_exact || again == Ok(message));
}

fn to_page(data: &[u8]) {
    if let Ok(message) = ToPage::parse(data) {
        // A float may be read back as its neighbour.
        assert!(ToPage::parse(message.to_json().as_bytes()).is_ok());
    }
}

/// Input of one session: what is down goes up before it goes down again.
fn play(list: &[&[u8]]) {
    let mut tracker = Tracker::new();
    let mut down = BTreeSet::new();
    let mut fingers = BTreeSet::new();
    for message in list {
        let Ok(message) = input::Message::parse(message) else {
            continue;
        };
        assert_eq!(input::Message::parse(&message.to_bytes()), Ok(message));
        for action in tracker.apply(&message) {
            match action {
                Action::Key { code, pressed } => {
                    let key = (0, code);
                    assert!(change(&mut down, key, pressed), "{action:?} twice");
                }
                Action::Button { button, pressed } => {
                    let button = (1, button as u16);
                    assert!(change(&mut down, button, pressed), "{action:?} twice");
                }
                Action::ReleaseAll => down.clear(),
                Action::Touch { finger, phase, .. } => match phase {
                    TouchPhase::Begin => assert!(fingers.insert(finger)),
                    TouchPhase::Move => assert!(fingers.contains(&finger)),
                    TouchPhase::End | TouchPhase::Cancel => assert!(fingers.remove(&finger)),
                },
                Action::Move { right, down } | Action::Wheel { right, down } => {
                    assert_ne!((right, down), (0, 0));
                }
                Action::Gamepad(gamepad) => assert!(gamepad.index < 16),
                Action::Position { .. } => {}
                Action::Character(character) => assert!(!character.is_control()),
            }
        }
        let again = tracker.apply(&message);
        let may_repeat = matches!(
            message,
            input::Message::ReleaseAll { .. }
                | input::Message::Character { .. }
                | input::Message::Touch {
                    phase: TouchPhase::Move,
                    ..
                }
        );
        assert!(may_repeat || again.is_empty(), "{message:?} counts twice");
    }
}

fn change(set: &mut BTreeSet<(u8, u16)>, what: (u8, u16), pressed: bool) -> bool {
    if pressed {
        set.insert(what)
    } else {
        set.remove(&what)
    }
}

/// The fate of frames in one session, a second between messages.
fn show(list: &[&[u8]]) {
    let mut clocks = ClockMap::new();
    let mut now = Time::ZERO;
    for message in list {
        now += TimeDelta::from_millis(1_000);
        let Ok(message) = FrameMessage::parse(message) else {
            continue;
        };
        let again = FrameMessage::parse(&message.to_bytes());
        assert!(again.is_ok());
        let is_exact = match &message {
            FrameMessage::Shown(shown) => shown.decoding.is_none_or(|span| span < EXACT),
            FrameMessage::Decoded { .. } => true,
            FrameMessage::ClockAnswer { host, .. } | FrameMessage::ClockQuestion { host } => {
                host.since(Time::ZERO) < EXACT
            }
        };
        assert!(!is_exact || again == Ok(message));
        match message {
            FrameMessage::ClockAnswer { host, page } => clocks.answer(now, host, page),
            FrameMessage::Shown(shown) => check(&clocks, shown.presented, now),
            FrameMessage::Decoded { at, .. } => check(&clocks, at, now),
            FrameMessage::ClockQuestion { .. } => {}
        }
    }
}

fn check(clocks: &ClockMap, time: Option<PageTime>, now: Time) {
    let uncertainty = clocks.uncertainty();
    assert!(uncertainty.is_none_or(|span| (TimeDelta::ZERO..=now - Time::ZERO).contains(&span)));
    if let Some(time) = time {
        assert_eq!(clocks.to_host(time).is_some(), uncertainty.is_some());
    }
}
