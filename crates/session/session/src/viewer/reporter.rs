//! Decides when to report arrivals to the host, and writes the reports.
//!
//! **Source.** RFC 8888, section 4, leaves the interval to the application. Reports at the end of
//! each frame are as frequent as a controller's decisions (docs/embed/feedback.md).
//!
//! A report leaves at once when it says something on which the host acts: a frame is whole, a
//! packet is missing, a mark has come, or a packet asks for a report. Otherwise the report waits
//! for [`ReporterConfig::longest_wait`], so that the host hears about a frame that is spread over
//! its interval piece by piece. Each report repeats the packets of the
//! [earlier ones](ReporterConfig::repeats), two by default, so that the loss of two reports in a
//! row costs nothing.
//!
//! One compound packet has a report of RFC 8888 with the ECN fields for each RTP stream, and a
//! transport-wide report, whose times have a resolution of 250 us instead of 1/1024 s.

use mimosa_facts::{Arrival, ArrivalReport, TransportSequence};
use mimosa_stream::{FeedbackFormat, ReportConfig, ReportWriter};
use mimosa_units::{Ecn, PeerTime, TimeDelta};

/// Most bytes of a compound packet, which leave room for the headers around it in a datagram.
const LARGEST: usize = 1_100;
/// Distance between numbers, modulo 2^16, that counts as ahead. A packet at this distance or more
/// from the newest came late.
const NEAR: u16 = 1 << 15;

/// When reports leave, and what they repeat.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ReporterConfig {
    /// Longest time that a packet waits for a report. Our choice: four reports in a frame interval
    /// at 60 frames a second.
    pub longest_wait: TimeDelta,
    /// Number of earlier reports that each report repeats. Our choice, so that a report covers
    /// three frames, as a host's requests do.
    pub repeats: usize,
    /// Number of packets after which a report leaves at once. Our choice: three reports of this
    /// size fit a datagram.
    pub most_packets: usize,
}

impl Default for ReporterConfig {
    fn default() -> Self {
        Self {
            longest_wait: TimeDelta::from_millis(4),
            repeats: 2,
            most_packets: 64,
        }
    }
}

/// A packet of the video that has arrived.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Came {
    /// SSRC of the packet's RTP stream.
    pub ssrc: u32,
    /// The packet's number in its RTP stream.
    pub sequence: u16,
    /// The packet's transport-wide number.
    pub number: TransportSequence,
    /// Whether the packet asks for a report.
    pub asks: bool,
    /// Whether the packet is the last of its frame.
    pub is_last: bool,
    /// When the packet came.
    pub at: PeerTime,
    /// The ECN field with which the packet came.
    pub ecn: Ecn,
}

/// Collects arrivals, and writes reports about them.
#[derive(Debug)]
pub struct Reporter {
    config: ReporterConfig,
    name: u32,
    /// Whether the host reads RFC 8888, whose reports carry marks.
    tells_marks: bool,
    /// Streams by their SSRC, in the order in which they came: SSRCs are random, reports are not.
    streams: Vec<(u32, ReportWriter, ArrivalReport<u16>)>,
    numbers: ReportWriter,
    waiting: ArrivalReport,
    newest: Option<TransportSequence>,
    due: Option<PeerTime>,
    count: u64,
}

impl Reporter {
    /// A reporter without arrivals. `name` is the SSRC from which the reports come.
    #[must_use]
    pub fn new(config: ReporterConfig, name: u32, tells_marks: bool) -> Self {
        let numbers = ReportConfig {
            format: FeedbackFormat::TransportWide,
            receiver: name,
            stream: name,
            largest: LARGEST,
            repeats: config.repeats,
        };
        Self {
            config,
            name,
            tells_marks,
            streams: Vec::new(),
            numbers: ReportWriter::with(numbers),
            waiting: ArrivalReport::default(),
            newest: None,
            due: None,
            count: 0,
        }
    }

    /// Number of reports written so far.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Takes the arrival of a packet.
    pub fn came(&mut self, came: &Came) {
        self.waiting.arrivals.push(Arrival {
            sequence: came.number,
            at: came.at,
            ecn: came.ecn,
        });
        if self.tells_marks {
            self.stream(came.ssrc).arrivals.push(Arrival {
                sequence: came.sequence,
                at: came.at,
                ecn: came.ecn,
            });
        }
        let is_useful = came.asks
            || came.is_last
            || came.ecn == Ecn::Ce
            || self.makes_gap(came.number)
            || self.waiting.arrivals.len() >= self.config.most_packets;
        let due = if is_useful {
            came.at
        } else {
            came.at + self.config.longest_wait
        };
        self.due = Some(self.due.map_or(due, |earlier| earlier.min(due)));
    }

