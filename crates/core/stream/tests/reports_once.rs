//! A sender and a receiver that reports on each packet once, as libwebrtc does, with packets and
//! reports lost and reports out of order.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use mimosa_facts::{ArrivalReport, Controller, Decision, Event, Limits, PacketKind, PacketOutcome};
use mimosa_rtp::congestion_control::{CongestionFeedback, Metric, ReportTime, StreamReport};
use mimosa_stream::{Outgoing, Sender, SenderConfig, StreamReader, packetise};
use mimosa_units::random::SplitMix;
use mimosa_units::{Bytes, Ecn, PeerTime, Rate, Time, TimeDelta};

const MEDIA: usize = 0;
const AGAIN: usize = 1;
const SSRCS: [u32; 2] = [17, 18];
/// RTP numbers begin so that they wrap.
const FIRST: [u16; 2] = [65_000, 65_530];
const L: TimeDelta = TimeDelta::from_millis(16);
/// Time from one end to the other.
const DELAY: TimeDelta = TimeDelta::from_millis(5);

/// Remembers which packets are said to be lost.
#[derive(Debug)]
struct Puppet {
    decision: Decision,
    lost: Arc<Mutex<BTreeSet<u64>>>,
    unknown: Arc<Mutex<usize>>,
}

impl Controller for Puppet {
    fn handle(&mut self, _now: Time, event: Event<'_>) -> &Decision {
        match event {
            Event::Feedback { reports, .. } => {
                let lost = reports.iter();
                let lost = lost.filter(|report| report.outcome == PacketOutcome::Lost);
                let numbers = lost.map(|report| report.packet.sequence.0);
                self.lost.lock().unwrap().extend(numbers);
            }
            Event::Unknown { packets } => *self.unknown.lock().unwrap() += packets.len(),
            _ => {}
        }
        &self.decision
    }

    fn decision(&self) -> &Decision {
        &self.decision
    }
}

/// The receiver's account of one stream.
struct Tracker {
    /// Packets that have arrived since the last report, in order.
    arrived: Vec<(u64, PeerTime)>,
    /// The number after the last one in a report.
    next: Option<u64>,
}

struct World {
    sender: Sender,
    reader: StreamReader,
    now: Time,
    random: SplitMix,
    /// Shares of lost packets, and of lost and late reports, in percent.
    rates: [u64; 3],
    sent: [u64; 2],
    trackers: [Tracker; 2],
    /// Number of packets, and those that really were lost.
    count: u64,
    gone: BTreeSet<u64>,
    late: Option<CongestionFeedback>,
    reports: u64,
    retransmissions: u64,
}

impl World {
    fn send(&mut self, outgoing: &Outgoing) {
        let number = self.count;
        self.count += 1;
        let stream = match outgoing.kind {
            PacketKind::Media => MEDIA,
            _ => AGAIN,
        };
        self.retransmissions += u64::from(outgoing.kind == PacketKind::Retransmission);
        let sequence = u64::from(FIRST[stream]) + self.sent[stream];
        self.sent[stream] += 1;
        #[expect(clippy::cast_possible_truncation, reason = "the wire has 16 bits")]
        let wire = sequence as u16;
        self.reader.sent(SSRCS[stream], wire, outgoing.sequence);
        // The first packets arrive: a report on them comes as well.
        let is_lost = self.now > Time::from_millis(1_100) && self.random.below(100) < self.rates[0];
        if is_lost {
            self.gone.insert(number);
        } else {
            let at = PeerTime::from_nanos((self.now + DELAY).as_nanos().cast_signed());
            self.trackers[stream].arrived.push((sequence, at));
        }
    }

    /// The report of all streams with news.
    fn report(&mut self) -> Option<CongestionFeedback> {
        let at = PeerTime::from_nanos((self.now + DELAY).as_nanos().cast_signed());
        let time = ReportTime::not_before(at);
        let mut parts = Vec::new();
        for (ssrc, tracker) in SSRCS.into_iter().zip(&mut self.trackers) {
            let arrived = std::mem::take(&mut tracker.arrived);
            let (Some(first), Some(last)) = (arrived.first(), arrived.last()) else {
                continue;
            };
            let begin = tracker.next.unwrap_or(first.0);
            let metric = |number: u64| {
                let found = arrived.iter().find(|(own, _)| *own == number);
                found.map(|(_, at)| Metric::of(*at, Ecn::NotEct, time))
            };
            let metrics = (begin..=last.0).map(metric).collect();
            #[expect(clippy::cast_possible_truncation, reason = "the wire has 16 bits")]
            let part = StreamReport::new(ssrc, begin as u16, metrics).unwrap();
            parts.push(part);
            tracker.next = Some(last.0 + 1);
        }
        (!parts.is_empty()).then(|| CongestionFeedback::packets(9, time, parts, 1_180).remove(0))
    }

