//! Reports that are not repeated, some of which are lost: what counts as lost and what does not.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::sync::{Arc, Mutex};

use mimosa_facts::{
    Absences, Arrival, ArrivalReport, Controller, Decision, Event, FrameEnd, FrameId, Limits,
    PacketKind, PacketOutcome, TransportSequence,
};
use mimosa_stream::{Outgoing, Sender, SenderConfig, packetise};
use mimosa_units::{Bytes, Ecn, PeerTime, Rate, Time, TimeDelta};

const L: TimeDelta = TimeDelta::from_millis(16);
const MS: TimeDelta = TimeDelta::from_millis(1);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Heard {
    Arrived(u64, bool),
    Lost(u64),
    Unknown(u64),
    GivenUp(u64),
}

/// Remembers what it heard.
#[derive(Debug)]
struct Puppet {
    decision: Decision,
    heard: Arc<Mutex<Vec<Heard>>>,
}

impl Controller for Puppet {
    fn handle(&mut self, _now: Time, event: Event<'_>) -> &Decision {
        let mut heard = self.heard.lock().unwrap();
        match event {
            Event::Feedback { reports, .. } => heard.extend(reports.iter().map(|report| {
                let number = report.packet.sequence.0;
                match report.outcome {
                    PacketOutcome::Arrived { after_loss, .. } => Heard::Arrived(number, after_loss),
                    PacketOutcome::Lost => Heard::Lost(number),
                }
            })),
            Event::Unknown { packets } => {
                heard.extend(
                    packets
                        .iter()
                        .map(|packet| Heard::Unknown(packet.sequence.0)),
                );
            }
            Event::FrameGivenUp { frame } => heard.push(Heard::GivenUp(frame.0)),
            _ => {}
        }
        drop(heard);
        &self.decision
    }

    fn decision(&self) -> &Decision {
        &self.decision
    }
}

struct Stream {
    sender: Sender,
    heard: Arc<Mutex<Vec<Heard>>>,
    now: Time,
    next_frame: Time,
}

impl Stream {
    fn new() -> Self {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let limits = Limits::new(Rate::ZERO, Rate::from_kbps(4_800), Rate::MAX);
        let puppet = Puppet {
            decision: Decision::starting_at(limits.start()),
            heard: Arc::clone(&heard),
        };
        let now = Time::from_secs(1);
        let sender = Sender::new(SenderConfig::default(), Box::new(puppet));
        Self {
            sender,
            heard,
            now,
            next_frame: now,
        }
    }

    /// Sends a frame of four packets of 1000 bytes, an interval after the last one.
    fn frame(&mut self) -> Vec<Outgoing> {
        self.now = self.next_frame;
        self.next_frame += L;
        self.sender.frame_due(self.now, L);
        let packets = packetise(Bytes::new(4_000), Bytes::new(1_000), Bytes::ZERO);
        self.sender.frame_encoded(self.now, packets);
        self.sent()
    }

    fn sent(&mut self) -> Vec<Outgoing> {
        std::iter::from_fn(|| self.sender.poll_packet(self.now)).collect()
    }

    /// Reports 5 ms later. Returns the news that the controller hears.
    fn report(&mut self, arrived: &[u16], missing: &[u16], unknown: &[u16]) -> Vec<Heard> {
        self.now += MS * 5;
        let now = self.now;
        let arrival = |number: &u16| Arrival {
            sequence: TransportSequence(*number),
            at: PeerTime::from_nanos(now.as_nanos().cast_signed()),
            ecn: Ecn::NotEct,
        };
        let numbers = |all: &[u16]| all.iter().copied().map(TransportSequence).collect();
        let report = ArrivalReport {
            arrivals: arrived.iter().map(arrival).collect(),
            absences: Some(Absences {
                missing: numbers(missing),
                unknown: numbers(unknown),
            }),
        };
        self.sender.feedback(now, &report);
        std::mem::take(&mut *self.heard.lock().unwrap())
    }

