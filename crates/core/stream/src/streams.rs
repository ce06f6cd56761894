//! Reads reports of RFC 8888 on several RTP streams, whose packets have one transport-wide count.
//!
//! The receiver names packets by SSRC and RTP number, the sender by transport-wide number.
//! [`StreamReader`] remembers which is which, for the newest packets of each stream.

use std::collections::{BTreeMap, VecDeque};

use mimosa_facts::{Absences, Arrival, ArrivalReport, TransportSequence};
use mimosa_rtp::congestion_control::{CongestionFeedback, Coverage, ReportClock, StreamReport};
use mimosa_units::Ecn;

/// Number of packets of each stream whose transport-wide numbers are remembered: half a second at
/// 200 Mbit/s.
const REMEMBERED: usize = 8192;

/// A stream as it was sent.
#[derive(Debug)]
struct Stream {
    /// RTP number of the next packet.
    next: u16,
    /// Transport-wide numbers of the newest packets, up to `next`; `None` for an RTP number that was
    /// skipped.
    numbers: VecDeque<Option<TransportSequence>>,
    coverage: Coverage,
}

impl Stream {
    const fn new(first: u16) -> Self {
        Self {
            next: first,
            numbers: VecDeque::new(),
            coverage: Coverage::new(first),
        }
    }

    fn push(&mut self, number: Option<TransportSequence>) {
        if self.numbers.len() == REMEMBERED {
            self.numbers.pop_front();
        }
        self.numbers.push_back(number);
        self.next = self.next.wrapping_add(1);
    }

    /// The place of an RTP number among `numbers`.
    fn index(&self, sequence: u16) -> Option<usize> {
        let back = usize::from(self.next.wrapping_sub(sequence));
        self.numbers.len().checked_sub(back)
    }

    /// Whether all packets that a report is about have been sent. A report on others is wrong, and
    /// would have the reader go through gaps without end.
    fn has_sent(&self, report: &StreamReport) -> bool {
        let end = report.begin_sequence().wrapping_add(report.covered());
        !self.next.wrapping_sub(end).cast_signed().is_negative()
    }

    fn number(&self, sequence: u16) -> Option<TransportSequence> {
        *self.numbers.get(self.index(sequence)?)?
    }
}

/// Reads reports on several streams.
#[derive(Debug, Default)]
pub struct StreamReader {
    clock: ReportClock,
    /// Streams by SSRC; `None` for one of which nothing has been sent.
    streams: BTreeMap<u32, Option<Stream>>,
}

