//! The transport-wide report (section 3.1 of the draft): which of consecutive packets arrived, and
//! when.

use mimosa_units::{PeerTime, TimeDelta};

use super::FeedbackError;
use super::chunks::{self, Status};
use crate::reader::Reader;
use crate::rtcp::{self, Packet, TRANSPORT_FEEDBACK};

/// The format number of this report in transport-layer feedback.
const FORMAT: u8 = 15;
/// Bytes of a report before the chunks: two SSRCs, the first number, the number of packets, the
/// reference time and the report's own number.
const HEAD: usize = 16;
/// Unit of the reference time.
pub(super) const REFERENCE_UNIT: TimeDelta = TimeDelta::from_millis(64);
/// Width of the reference time in bits.
pub(super) const REFERENCE_BITS: u32 = 24;
/// Unit of the differences between arrivals.
const TICK: TimeDelta = TimeDelta::from_micros(250);
/// Number of arrival ticks in one unit of the reference time.
const TICKS_PER_REFERENCE: i64 = REFERENCE_UNIT.as_nanos() / TICK.as_nanos();

/// Which of some consecutive packets arrived, and when.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TransportFeedback {
    /// SSRC of the report's sender.
    pub sender_ssrc: u32,
    /// SSRC of one stream that the report is about; packets of other streams may be covered as
    /// well.
    pub media_ssrc: u32,
    /// Number of the first packet covered.
    pub base_sequence: u16,
    /// Number of this report, modulo 256.
    pub feedback_count: u8,
    /// Reference time, signed, in units of 64 ms, 24 bits wide.
    reference: i32,
    /// For each packet its arrival in ticks of 0.25 ms from the reference; `None` if it did not
    /// arrive. At least one packet and at most 65535; the differences of neighbours that arrived
    /// fit into 16 bits.
    arrivals: Vec<Option<i32>>,
}

impl TransportFeedback {
    /// A report on consecutive packets from `base_sequence` on: the arrival time of each, `None` if
    /// it did not arrive. Times are rounded down to 0.25 ms.
    ///
    /// # Errors
    ///
    /// [`FeedbackError::NoStatus`], [`FeedbackError::TooMany`] or
    /// [`FeedbackError::TooFarApart`] when one report cannot hold these packets.
    pub fn new(
        sender_ssrc: u32,
        media_ssrc: u32,
        feedback_count: u8,
        base_sequence: u16,
        arrivals: &[Option<PeerTime>],
    ) -> Result<Self, FeedbackError> {
        let count = arrivals.len();
        if count == 0 {
            return Err(FeedbackError::NoStatus);
        }
        if count > usize::from(u16::MAX) {
            return Err(FeedbackError::TooMany { count });
        }
        let ticks = |at: PeerTime| at.as_nanos().div_euclid(TICK.as_nanos());
        let first = arrivals.iter().flatten().next().copied().map_or(0, ticks);
        let reference = first.div_euclid(TICKS_PER_REFERENCE);
        let start = reference * TICKS_PER_REFERENCE;
        let mut last = start;
        let mut sequence = base_sequence;
        let mut from_start = Vec::with_capacity(count);
        for arrival in arrivals {
            let too_far = |_| FeedbackError::TooFarApart { sequence };
            let after = match arrival.map(ticks) {
                None => None,
                Some(at) => {
                    i16::try_from(at - last).map_err(too_far)?;
                    last = at;
                    Some(i32::try_from(at - start).map_err(too_far)?)
                }
            };
            from_start.push(after);
            sequence = sequence.wrapping_add(1);
        }
        Ok(Self {
            sender_ssrc,
            media_ssrc,
            base_sequence,
            feedback_count,
            arrivals: from_start,
            reference: wrapped(reference),
        })
    }

    /// Whether an RTCP packet is a transport-wide report.
    #[must_use]
    pub const fn is(packet: &Packet<'_>) -> bool {
        packet.payload_type == TRANSPORT_FEEDBACK && packet.format == FORMAT
    }

    /// Reads a report from an RTCP packet.
    ///
    /// # Errors
    ///
    /// [`FeedbackError`] when the packet is of another kind, or holds less than it announces.
    pub fn parse(packet: &Packet<'_>) -> Result<Self, FeedbackError> {
        if !Self::is(packet) {
            return Err(FeedbackError::OtherPacket {
                payload_type: packet.payload_type,
                format: packet.format,
            });
        }
        let mut reader = Reader::new(packet.contents);
        let (mut feedback, count) = head(&mut reader).ok_or(FeedbackError::TooShort {
            length: packet.contents.len(),
        })?;
        if count == 0 {
            return Err(FeedbackError::NoStatus);
        }
        let statuses = chunks::read(&mut reader, feedback.base_sequence, count)?;
        feedback.arrivals.reserve(statuses.len());
        let mut at = 0_i32;
        let mut sequence = feedback.base_sequence;
        for status in statuses {
            let difference = match status {
                Status::Missing => None,
                Status::Small => Some(reader.take().map(|[ticks]| i32::from(ticks))),
                Status::Large => Some(reader.take().map(|two| i16::from_be_bytes(two).into())),
            };
            let arrival = match difference {
                None => None,
                Some(difference) => {
                    at += difference.ok_or(FeedbackError::TimeMissing { sequence })?;
                    Some(at)
                }
            };
            feedback.arrivals.push(arrival);
            sequence = sequence.wrapping_add(1);
        }
        Ok(feedback)
    }

