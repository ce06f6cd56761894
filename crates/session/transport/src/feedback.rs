//! Reads the receiver's RTCP about the host's packets.

use std::collections::BTreeMap;

use mimosa_facts::{ArrivalReport, MediaSequence, TransportSequence};
use mimosa_protocol::control::FeedbackKind;
use mimosa_rtp::congestion_control::CongestionFeedback;
use mimosa_rtp::nack::Nack;
use mimosa_rtp::transport_cc::TransportFeedback;
use mimosa_rtp::{enclosed, rtcp};
use mimosa_stream::{ReportReader, StreamReader};
use mimosa_units::Ecn;

use crate::reports::Numbers;

/// Most missing packets that are taken from one compound packet. A browser asks for a few frames'
/// packets at most; more would only cost time.
const MOST_MISSING: usize = 256;

/// Number of packets covered by a compound packet's reports from which its further reports are
/// ignored. Forty bytes can report 65535 packets as lost, and many such reports would only cost
/// time.
const MOST_COVERED: usize = 1 << 16;

/// How reports of RFC 8888 come.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Congestion {
    /// None come.
    None,
    /// Such reports come beside transport-wide ones, which have the same times at a finer
    /// resolution, and each packet is in several: only the ECN fields are taken.
    Beside,
    /// Such reports come alone, and each packet is in one.
    Alone,
}

impl Congestion {
    /// How such reports come with this feedback, on packets that carry these numbers.
    pub(crate) const fn of(feedback: FeedbackKind, numbers: Numbers) -> Self {
        match (feedback, numbers) {
            (FeedbackKind::CongestionControl, Numbers::None) => Self::Alone,
            (FeedbackKind::CongestionControl, Numbers::First | Numbers::Second) => Self::Beside,
            (FeedbackKind::OnRequest | FeedbackKind::Periodic | FeedbackKind::None, _) => {
                Self::None
            }
        }
    }
}

/// Reads feedback, and unwraps the receiver's clock.
#[derive(Debug)]
pub(crate) struct Feedback {
    reader: ReportReader,
    congestion: Congestion,
    /// Streams that reports of RFC 8888 are about.
    streams: StreamReader,
    refused: u64,
}

/// The content of a compound packet.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// Arrivals, if the compound packet had reports on the host's packets.
    pub(crate) report: Option<ArrivalReport>,
    /// RTP numbers of the packets that are asked for.
    pub(crate) missing: Vec<MediaSequence>,
    /// Number of packets that the reports covered.
    covered: usize,
}

impl Feedback {
    /// A reader that has read no feedback.
    pub(crate) const fn new(congestion: Congestion) -> Self {
        Self {
            reader: ReportReader::new(),
            congestion,
            streams: StreamReader::new(),
            refused: 0,
        }
    }

    /// Sets an SSRC by which reports of RFC 8888 name a stream of the video.
    pub(crate) fn name(&mut self, ssrc: u32) {
        if self.congestion != Congestion::None {
            self.streams.add(ssrc);
        }
    }

    /// Notes that a packet leaves with this number on the stream `ssrc` and this transport-wide
    /// number.
    pub(crate) fn sent(&mut self, ssrc: u32, sequence: u16, number: TransportSequence) {
        self.streams.sent(ssrc, sequence, number);
    }

    /// Reads a compound packet (RFC 3550, section 6.1). Malformed parts are skipped and logged.
    pub(crate) fn read(&mut self, compound: &[u8]) -> Heard {
        let mut heard = Heard::default();
        let mut fields = BTreeMap::new();
        self.packets(compound, false, &mut heard, &mut fields);
        // An arrival whose ECN field was in a lost datagram is skipped here; the next report
        // repeats it.
        let has_fields = self.congestion == Congestion::Beside;
        if let Some(report) = heard.report.as_mut().filter(|_| has_fields) {
            report.arrivals.retain_mut(|arrival| {
                let field = fields.get(&arrival.sequence);
                arrival.ecn = field.copied().unwrap_or_default();
                field.is_some()
            });
        }
        heard
    }

    /// Reads the packets of a compound packet, or those enclosed in one of its packets, which may
    /// not enclose others. `fields` are ECN fields by transport-wide number.
    fn packets(
        &mut self,
        compound: &[u8],
        is_enclosed: bool,
        heard: &mut Heard,
        fields: &mut BTreeMap<TransportSequence, Ecn>,
    ) {
        for packet in rtcp::packets(compound) {
            let packet = match packet {
                Ok(packet) => packet,
                Err(error) => {
                    self.refuse(&error);
                    break;
                }
            };
            if TransportFeedback::is(&packet) {
                if heard.covered >= MOST_COVERED {
                    continue;
                }
                match TransportFeedback::parse(&packet) {
                    Ok(feedback) => self.arrivals(&feedback, heard),
                    Err(error) => self.refuse(&error),
                }
            } else if CongestionFeedback::is(&packet) {
                if heard.covered >= MOST_COVERED {
                    continue;
                }
                match CongestionFeedback::parse(&packet) {
                    Ok(feedback) => self.congestion(&feedback, heard, fields),
                    Err(error) => self.refuse(&error),
                }
            } else if let Some(inner) = enclosed::compound(&packet) {
                if !is_enclosed {
                    self.packets(inner, true, heard, fields);
                }
            } else if Nack::is(&packet) {
                match Nack::parse(&packet) {
                    Ok(nack) => {
                        let room = MOST_MISSING.saturating_sub(heard.missing.len());
                        let lost = nack.lost.iter().copied().map(MediaSequence);
                        heard.missing.extend(lost.take(room));
                    }
                    Err(error) => self.refuse(&error),
                }
            }
        }
    }