    /// The end of a frame that has ended.
    fn end(&mut self, frame: u64) -> Option<FrameEnd> {
        let lives = std::iter::from_fn(|| self.sender.poll_frame());
        let ends: Vec<_> = lives.map(|life| (life.frame, life.end)).collect();
        let found = ends.iter().find(|(id, _)| *id == FrameId(frame));
        found.and_then(|(_, end)| *end)
    }
}

#[test]
fn packets_of_a_lost_report_are_neither_lost_nor_sent_again_nor_in_flight() {
    let mut stream = Stream::new();
    stream.frame();
    stream.report(&[0, 1, 2, 3], &[], &[]);
    stream.frame();
    stream.frame();
    assert_eq!(stream.sender.in_flight(), Bytes::new(8_000));
    // The report on the second frame was lost; of the third, a packet is.
    let heard = stream.report(&[8, 10, 11], &[9], &[4, 5, 6, 7]);
    let unknown = [4, 5, 6, 7].map(Heard::Unknown);
    assert_eq!(heard[..4], unknown);
    let arrived = [8, 10, 11].map(|number| Heard::Arrived(number, false));
    assert_eq!(heard[4..7], arrived);
    // The controller does not wait for the second frame.
    assert_eq!(heard[7..], [Heard::GivenUp(1)]);
    assert_eq!(
        stream.sender.in_flight(),
        Bytes::new(1_000),
        "the missing one"
    );
    assert!(stream.sent().is_empty());
    // A packet that left much later shows that the missing one is lost.
    stream.frame();
    let heard = stream.report(&[12, 13, 14, 15], &[], &[]);
    assert_eq!(heard[0], Heard::Lost(9));
    let again = stream.sent();
    let again: Vec<_> = again
        .iter()
        .map(|one| (one.kind, one.frame, one.index))
        .collect();
    assert_eq!(again, [(PacketKind::Retransmission, FrameId(2), 1)]);
    assert_eq!(stream.sender.in_flight(), Bytes::new(1_000));
}

/// Reports on the stream of retransmissions come when that stream has packets. Until then, nothing
/// is known of a packet on it, though packets of other streams that left later have arrived.
#[test]
fn a_packet_that_no_report_names_waits_and_is_unknown_at_last() {
    let mut stream = Stream::new();
    let mut unknown_after = None;
    stream.frame();
    stream.report(&[0, 1, 2], &[], &[]);
    for count in 1..60_u16 {
        stream.frame();
        let numbers = [0, 1, 2, 3].map(|place| 4 * count + place);
        let heard = stream.report(&numbers, &[], &[]);
        assert!(!heard.contains(&Heard::Lost(3)));
        if heard.contains(&Heard::Unknown(3)) {
            assert_eq!(unknown_after.replace(count), None);
        }
        let in_flight = if unknown_after.is_some() { 0 } else { 1_000 };
        assert_eq!(stream.sender.in_flight(), Bytes::new(in_flight));
    }
    // 500 ms are 31.25 intervals.
    assert_eq!(unknown_after, Some(31), "31 intervals and 5 ms");
    // The report on its stream comes after all, and says that it is missing.
    let heard = stream.report(&[], &[3], &[]);
    assert_eq!(heard, [Heard::Lost(3)]);
    assert_eq!(stream.sender.in_flight(), Bytes::ZERO, "and not below");
}

/// A frame of which packets have yet to leave is waited for.
#[test]
fn a_frame_that_is_still_leaving_is_not_given_up() {
    let mut stream = Stream::new();
    stream.frame();
    let unknown = stream.report(&[2, 3], &[], &[0, 1]);
    assert!(unknown.contains(&Heard::Unknown(1)) && !unknown.contains(&Heard::GivenUp(0)));
    stream.frame();
    let heard = stream.report(&[4, 5, 6, 7], &[], &[]);
    assert!(heard.contains(&Heard::GivenUp(0)));
}