    /// The report as the bytes of an RTCP packet.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        // Room for small differences and a chunk for every seven packets; more is rare.
        let room = HEAD + self.arrivals.len() + self.arrivals.len() / 3;
        let mut contents = Vec::with_capacity(room);
        contents.extend_from_slice(&self.sender_ssrc.to_be_bytes());
        contents.extend_from_slice(&self.media_ssrc.to_be_bytes());
        contents.extend_from_slice(&self.base_sequence.to_be_bytes());
        let count = u16::try_from(self.arrivals.len()).unwrap_or(u16::MAX);
        contents.extend_from_slice(&count.to_be_bytes());
        contents.extend_from_slice(&self.reference.to_be_bytes()[1..]);
        contents.push(self.feedback_count);
        let mut statuses = Vec::with_capacity(self.arrivals.len());
        let mut differences = Vec::with_capacity(self.arrivals.len());
        let mut last = 0;
        for arrival in &self.arrivals {
            let Some(at) = *arrival else {
                statuses.push(Status::Missing);
                continue;
            };
            let difference = at - last;
            last = at;
            if let Ok(small) = u8::try_from(difference) {
                statuses.push(Status::Small);
                differences.push(small);
            } else {
                statuses.push(Status::Large);
                // Within 16 bits, as `new` and `parse` have it.
                differences.extend_from_slice(&difference.to_be_bytes()[2..]);
            }
        }
        chunks::write(&statuses, &mut contents);
        contents.extend_from_slice(&differences);
        rtcp::write(TRANSPORT_FEEDBACK, FORMAT, &contents)
    }

    /// Number of packets that the report is about.
    #[must_use]
    pub const fn covered(&self) -> usize {
        self.arrivals.len()
    }

    /// The reference time, signed, in units of 64 ms, 24 bits wide.
    pub(super) const fn reference(&self) -> i32 {
        self.reference
    }

    /// Each packet's number and its arrival, counted from the reference time.
    pub(super) fn arrivals(&self) -> impl Iterator<Item = (u16, Option<TimeDelta>)> {
        let base = self.base_sequence;
        let numbers = (0..=u16::MAX).map(move |index| base.wrapping_add(index));
        numbers.zip(self.arrivals.iter().map(|arrival| {
            arrival.map(|ticks| TimeDelta::from_nanos(i64::from(ticks) * TICK.as_nanos()))
        }))
    }
}

/// Reads the fields before the chunks, and returns them with the number of packets covered.
fn head(reader: &mut Reader<'_>) -> Option<(TransportFeedback, u16)> {
    let sender_ssrc = u32::from_be_bytes(reader.take()?);
    let media_ssrc = u32::from_be_bytes(reader.take()?);
    let base_sequence = u16::from_be_bytes(reader.take()?);
    let count = u16::from_be_bytes(reader.take()?);
    let [high, middle, low, feedback_count] = reader.take()?;
    let feedback = TransportFeedback {
        sender_ssrc,
        media_ssrc,
        base_sequence,
        feedback_count,
        reference: wrapped(i32::from_be_bytes([0, high, middle, low]).into()),
        arrivals: Vec::new(),
    };
    Some((feedback, count))
}