impl StreamReader {
    /// A reader without streams.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            clock: ReportClock::new(),
            streams: BTreeMap::new(),
        }
    }

    /// Adds the stream with this SSRC. Reports on other streams are ignored.
    pub fn add(&mut self, ssrc: u32) {
        self.streams.entry(ssrc).or_insert(None);
    }

    /// Forgets the stream with this SSRC.
    pub fn remove(&mut self, ssrc: u32) {
        self.streams.remove(&ssrc);
    }

    /// Notes that a packet leaves on the stream `ssrc` with this RTP number and this transport-wide
    /// number. RTP numbers that are skipped count as not sent, until they are; a step of 8192 or
    /// more begins the stream anew.
    pub fn sent(&mut self, ssrc: u32, sequence: u16, number: TransportSequence) {
        let Some(place) = self.streams.get_mut(&ssrc) else {
            return;
        };
        let stream = place.get_or_insert_with(|| Stream::new(sequence));
        let ahead = sequence.wrapping_sub(stream.next).cast_signed();
        if usize::from(ahead.unsigned_abs()) >= REMEMBERED {
            *stream = Stream::new(sequence);
        } else if ahead < 0 {
            let index = stream.index(sequence);
            if let Some(skipped) = index.and_then(|index| stream.numbers.get_mut(index)) {
                skipped.get_or_insert(number);
            }
            return;
        } else {
            for _ in 0..ahead {
                stream.push(None);
            }
        }
        stream.push(Some(number));
    }

    /// The ECN fields in a report, by transport-wide number.
    pub fn fields(
        &self,
        feedback: &CongestionFeedback,
    ) -> impl Iterator<Item = (TransportSequence, Ecn)> {
        let streams = feedback.streams().iter().filter_map(|report| {
            let stream = self.streams.get(&report.ssrc())?.as_ref()?;
            Some((stream, report))
        });
        streams.flat_map(|(stream, report)| {
            let metrics = report.metrics().take(REMEMBERED);
            metrics.filter_map(|(sequence, metric)| Some((stream.number(sequence)?, metric?.ecn)))
        })
    }

    /// Adds to `report` the news of a report that its receiver does not repeat: packets that have
    /// arrived, packets that are missing, and packets that were in a lost report. Returns the number
    /// of packets that the news is about; zero if the report is about other streams alone, or about
    /// packets that have not been sent.
    pub fn read(&mut self, feedback: &CongestionFeedback, report: &mut ArrivalReport) -> usize {
        let mut covered = 0;
        let absences = report.absences.get_or_insert_default();
        for part in feedback.streams() {
            if let Some(Some(stream)) = self.streams.get_mut(&part.ssrc())
                && stream.has_sent(part)
            {
                covered += absent(stream, part, absences);
            }
        }
        for status in self.clock.statuses(feedback) {
            let Some(Some(stream)) = self.streams.get(&status.ssrc) else {
                continue;
            };
            let Some((sequence, arrived)) = stream.number(status.sequence).zip(status.arrival)
            else {
                continue;
            };
            match arrived.at {
                Some(at) => report.arrivals.push(Arrival {
                    sequence,
                    at,
                    ecn: arrived.ecn,
                }),
                // Without a time, nothing more is to be learned of the packet.
                None => absences.unknown.push(sequence),
            }
        }
        covered
    }
}

/// Adds to `absences` the packets of a stream that a report says are missing, and those between the
/// report and the one before. Returns the number of packets that this is about.
fn absent(stream: &mut Stream, report: &StreamReport, absences: &mut Absences) -> usize {
    let joint = stream.coverage.join(report);
    let begin = report.begin_sequence();
    // More are not remembered.
    let skipped = usize::from(joint.skipped).min(REMEMBERED);
    let before = (1..=joint.skipped)
        .take(skipped)
        .map(|back| begin.wrapping_sub(back))
        .filter_map(|sequence| stream.number(sequence));
    if joint.has_earlier {
        absences.unknown.extend(before);
    } else {
        absences.missing.extend(before);
    }
    let new = report.metrics().skip(usize::from(joint.repeated));
    let missing = new.filter_map(|(sequence, metric)| {
        let number = stream.number(sequence);
        number.filter(|_| metric.is_none())
    });
    absences.missing.extend(missing);
    skipped + usize::from(report.covered())
}

#[cfg(test)]
mod tests {
    use mimosa_rtp::congestion_control::{ArrivalOffset, Metric, ReportTime};
    use mimosa_units::PeerTime;

    use super::*;

    const MEDIA: u32 = 5;
    const AGAIN: u32 = 6;

    fn ms(millis: i64) -> PeerTime {
        PeerTime::from_nanos(millis * 1_000_000)
    }

    /// A reader after packets that were sent alternately on two streams, whose RTP numbers begin at
    /// `first` and the next thousand.
    fn reader(first: u16, packets: u16) -> StreamReader {
        let mut reader = StreamReader::new();
        reader.add(MEDIA);
        reader.add(AGAIN);
        for index in 0..packets {
            let sequence = first.wrapping_add(index / 2);
            let (ssrc, sequence) = if index % 2 == 0 {
                (MEDIA, sequence)
            } else {
                (AGAIN, sequence.wrapping_add(1_000))
            };
            reader.sent(ssrc, sequence, TransportSequence(index));
        }
        reader
    }