    /// Takes what is wanted from a report of RFC 8888: ECN fields, or all of it.
    fn congestion(
        &mut self,
        feedback: &CongestionFeedback,
        heard: &mut Heard,
        fields: &mut BTreeMap<TransportSequence, Ecn>,
    ) {
        match self.congestion {
            Congestion::None => {}
            Congestion::Beside => fields.extend(self.streams.fields(feedback)),
            Congestion::Alone => {
                let mut report = heard.report.take().unwrap_or_default();
                let covered = self.streams.read(feedback, &mut report);
                // A report on sound alone is none on the video.
                heard.report = Some(report).filter(|_| covered > 0 || heard.covered > 0);
                heard.covered += covered;
            }
        }
    }

    fn arrivals(&mut self, feedback: &TransportFeedback, heard: &mut Heard) {
        let report = heard.report.get_or_insert_default();
        heard.covered += self.reader.transport_wide(feedback, report);
    }

    fn refuse(&mut self, error: &dyn std::fmt::Display) {
        self.refused += 1;
        if self.refused.is_power_of_two() {
            tracing::warn!(%error, count = self.refused, "RTCP from the other end is refused");
        }
    }
}

#[cfg(test)]
mod tests {
    use mimosa_rtp::congestion_control::{Metric, ReportTime, StreamReport};
    use mimosa_units::{PeerTime, TimeDelta};

    use super::*;

    /// A receiver report without blocks (RFC 3550, section 6.4.2).
    const RECEIVER_REPORT: [u8; 8] = [0x80, 201, 0, 1, 0, 0, 0, 9];

    fn at(millis: i64) -> PeerTime {
        PeerTime::from_nanos(millis * 1_000_000)
    }

    fn report(base: u16, arrivals: &[Option<PeerTime>]) -> Vec<u8> {
        let feedback = TransportFeedback::new(1, 2, 0, base, arrivals);
        feedback.unwrap().to_bytes()
    }

    fn nack(lost: impl IntoIterator<Item = u16>) -> Vec<u8> {
        let nack = Nack {
            sender_ssrc: 1,
            media_ssrc: 2,
            lost: lost.into_iter().collect(),
        };
        nack.to_bytes()
    }

    /// Transport-wide numbers and arrival times in milliseconds.
    fn arrived(heard: &Heard) -> Vec<(u16, i64)> {
        let arrivals = heard.report.iter().flat_map(|report| &report.arrivals);
        arrivals
            .map(|arrival| {
                (
                    arrival.sequence.0,
                    (arrival.at - at(0)).as_nanos() / 1_000_000,
                )
            })
            .collect()
    }

    #[test]
    fn a_compound_is_heard_whole() {
        let mut feedback = Feedback::new(Congestion::None);
        let compound = [
            RECEIVER_REPORT.to_vec(),
            report(65_534, &[Some(at(100)), None, Some(at(101)), Some(at(99))]),
            nack([65_535]),
            report(2, &[Some(at(130))]),
            nack([7, 9]),
        ];
        let heard = feedback.read(&compound.concat());
        assert_eq!(
            arrived(&heard),
            [(65_534, 100), (0, 101), (1, 99), (2, 130)]
        );
        assert_eq!(heard.missing, [65_535, 7, 9].map(MediaSequence));
        let heard = feedback.read(&RECEIVER_REPORT);
        assert!(heard.report.is_none() && heard.missing.is_empty());
        assert_eq!(feedback.refused, 0);
    }

    /// The reference time has 24 bits, in units of 64 ms.
    #[test]
    fn the_browsers_clock_goes_on_over_reports() {
        let wrap = 64 << 23;
        let mut feedback = Feedback::new(Congestion::None);
        let [before, after] = [wrap - 64, wrap + 64].map(|millis| {
            let heard = feedback.read(&report(0, &[Some(at(millis))]));
            heard.report.unwrap().arrivals[0].at
        });
        assert_eq!(after - before, TimeDelta::from_millis(128));
    }