/// The lower 24 bits, signed.
fn wrapped(reference: i64) -> i32 {
    const UNUSED: u32 = i32::BITS - REFERENCE_BITS;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the upper bits are left out"
    )]
    let lower = reference as i32;
    lower << UNUSED >> UNUSED
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Unwrapper;
    use super::*;

    const MILLISECOND: i64 = 1_000_000;

    fn parsed(bytes: &[u8]) -> Result<TransportFeedback, FeedbackError> {
        let packets: Vec<_> = rtcp::packets(bytes).map(Result::unwrap).collect();
        assert_eq!(packets.len(), 1);
        TransportFeedback::parse(&packets[0])
    }

    /// A report whose first packet is 65534 and whose reference is 2, that is 128
    /// ms, with these chunks and differences.
    fn report(count: u8, rest: &[u8]) -> Vec<u8> {
        let head = [0, 0, 0, 1, 0, 0, 0, 2, 0xff, 0xfe, 0, count, 0, 0, 2, 9];
        rtcp::write(205, 15, &[&head, rest].concat())
    }

    #[test]
    fn arrivals_are_differences_from_each_other() {
        // Packet 0 is missing; packet 1 came before packet 65535.
        let bytes = report(4, &[0xd4, 0x80, 4, 1, 0xff, 0xfc]);
        let feedback = parsed(&bytes).unwrap();
        let all: Vec<_> = Unwrapper::new().statuses(&feedback).collect();
        let at = |micros: i64| Some(PeerTime::from_nanos(micros * 1_000));
        assert_eq!(
            all,
            [
                (65_534, at(129_000)),
                (65_535, at(129_250)),
                (0, None),
                (1, at(128_250))
            ]
        );
        assert_eq!((feedback.sender_ssrc, feedback.media_ssrc), (1, 2));
        assert_eq!(feedback.feedback_count, 9);
        assert_eq!(feedback.to_bytes(), bytes);
    }

    #[test]
    fn a_report_that_ends_early_is_refused() {
        let whole = report(4, &[0xd4, 0x80, 4, 1, 0xff, 0xfc]);
        let cut = |length: usize| {
            let packet = Packet {
                payload_type: 205,
                format: 15,
                contents: &whole[4..][..length],
            };
            TransportFeedback::parse(&packet).map(|feedback| feedback.to_bytes())
        };
        for length in 0..16 {
            assert_eq!(cut(length), Err(FeedbackError::TooShort { length }));
        }
        let (count, covered) = (4, 0);
        for length in 16..18 {
            let missing = FeedbackError::ChunksMissing { count, covered };
            assert_eq!(cut(length), Err(missing));
        }
        for (length, sequence) in [(18, 65_534), (19, 65_535), (20, 1), (21, 1)] {
            assert_eq!(cut(length), Err(FeedbackError::TimeMissing { sequence }));
        }
        assert_eq!(cut(22), Ok(whole));
    }

    #[test]
    fn a_report_on_nothing_or_of_another_kind_is_refused() {
        assert_eq!(parsed(&report(0, &[])), Err(FeedbackError::NoStatus));
        let (payload_type, format) = (205, 1);
        assert_eq!(
            parsed(&rtcp::write(205, 1, &[0; 24])),
            Err(FeedbackError::OtherPacket {
                payload_type,
                format
            })
        );
    }

    #[test]
    fn what_one_report_cannot_say_is_refused() {
        let new = |arrivals: &[Option<PeerTime>]| TransportFeedback::new(1, 2, 3, 7, arrivals);
        let at = |millis: i64| Some(PeerTime::from_nanos(millis * MILLISECOND));
        assert_eq!(new(&[]), Err(FeedbackError::NoStatus));
        let count = 65_536;
        assert_eq!(
            new(&vec![None; count]),
            Err(FeedbackError::TooMany { count })
        );
        assert!(new(&[at(0), None, at(8_191)]).is_ok());
        assert_eq!(
            new(&[at(0), None, at(8_192)]),
            Err(FeedbackError::TooFarApart { sequence: 9 })
        );
    }

    #[test]
    fn the_longest_report_stays_within_its_numbers() {
        for bytes in [[0x7f, 0xff], [0x80, 0]] {
            let count = usize::from(u16::MAX);
            let mut contents = vec![0; 16];
            contents[10..12].copy_from_slice(&[0xff, 0xff]);
            contents.extend([0x5f, 0xff].repeat(count.div_ceil(8191)));
            contents.extend(bytes.repeat(count));
            let packet = rtcp::write(205, 15, &contents);
            let feedback = parsed(&packet).unwrap();
            assert_eq!(feedback.arrivals().count(), count);
            assert_eq!(parsed(&feedback.to_bytes()), Ok(feedback));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn a_report_comes_back_within_its_resolution(
            start in -1_i64 << 58..1 << 58,
            steps in prop::collection::vec(
                prop_oneof![
                    1 => Just(None),
                    4 => (0..3 * MILLISECOND).prop_map(Some),
                    1 => (-8_000 * MILLISECOND..8_000 * MILLISECOND).prop_map(Some),
                ],
                1..300,
            ),
            base: u16,
        ) {
            let mut at = start;
            let arrivals: Vec<_> = steps
                .iter()
                .map(|step| step.map(|step| { at += step; PeerTime::from_nanos(at) }))
                .collect();
            let feedback = TransportFeedback::new(1, 2, 3, base, &arrivals).unwrap();
            let back = parsed(&feedback.to_bytes()).unwrap();
            prop_assert_eq!(&back, &feedback);
            // The receiver's clock is known up to the wrap of the reference.
            let mut known = Unwrapper::new();
            let statuses: Vec<_> = known.statuses(&back).collect();
            let wrap = REFERENCE_UNIT.as_nanos() << REFERENCE_BITS;
            for (index, (given, (sequence, read))) in arrivals.iter().zip(&statuses).enumerate() {
                prop_assert_eq!(usize::from(sequence.wrapping_sub(base)), index);
                let lost = given.zip(*read).map(|(given, read)| (given - read).as_nanos());
                prop_assert_eq!(given.is_some(), read.is_some());
                let lost = lost.unwrap_or(0).rem_euclid(wrap);
                prop_assert!((0..TICK.as_nanos()).contains(&lost), "{lost} ns lost");
            }
            prop_assert_eq!(statuses.len(), arrivals.len());
        }
    }
}