    /// A part about the packets of a stream from `begin` on: arrived, or missing.
    fn part(ssrc: u32, begin: u16, arrived: &[bool]) -> StreamReport {
        let metric = Metric {
            ecn: Ecn::Ect1,
            offset: ArrivalOffset::Units(0),
        };
        let metrics = arrived.iter().map(|has| has.then_some(metric)).collect();
        StreamReport::new(ssrc, begin, metrics).unwrap()
    }

    fn feedback(parts: impl IntoIterator<Item = StreamReport>) -> CongestionFeedback {
        let now = ReportTime::not_before(ms(1_000));
        CongestionFeedback::packets(1, now, parts, 1_200).remove(0)
    }

    /// The numbers that arrived, that are missing, and that are unknown.
    fn told(reader: &mut StreamReader, parts: Vec<StreamReport>) -> [Vec<u16>; 3] {
        let mut report = ArrivalReport::default();
        reader.read(&feedback(parts), &mut report);
        let absences = report.absences.unwrap();
        let arrived = report.arrivals.iter().map(|arrival| arrival.sequence.0);
        let numbers = |all: &[TransportSequence]| {
            let mut all: Vec<_> = all.iter().map(|number| number.0).collect();
            all.sort_unstable();
            all
        };
        [
            arrived.collect(),
            numbers(&absences.missing),
            numbers(&absences.unknown),
        ]
    }

    /// RTP number 10 of the first stream has number 0, number 11 has number 2, and so on.
    #[test]
    fn each_stream_has_numbers_of_its_own() {
        let mut reader = reader(10, 40);
        let parts = vec![
            part(MEDIA, 10, &[true, false, true]),
            part(AGAIN, 1_010, &[false, true]),
            part(99, 10, &[true, false]),
        ];
        assert_eq!(
            told(&mut reader, parts),
            [vec![0, 4, 3], vec![1, 2], vec![]]
        );
        let unknown = part(99, 0, &[true]);
        let mut report = ArrivalReport::default();
        assert_eq!(reader.read(&feedback([unknown]), &mut report), 0);
    }

    /// RTP numbers 11 and 12 are skipped, and 11 is sent late: nothing is said of 12.
    #[test]
    fn a_number_that_was_not_sent_is_neither_missing_nor_unknown() {
        let mut reader = StreamReader::new();
        reader.add(MEDIA);
        for (number, sequence) in (0..).zip([10, 13, 11, 14]) {
            reader.sent(MEDIA, sequence, TransportSequence(number));
        }
        let parts = vec![part(MEDIA, 10, &[true, false, false, true])];
        assert_eq!(told(&mut reader, parts), [vec![0, 1], vec![2], vec![]]);
        // The application began anew with other numbers.
        reader.sent(MEDIA, 40_000, TransportSequence(4));
        let parts = vec![part(MEDIA, 40_000, &[true])];
        assert_eq!(told(&mut reader, parts), [vec![4], vec![], vec![]]);
        reader.remove(MEDIA);
        let parts = vec![part(MEDIA, 40_000, &[true])];
        assert_eq!(told(&mut reader, parts), [vec![], vec![], vec![]]);
    }

    #[test]
    fn packets_of_a_lost_report_are_unknown_and_those_it_names_are_missing() {
        let mut reader = reader(65_530, 60);
        let first = told(&mut reader, vec![part(MEDIA, 65_530, &[true, true, true])]);
        assert_eq!(first, [vec![0, 2, 4], vec![], vec![]]);
        // 65533 to 2 are in a lost report; 4 is missing.
        let next = told(&mut reader, vec![part(MEDIA, 3, &[true, false, true])]);
        assert_eq!(next, [vec![18, 22], vec![20], vec![6, 8, 10, 12, 14, 16]]);
        // The stream of retransmissions was in none of both, and nothing is said of it.
        let again = told(&mut reader, vec![part(AGAIN, 994, &[true])]);
        assert_eq!(again, [vec![1], vec![], vec![]]);
    }

