//! Reads the receiver's RTCP about the host's packets.

use std::collections::BTreeMap;

use mimosa_facts::{ArrivalReport, MediaSequence, StreamSequence, TransportSequence};
use mimosa_rtp::congestion_control::CongestionFeedback;
use mimosa_rtp::nack::Nack;
use mimosa_rtp::transport_cc::TransportFeedback;
use mimosa_rtp::{enclosed, rtcp};
use mimosa_stream::ReportReader;
use mimosa_units::Ecn;

use crate::store::Stream;

/// Most missing packets that are taken from one compound packet. A browser asks for a few frames'
/// packets at most; more would only cost time.
const MOST_MISSING: usize = 256;

/// Number of packets covered by a compound packet's reports from which its further reports are
/// ignored. Forty bytes can report 65535 packets as lost, and many such reports would only cost
/// time.
const MOST_COVERED: usize = 1 << 16;

/// Number of packets of each stream whose transport-wide numbers are remembered: half a second at
/// 200 Mbit/s.
const REMEMBERED: u16 = 8192;

/// Reads feedback, and unwraps the receiver's clock.
#[derive(Debug)]
pub(crate) struct Feedback {
    reader: ReportReader,
    /// The stream of each SSRC, where reports of RFC 8888 were agreed on.
    streams: BTreeMap<u32, Stream>,
    /// Transport-wide numbers of the newest packets, by stream and RTP number.
    numbers: BTreeMap<StreamSequence, TransportSequence>,
    refused: u64,
}

/// The content of a compound packet.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// Arrivals, if the compound packet had transport-wide feedback.
    pub(crate) report: Option<ArrivalReport>,
    /// RTP numbers of the packets that are asked for.
    pub(crate) missing: Vec<MediaSequence>,
    /// Number of packets that the reports covered.
    covered: usize,
}

impl Feedback {
    /// A reader that has read no feedback.
    pub(crate) const fn new() -> Self {
        Self {
            reader: ReportReader::new(),
            streams: BTreeMap::new(),
            numbers: BTreeMap::new(),
            refused: 0,
        }
    }

    /// Sets the SSRC by which reports of RFC 8888 name a stream.
    pub(crate) fn name(&mut self, ssrc: u32, stream: Stream) {
        self.streams.insert(ssrc, stream);
    }

    /// Notes that a packet leaves with this number on its stream and this transport-wide number.
    pub(crate) fn sent(&mut self, sequence: StreamSequence, number: TransportSequence) {
        let stream = Stream::of(sequence);
        if self.streams.values().any(|named| *named == stream) {
            self.numbers.insert(sequence, number);
            let oldest = sequence.get().wrapping_sub(REMEMBERED);
            self.numbers.remove(&stream.sequence(oldest));
        }
    }

    /// Reads a compound packet (RFC 3550, section 6.1). Malformed parts are skipped and logged.
    pub(crate) fn read(&mut self, compound: &[u8]) -> Heard {
        let mut heard = Heard::default();
        let mut fields = BTreeMap::new();
        self.packets(compound, false, &mut heard, &mut fields);
        // An arrival whose ECN field was in a lost datagram is skipped here; the next report
        // repeats it.
        let has_fields = !self.streams.is_empty();
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
                match CongestionFeedback::parse(&packet) {
                    Ok(feedback) => self.marks(&feedback, fields),
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

    /// Takes the ECN fields from a report of RFC 8888, by transport-wide number. Its arrival times
    /// are ignored: the transport-wide report beside it has the same ones at a finer resolution.
    fn marks(&self, feedback: &CongestionFeedback, fields: &mut BTreeMap<TransportSequence, Ecn>) {
        for report in feedback.streams() {
            let Some(stream) = self.streams.get(&report.ssrc()) else {
                continue;
            };
            // A report may cover more packets than are remembered.
            for (sequence, metric) in report.metrics().take(usize::from(REMEMBERED)) {
                let number = self.numbers.get(&stream.sequence(sequence));
                if let Some((&number, metric)) = number.zip(metric) {
                    fields.insert(number, metric.ecn);
                }
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
        let mut feedback = Feedback::new();
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
        let mut feedback = Feedback::new();
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
        let mut feedback = Feedback::new();
        let heard = feedback.read(&[&empty[..], &good].concat());
        assert_eq!(
            (arrived(&heard), &heard.missing[..]),
            (vec![(5, 10)], &[MediaSequence(3)][..])
        );
        assert_eq!(feedback.refused, 1);
        // A report that is cut off is not read.
        for length in 1..good.len() {
            let mut feedback = Feedback::new();
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
        let heard = Feedback::new().read(&[&many[..], &many, &many].concat());
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
            arrived(&Feedback::new().read(&compound)).len()
        };
        assert_eq!([1, 2, 30].map(heard), [1, 0, 0]);
    }
}