    /// The arrivals of the stream with this SSRC.
    fn stream(&mut self, ssrc: u32) -> &mut ArrivalReport<u16> {
        let known = self.streams.iter().position(|(own, ..)| *own == ssrc);
        let index = known.unwrap_or_else(|| {
            let config = ReportConfig {
                format: FeedbackFormat::CongestionControl,
                receiver: self.name,
                stream: ssrc,
                largest: LARGEST,
                repeats: self.config.repeats,
            };
            let writer = ReportWriter::with(config);
            self.streams.push((ssrc, writer, ArrivalReport::default()));
            self.streams.len() - 1
        });
        &mut self.streams[index].2
    }

    /// Whether packets between the newest one before and this one are missing.
    fn makes_gap(&mut self, number: TransportSequence) -> bool {
        let step = self.newest.map_or(1, |newest| number.since(newest));
        let is_newer = (1..NEAR).contains(&step);
        if is_newer {
            self.newest = Some(number);
        }
        is_newer && step > 1
    }

    /// When to call [`Reporter::write`]; `None` without news.
    #[must_use]
    pub const fn due(&self) -> Option<PeerTime> {
        self.due
    }

    /// The compound packets that leave at `now`, one for each datagram. There are none before a
    /// report is due.
    pub fn write(&mut self, now: PeerTime) -> Vec<Vec<u8>> {
        if self.due.is_none_or(|due| due > now) {
            return Vec::new();
        }
        self.due = None;
        let mut packets = Vec::new();
        for (_, writer, report) in &mut self.streams {
            // Streams without news report as well: the transport-wide report below repeats their
            // packets, and the ECN fields have to come along.
            packets.extend(writer.write(now, report));
            report.arrivals.clear();
        }
        packets.extend(self.numbers.write(now, &self.waiting));
        self.waiting.arrivals.clear();
        let mut compounds: Vec<Vec<u8>> = Vec::new();
        for packet in packets {
            match compounds.last_mut() {
                Some(last) if last.len() + packet.len() <= LARGEST => last.extend(packet),
                _ => compounds.push(packet),
            }
        }
        self.count += compounds.len() as u64;
        compounds
    }
}

#[cfg(test)]
mod tests {
    use mimosa_rtp::rtcp;
    use mimosa_stream::ReportReader;

    use super::*;

    const MEDIA: u32 = 5;
    const AGAIN: u32 = 6;

    fn ms(millis: i64) -> PeerTime {
        PeerTime::from_nanos(millis * 1_000_000)
    }

    fn came(number: u16, at: i64) -> Came {
        Came {
            ssrc: MEDIA,
            sequence: number.wrapping_add(1_000),
            number: TransportSequence(number),
            asks: false,
            is_last: false,
            at: ms(at),
            ecn: Ecn::Ect1,
        }
    }

    fn reporter() -> Reporter {
        Reporter::new(ReporterConfig::default(), 9, true)
    }

    /// Transport-wide numbers in the compounds.
    fn numbers(compounds: &[Vec<u8>]) -> Vec<u16> {
        let mut report = ArrivalReport::default();
        let mut reader = ReportReader::new();
        for packet in compounds.iter().flat_map(|bytes| rtcp::packets(bytes)) {
            let packet = packet.unwrap();
            if let Ok(feedback) = mimosa_rtp::transport_cc::TransportFeedback::parse(&packet) {
                reader.transport_wide(&feedback, &mut report);
            }
        }
        let arrivals = report.arrivals.iter();
        arrivals.map(|arrival| arrival.sequence.0).collect()
    }

    #[test]
    fn what_is_useful_is_told_at_once_and_the_rest_in_time() {
        let mut reporter = reporter();
        reporter.came(&came(0, 10));
        assert_eq!(reporter.due(), Some(ms(14)));
        assert!(reporter.write(ms(13)).is_empty());
        reporter.came(&came(1, 13));
        assert_eq!(reporter.due(), Some(ms(14)), "the first one's");
        assert_eq!(numbers(&reporter.write(ms(14))), [0, 1]);
        assert_eq!(reporter.due(), None);
        let asking = Came {
            asks: true,
            ..came(2, 20)
        };
        let last = Came {
            is_last: true,
            ..came(3, 30)
        };
        let marked = Came {
            ecn: Ecn::Ce,
            ..came(4, 40)
        };
        for (news, at) in [(asking, 20), (last, 30), (marked, 40), (came(6, 50), 50)] {
            reporter.came(&news);
            assert_eq!(reporter.due(), Some(ms(at)), "{news:?}");
            assert!(!reporter.write(ms(at)).is_empty());
        }
        // The packet came late, which makes no new gap.
        reporter.came(&came(5, 60));
        assert_eq!(reporter.due(), Some(ms(64)));
        assert_eq!(numbers(&reporter.write(ms(64))), [4, 5, 6], "4 and 6 again");
    }