    #[test]
    fn a_report_that_was_overtaken_has_good_news_alone() {
        let mut reader = reader(0, 40);
        told(&mut reader, vec![part(MEDIA, 0, &[true])]);
        let early = told(&mut reader, vec![part(MEDIA, 3, &[true])]);
        assert_eq!(early, [vec![6], vec![], vec![2, 4]]);
        let late = told(&mut reader, vec![part(MEDIA, 1, &[false, true])]);
        assert_eq!(late, [vec![4], vec![], vec![]]);
        // libwebrtc calls missing again what it has reported, when a packet comes late.
        let behind = told(
            &mut reader,
            vec![part(MEDIA, 1, &[true, false, false, false, true])],
        );
        assert_eq!(behind, [vec![2, 10], vec![8], vec![]]);
    }

    #[test]
    fn before_the_first_report_packets_are_missing() {
        let mut reader = reader(0, 40);
        let first = told(&mut reader, vec![part(MEDIA, 2, &[true])]);
        assert_eq!(first, [vec![4], vec![0, 2], vec![]]);
    }

    #[test]
    fn a_packet_without_a_time_is_unknown() {
        let mut reader = reader(0, 4);
        let metric = Metric {
            ecn: Ecn::Ce,
            offset: ArrivalOffset::OverRange,
        };
        let report = StreamReport::new(MEDIA, 0, vec![Some(metric)]).unwrap();
        assert_eq!(told(&mut reader, vec![report]), [vec![], vec![], vec![0]]);
    }

    /// A gap of half the numbers costs no more than what is remembered.
    #[test]
    fn no_gap_is_longer_than_the_memory() {
        let mut reader = StreamReader::new();
        reader.add(MEDIA);
        reader.sent(MEDIA, 0, TransportSequence(0));
        told(&mut reader, vec![part(MEDIA, 0, &[true])]);
        for number in 1..40_000 {
            reader.sent(MEDIA, number, TransportSequence(number));
        }
        let mut report = ArrivalReport::default();
        let far = feedback([part(MEDIA, 32_000, &[true])]);
        assert_eq!(reader.read(&far, &mut report), REMEMBERED + 1);
        assert_eq!(report.absences.unwrap().unknown.len(), 192, "from 31808 on");
    }

    /// Each packet is in one gap at most, whatever a receiver sends.
    #[test]
    fn a_report_on_packets_that_have_not_been_sent_opens_no_gap() {
        let mut reader = StreamReader::new();
        reader.add(MEDIA);
        for number in 0..8_192 {
            reader.sent(MEDIA, number, TransportSequence(number));
        }
        let all = [0, 8_191, 16_000, 30_000, 50_000, 65_535, 8_190, 20_000].repeat(100);
        let mut covered = 0;
        let mut unknown = 0;
        for begin in all {
            let mut report = ArrivalReport::default();
            covered += reader.read(&feedback([part(MEDIA, begin, &[true])]), &mut report);
            unknown += report.absences.unwrap().unknown.len();
        }
        assert_eq!(unknown, 8_190, "1 to 8190");
        assert!(covered < 8_190 + 800, "{covered}");
        let ahead = part(MEDIA, 8_191, &[true, false]);
        assert_eq!(
            told(&mut reader, vec![ahead]),
            [vec![8_191], vec![], vec![]]
        );
    }

    #[test]
    fn fields_are_those_of_known_packets() {
        let reader = reader(0, 6);
        let report = feedback([part(MEDIA, 65_535, &[true, true, false, true, true])]);
        let fields: Vec<_> = reader.fields(&report).collect();
        let field = |number| (TransportSequence(number), Ecn::Ect1);
        assert_eq!(fields, [field(0), field(4)]);
    }
}