    fn hear(&mut self, feedback: &CongestionFeedback) {
        let mut report = ArrivalReport::default();
        self.reader.read(feedback, &mut report);
        self.sender.feedback(self.now + DELAY * 2, &report);
    }

    fn frame(&mut self) {
        self.sender.frame_due(self.now, L);
        let size = Bytes::new(1_000 * (1 + self.random.below(12)));
        let packets = packetise(size, Bytes::new(1_000), Bytes::ZERO);
        self.sender.frame_encoded(self.now, packets);
        while let Some(outgoing) = self.sender.poll_packet(self.now) {
            self.send(&outgoing);
        }
        if let Some(feedback) = self.report() {
            self.reports += 1;
            // Each stream's first report comes.
            let is_early = self.now < Time::from_millis(1_200);
            if is_early || self.random.below(100) >= self.rates[1] {
                let is_late = !is_early && self.random.below(100) < self.rates[2];
                if is_late && self.late.is_none() {
                    self.late = Some(feedback);
                } else {
                    self.hear(&feedback);
                    if let Some(late) = self.late.take() {
                        self.hear(&late);
                    }
                }
            }
        }
        self.now += L;
    }
}

/// What the controller has heard at the end: lost packets, and the number of unknown ones.
fn run(seed: u64, rates: [u64; 3], frames: u64) -> (World, BTreeSet<u64>, usize) {
    let lost = Arc::new(Mutex::new(BTreeSet::new()));
    let unknown = Arc::new(Mutex::new(0));
    let limits = Limits::new(Rate::ZERO, Rate::from_kbps(4_800), Rate::MAX);
    let puppet = Puppet {
        decision: Decision::starting_at(limits.start()),
        lost: Arc::clone(&lost),
        unknown: Arc::clone(&unknown),
    };
    let mut reader = StreamReader::new();
    for ssrc in SSRCS {
        reader.add(ssrc);
    }
    let mut world = World {
        sender: Sender::new(SenderConfig::default(), Box::new(puppet)),
        reader,
        now: Time::from_secs(1),
        random: SplitMix::new(seed),
        rates,
        sent: [0; 2],
        trackers: [(); 2].map(|()| Tracker {
            arrived: Vec::new(),
            next: None,
        }),
        count: 0,
        gone: BTreeSet::new(),
        late: None,
        reports: 0,
        retransmissions: 0,
    };
    for _ in 0..frames {
        world.frame();
        while world.sender.poll_frame().is_some() {}
    }
    let (lost, unknown) = (lost.lock().unwrap().clone(), *unknown.lock().unwrap());
    (world, lost, unknown)
}

/// Nothing is lost but reports: nothing is sent again, and nothing stays in flight.
#[test]
fn lost_reports_cost_no_packet() {
    for seed in 1..=20 {
        for rates in [[0, 0, 0], [0, 5, 0], [0, 40, 10]] {
            let (world, lost, unknown) = run(seed, rates, 700);
            assert!(lost.is_empty(), "seed {seed}, {rates:?}: {lost:?}");
            assert_eq!(world.retransmissions, 0, "seed {seed}, {rates:?}");
            let share = unknown as f64 / world.count as f64;
            let expected = rates[1] as f64 / 100.0;
            let most = if rates[1] == 0 {
                0.0
            } else {
                2.5 * expected + 0.02
            };
            let least = 0.4 * expected;
            assert!(
                (least..=most).contains(&share),
                "seed {seed}, {rates:?}: {share}"
            );
            // At most what left with the newest frames.
            let in_flight = world.sender.in_flight();
            assert!(
                in_flight < Bytes::new(80_000),
                "seed {seed}, {rates:?}: {in_flight}"
            );
        }
    }
}

/// Packets and reports are lost: whatever counts as lost is, and most of it is found.
#[test]
fn only_lost_packets_count_as_lost() {
    for seed in 1..=20 {
        for rates in [[2, 0, 0], [2, 5, 0], [5, 20, 5]] {
            let (world, lost, _) = run(seed, rates, 700);
            let begun = |number: &&u64| !world.gone.contains(number);
            let wrong: Vec<_> = lost.iter().filter(begun).collect();
            // The first packets of the second stream may be in a lost report.
            let most = if rates[1] == 0 { 0 } else { 12 };
            assert!(wrong.len() <= most, "seed {seed}, {rates:?}: {wrong:?}");
            let found = lost.len() as f64 / world.gone.len() as f64;
            let least = 0.85 - 1.5 * rates[1] as f64 / 100.0;
            assert!(
                (least..=1.1).contains(&found),
                "seed {seed}, {rates:?}: {found}"
            );
        }
    }
}