    #[test]
    fn two_lost_reports_cost_nothing() {
        let mut reporter = reporter();
        let mut told = Vec::new();
        for number in 0..30_u16 {
            let at = i64::from(number) * 10;
            reporter.came(&Came {
                is_last: true,
                ..came(number, at)
            });
            let compounds = reporter.write(ms(at));
            if number % 3 == 2 {
                told.extend(numbers(&compounds));
            }
        }
        assert!(told.into_iter().eq(0..30));
    }

    #[test]
    fn each_stream_is_reported_on_with_its_marks() {
        let mut reporter = reporter();
        reporter.came(&came(0, 10));
        reporter.came(&Came {
            ecn: Ecn::Ce,
            ..came(1, 11)
        });
        let again = Came {
            ssrc: AGAIN,
            sequence: 7,
            ..came(2, 11)
        };
        reporter.came(&again);
        let compounds = reporter.write(ms(11));
        assert_eq!(compounds.len(), 1, "all in one datagram");
        let streams: Vec<_> = rtcp::packets(&compounds[0])
            .filter_map(|packet| {
                let packet = packet.unwrap();
                mimosa_rtp::congestion_control::CongestionFeedback::parse(&packet).ok()
            })
            .flat_map(|feedback| feedback.streams().to_vec())
            .collect();
        let fields = |index: usize| {
            let metrics = streams[index].metrics();
            let fields = metrics.map(|(sequence, metric)| (sequence, metric.unwrap().ecn));
            (streams[index].ssrc(), fields.collect::<Vec<_>>())
        };
        assert_eq!(
            fields(0),
            (MEDIA, vec![(1_000, Ecn::Ect1), (1_001, Ecn::Ce)])
        );
        assert_eq!(fields(1), (AGAIN, vec![(7, Ecn::Ect1)]));
        let mut plain = Reporter::new(ReporterConfig::default(), 9, false);
        plain.came(&Came {
            asks: true,
            ..came(0, 10)
        });
        assert_eq!(plain.write(ms(10)).len(), 1);
        assert!(plain.streams.is_empty(), "who does not read it is not told");
    }

    /// ECN fields in the compounds, by stream and number.
    fn fields(compounds: &[Vec<u8>]) -> Vec<(u32, u16)> {
        let packets = compounds.iter().flat_map(|bytes| rtcp::packets(bytes));
        packets
            .filter_map(|packet| {
                mimosa_rtp::congestion_control::CongestionFeedback::parse(&packet.unwrap()).ok()
            })
            .flat_map(|feedback| feedback.streams().to_vec())
            .flat_map(|stream| {
                let metrics = stream.metrics().collect::<Vec<_>>().into_iter();
                let told = metrics.filter(|(_, metric)| metric.is_some());
                told.map(move |(sequence, _)| (stream.ssrc(), sequence))
            })
            .collect()
    }

    #[test]
    fn whatever_number_is_told_has_its_field_beside_it() {
        let mut reporter = reporter();
        for number in 0..40_u16 {
            let at = i64::from(number) * 10;
            // Some packets are of the second stream, where they have no neighbours.
            let is_again = number % 10 == 5;
            let news = Came {
                is_last: true,
                ssrc: if is_again { AGAIN } else { MEDIA },
                ..came(number, at)
            };
            reporter.came(&news);
            let compounds = reporter.write(ms(at));
            let expected = numbers(&compounds).into_iter().map(|number| {
                let ssrc = if number % 10 == 5 { AGAIN } else { MEDIA };
                (ssrc, number + 1_000)
            });
            let told = fields(&compounds);
            for pair in expected {
                assert!(told.contains(&pair), "{pair:?} at {number}");
            }
        }
    }

    #[test]
    fn no_compound_is_larger_than_a_datagram() {
        let mut reporter = reporter();
        for number in 0..2_000_u16 {
            // Every second packet is lost, and the arrivals are far apart.
            reporter.came(&came(number * 2, i64::from(number) * 70));
            let compounds = reporter.write(ms(i64::from(number) * 70));
            assert!(compounds.iter().all(|compound| compound.len() <= LARGEST));
            assert!(number == 0 || !compounds.is_empty());
        }
    }
}