#[test]
fn late_news_of_an_unknown_packet_counts() {
    let mut stream = Stream::new();
    stream.frame();
    stream.frame();
    stream.report(&[4, 5, 6, 7], &[], &[0, 1, 2, 3]);
    // The report was only overtaken.
    let heard = stream.report(&[0, 1, 2, 3], &[], &[]);
    assert_eq!(
        heard,
        [0, 1, 2, 3].map(|number| Heard::Arrived(number, false))
    );
    assert_eq!(stream.sender.in_flight(), Bytes::ZERO);
    let now = stream.now;
    assert_eq!(stream.end(0), Some(FrameEnd::Acknowledged(now)));
    // What has arrived stays so.
    assert_eq!(stream.report(&[], &[1], &[2]), []);
}

/// The browser's own request (NACK) tells an unknown packet that is lost from those that are not.
#[test]
fn an_unknown_packet_that_is_asked_for_is_sent_again() {
    let mut stream = Stream::new();
    stream.frame();
    stream.frame();
    stream.report(&[4, 5, 6, 7], &[], &[0, 1, 2, 3]);
    stream.now += MS;
    stream.sender.missing(stream.now, FrameId(0), 2);
    assert_eq!(stream.heard.lock().unwrap()[..], [Heard::Lost(2)]);
    let again = stream.sent();
    assert_eq!((again.len(), again[0].index), (1, 2));
    assert_eq!(again[0].kind, PacketKind::Retransmission);
    assert_eq!(stream.sender.in_flight(), Bytes::new(1_000));
}

#[test]
fn a_decoded_frame_whose_report_was_lost_is_acknowledged() {
    let mut stream = Stream::new();
    stream.frame();
    stream.report(&[0, 1, 2, 3], &[], &[]);
    assert!(stream.end(0).is_some());
    // The word that a frame is decoded comes before the gap is seen, or after.
    stream.frame();
    stream.sender.decoded(stream.now + MS * 3, FrameId(1));
    assert_eq!(stream.end(1), None, "a report may still come");
    stream.frame();
    stream.report(&[8, 9, 10, 11], &[], &[4, 5, 6, 7]);
    let now = stream.now;
    assert_eq!(stream.end(1), Some(FrameEnd::Acknowledged(now)));
    stream.frame();
    stream.frame();
    stream.report(&[16, 17, 18, 19], &[], &[12, 13, 14, 15]);
    assert_eq!(stream.end(3), None);
    let now = stream.now + MS * 2;
    stream.sender.decoded(now, FrameId(3));
    assert_eq!(stream.end(3), Some(FrameEnd::Acknowledged(now)));
}

/// The report on a retransmission comes with the next one, which may be long in coming.
#[test]
fn a_decoded_frame_does_not_wait_for_its_retransmissions() {
    let mut stream = Stream::new();
    stream.frame();
    stream.report(&[0, 2, 3], &[1], &[]);
    stream.frame();
    stream.report(&[4, 5, 6, 7], &[], &[]);
    let again = stream.sent();
    assert_eq!((again.len(), again[0].frame), (1, FrameId(0)));
    assert_eq!(stream.end(0), None);
    let now = stream.now + MS * 10;
    stream.sender.decoded(now, FrameId(0));
    assert_eq!(stream.end(0), Some(FrameEnd::Acknowledged(now)));
    assert_eq!(stream.sender.in_flight(), Bytes::new(1_000));
}

/// As in other formats, packets of which nothing is heard while nothing else arrives are lost.
#[test]
fn an_outage_loses_packets() {
    let mut stream = Stream::new();
    stream.frame();
    stream.report(&[0, 1, 2, 3], &[], &[]);
    stream.frame();
    stream.now += MS * 3_100;
    let heard = stream.report(&[], &[], &[]);
    assert_eq!(heard, [4, 5, 6, 7].map(Heard::Lost));
    assert_eq!(stream.sender.in_flight(), Bytes::ZERO);
}