    #[test]
    fn a_broken_packet_spoils_nothing_before_it() {
        let arrival = report(5, &[Some(at(10))]);
        let good = [&arrival[..], &nack([3])].concat();
        // A report on no packet says where it ends, so that what follows is read.
        let mut empty = arrival.clone();
        empty[14..16].copy_from_slice(&[0, 0]);
        let mut feedback = Feedback::new(Congestion::None);
        let heard = feedback.read(&[&empty[..], &good].concat());
        assert_eq!(
            (arrived(&heard), &heard.missing[..]),
            (vec![(5, 10)], &[MediaSequence(3)][..])
        );
        assert_eq!(feedback.refused, 1);
        // A report that is cut off is not read.
        for length in 1..good.len() {
            let mut feedback = Feedback::new(Congestion::None);
            let heard = feedback.read(&[&good[..], &good[..length]].concat());
            let times = 1 + usize::from(length >= arrival.len());
            assert_eq!(arrived(&heard), vec![(5, 10); times], "{length}");
            assert_eq!(heard.missing, [MediaSequence(3)]);
            assert_eq!(feedback.refused, u64::from(length != arrival.len()));
        }
        for broken in [&[0x40, 205, 0, 0][..], &[0x8f], &[]] {
            let heard = feedback.read(broken);
            assert!(heard.report.is_none() && heard.missing.is_empty());
        }
    }

    #[test]
    fn missing_packets_are_bounded() {
        let many = nack(0..200);
        let heard = Feedback::new(Congestion::None).read(&[&many[..], &many, &many].concat());
        assert_eq!(heard.missing.len(), MOST_MISSING);
        assert!(
            heard.missing[..200]
                .iter()
                .copied()
                .eq((0..200).map(MediaSequence))
        );
    }

    #[test]
    fn packets_that_reports_are_about_are_bounded() {
        let longest = report(0, &vec![None; usize::from(u16::MAX)]);
        assert!(longest.len() <= 40, "{}", longest.len());
        let last = report(5, &[Some(at(10))]);
        let heard = |reports| {
            let compound = [longest.repeat(reports), last.clone()].concat();
            arrived(&Feedback::new(Congestion::None).read(&compound)).len()
        };
        assert_eq!([1, 2, 30].map(heard), [1, 0, 0]);
    }

    const MEDIA: u32 = 5;
    const REPAIRS: u32 = 7;

    /// A reader of reports that come alone, on two streams of four packets each, sent alternately.
    fn alone() -> Feedback {
        let mut feedback = Feedback::new(Congestion::Alone);
        for ssrc in [MEDIA, REPAIRS] {
            feedback.name(ssrc);
        }
        for number in 0..4 {
            let first = TransportSequence(65_534).plus(2 * number);
            feedback.sent(MEDIA, 100 + number, first);
            feedback.sent(REPAIRS, 200 + number, first.plus(1));
        }
        feedback
    }

    /// A report of RFC 8888, made at 64 s, on the packets of streams from a number on: an ECN field,
    /// or nothing.
    fn congestion(parts: &[(u32, u16, &[Option<Ecn>])]) -> Vec<u8> {
        let time = ReportTime::not_before(at(64_000));
        let parts = parts.iter().map(|(ssrc, begin, fields)| {
            let metric = |field: &Option<Ecn>| field.map(|ecn| Metric::of(at(64_000), ecn, time));
            let metrics = fields.iter().map(metric).collect();
            StreamReport::new(*ssrc, *begin, metrics).unwrap()
        });
        let packets = CongestionFeedback::packets(1, time, parts, 1_100);
        packets[0].to_bytes()
    }

    #[test]
    fn reports_that_come_alone_are_about_the_senders_numbers() {
        let mut feedback = alone();
        let bytes = congestion(&[
            (MEDIA, 100, &[Some(Ecn::Ect1), None, Some(Ecn::Ce)]),
            (REPAIRS, 200, &[Some(Ecn::NotEct)]),
            (99, 0, &[Some(Ecn::Ect1)]),
        ]);
        let heard = feedback.read(&[&RECEIVER_REPORT[..], &bytes].concat());
        assert_eq!(
            arrived(&heard),
            [(65_534, 64_000), (2, 64_000), (65_535, 64_000)]
        );
        let report = heard.report.unwrap();
        let fields: Vec<_> = report.arrivals.iter().map(|arrival| arrival.ecn).collect();
        assert_eq!(fields, [Ecn::Ect1, Ecn::Ce, Ecn::NotEct]);
        let absences = report.absences.unwrap();
        assert_eq!(absences.missing, [TransportSequence(0)]);
        assert!(absences.unknown.is_empty());
        // The report on the second and third repair packet is lost.
        let bytes = congestion(&[(REPAIRS, 203, &[Some(Ecn::Ect1)])]);
        let absences = feedback.read(&bytes).report.unwrap().absences.unwrap();
        assert!(absences.missing.is_empty());
        assert_eq!(absences.unknown, [3, 1].map(TransportSequence));
    }

    #[test]
    fn a_report_on_sound_alone_is_none() {
        let sound = congestion(&[(99, 0, &[Some(Ecn::NotEct)])]);
        assert!(alone().read(&sound).report.is_none());
        let video = congestion(&[(MEDIA, 100, &[None])]);
        assert!(
            alone()
                .read(&[&video[..], &sound].concat())
                .report
                .is_some()
        );
        // Who has not agreed to such reports does not read them.
        let mut others = Feedback::new(Congestion::None);
        others.name(MEDIA);
        assert!(others.read(&video).report.is_none());
    }
}
