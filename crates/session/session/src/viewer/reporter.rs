//! When to tell the host of arrivals, and what.
//!
//! **Source.** RFC 8888, section 4, leaves the interval to the application; reports at the
//! end of a frame are as often as a controller decides (docs/embed/feedback.md).
//!
//! A report is useful at once when it says something that the host acts on: a frame is
//! whole, a packet is missing, a mark has come, or the packet asks. Otherwise it waits for
//! [`ReporterConfig::longest_wait`], so that a frame that is spread over its interval is
//! known of piece by piece. Each is about the packets of the
//! [two before it](ReporterConfig::repeats) as well, so that two lost in a row cost nothing.
//!
//! One compound has, of each stream of RTP, a report of RFC 8888 with the ECN fields, and one
//! on transport-wide numbers, whose times are of 250 us instead of 1/1024 s.

use std::collections::BTreeMap;

use mimosa_facts::{Arrival, ArrivalReport, TransportSequence};
use mimosa_stream::{FeedbackFormat, ReportConfig, ReportWriter};
use mimosa_units::{Ecn, PeerTime, TimeDelta};

/// Most bytes of a compound, so that it fits a datagram with what is around it.
const LARGEST: usize = 1_100;
/// A packet so far behind the newest came late; one so far ahead makes no gap, but begins
/// anew.
const NEAR: u16 = 1 << 15;

/// How often to report.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ReporterConfig {
    /// Longest that a packet goes without a report. Chosen: four reports in a frame's
    /// interval at 60 frames a second.
    pub longest_wait: TimeDelta,
    /// Earlier reports that each repeats. Chosen, as a host's requests cover three frames.
    pub repeats: usize,
    /// Packets after which a report leaves at once. Chosen: what a report of three has to
    /// say fits a datagram.
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

/// A packet of the video's that has arrived.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Came {
    /// Its stream.
    pub ssrc: u32,
    /// Its number there.
    pub sequence: u16,
    /// Number of the packet among all packets of the video.
    pub number: TransportSequence,
    /// It asks for a report.
    pub asks: bool,
    /// It is the last of its frame.
    pub is_last: bool,
    /// When it came.
    pub at: PeerTime,
    /// The ECN field it came with.
    pub ecn: Ecn,
}

/// Collects arrivals, and writes reports.
#[derive(Debug)]
pub struct Reporter {
    config: ReporterConfig,
    name: u32,
    /// Whether the host reads RFC 8888.
    tells_marks: bool,
    streams: BTreeMap<u32, (ReportWriter, ArrivalReport<u16>)>,
    numbers: ReportWriter,
    waiting: ArrivalReport,
    newest: Option<TransportSequence>,
    due: Option<PeerTime>,
    count: u64,
}

impl Reporter {
    /// Nothing has come. Reports are signed with `name`.
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
            streams: BTreeMap::new(),
            numbers: ReportWriter::with(numbers),
            waiting: ArrivalReport::default(),
            newest: None,
            due: None,
            count: 0,
        }
    }

    /// Reports written so far.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// A packet has come.
    pub fn came(&mut self, came: &Came) {
        self.waiting.arrivals.push(Arrival {
            sequence: came.number,
            at: came.at,
            ecn: came.ecn,
        });
        if self.tells_marks {
            let config = ReportConfig {
                format: FeedbackFormat::CongestionControl,
                receiver: self.name,
                stream: came.ssrc,
                largest: LARGEST,
                repeats: self.config.repeats,
            };
            let new = || (ReportWriter::with(config), ArrivalReport::default());
            let (_, report) = self.streams.entry(came.ssrc).or_insert_with(new);
            report.arrivals.push(Arrival {
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

    /// Whether packets between the newest so far and this one have not come.
    fn makes_gap(&mut self, number: TransportSequence) -> bool {
        let step = self.newest.map_or(1, |newest| number.since(newest));
        let is_newer = (1..NEAR).contains(&step);
        if is_newer {
            self.newest = Some(number);
        }
        is_newer && step > 1
    }

    /// When to call [`Reporter::write`].
    #[must_use]
    pub const fn due(&self) -> Option<PeerTime> {
        self.due
    }

    /// The compounds that leave at `now`, each for a datagram of its own; none before one
    /// is due.
    pub fn write(&mut self, now: PeerTime) -> Vec<Vec<u8>> {
        if self.due.is_none_or(|due| due > now) {
            return Vec::new();
        }
        self.due = None;
        let mut packets = Vec::new();
        for (writer, report) in self.streams.values_mut() {
            // Also of a stream without news: the numbers below repeat its packets, and
            // their fields go with them.
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
        // It came late: there is no new gap.
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
            // Now and then a packet of the second stream, which has no others near it.
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
            // Every other one is lost, and times are far apart.
            reporter.came(&came(number * 2, i64::from(number) * 70));
            let compounds = reporter.write(ms(i64::from(number) * 70));
            assert!(compounds.iter().all(|compound| compound.len() <= LARGEST));
            assert!(number == 0 || !compounds.is_empty());
        }
    }
}
