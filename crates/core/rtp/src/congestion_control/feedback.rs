//! The congestion control report (section 3.1 of RFC 8888).
//!
//! *Reading.* RFC 8888 says that packets are reported on from `begin_seq` to `begin_seq` +
//! `num_reports` "inclusive", and yet `num_reports` "MAY be 0" for no packet at all: here
//! `num_reports` is the number of packets.

use super::CongestionError;
use super::metric::{Metric, ReportTime};
use crate::reader::Reader;
use crate::rtcp::{self, Packet, TRANSPORT_FEEDBACK};

/// The format number of this report in transport-layer feedback.
const FORMAT: u8 = 11;
/// The most packets of a stream that a report may be about: a quarter of the sequence space.
const MOST_METRICS: usize = 16_384;
/// Bytes of a stream's header.
const STREAM_HEAD: usize = 8;
/// Bytes of a report without streams: the common header, the sender's SSRC and the report's time.
const EMPTY: usize = 12;
/// Bytes of each packet's metric.
const METRIC: usize = 2;
/// Number of packets' metrics in a word of four bytes; a stream fills whole words.
const METRICS_PER_WORD: usize = 2;

/// The report on consecutive packets of one stream.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StreamReport {
    ssrc: u32,
    begin_sequence: u16,
    /// Metrics of the packets, at most [`MOST_METRICS`].
    metrics: Vec<Option<Metric>>,
}

impl StreamReport {
    /// A report on the packets of stream `ssrc` from `begin_sequence` on; a packet that has not
    /// arrived has `None`.
    ///
    /// # Errors
    ///
    /// [`CongestionError::TooMany`] above 16384 packets.
    pub fn new(
        ssrc: u32,
        begin_sequence: u16,
        metrics: Vec<Option<Metric>>,
    ) -> Result<Self, CongestionError> {
        let count = metrics.len();
        if count > MOST_METRICS {
            return Err(CongestionError::TooMany { ssrc, count });
        }
        Ok(Self {
            ssrc,
            begin_sequence,
            metrics,
        })
    }

    /// SSRC of the stream.
    #[must_use]
    pub const fn ssrc(&self) -> u32 {
        self.ssrc
    }

    /// Sequence number of the first packet.
    #[must_use]
    pub const fn begin_sequence(&self) -> u16 {
        self.begin_sequence
    }

    /// Number of packets, which is at most 16384.
    #[must_use]
    pub fn covered(&self) -> u16 {
        u16::try_from(self.metrics.len()).unwrap_or(u16::MAX)
    }

    /// Sequence number and metric of each packet.
    pub fn metrics(&self) -> impl Iterator<Item = (u16, Option<Metric>)> {
        let numbers = (0..=u16::MAX).map(|index| self.begin_sequence.wrapping_add(index));
        numbers.zip(self.metrics.iter().copied())
    }

    /// Removes the first `count` packets and returns a report on them.
    fn split_front(&mut self, count: usize) -> Self {
        let others = self.metrics.split_off(count.min(self.metrics.len()));
        let metrics = std::mem::replace(&mut self.metrics, others);
        let begin_sequence = self.begin_sequence;
        // `metrics` has at most a quarter of the sequence space.
        let moved = u16::try_from(metrics.len()).unwrap_or(u16::MAX);
        self.begin_sequence = begin_sequence.wrapping_add(moved);
        Self {
            ssrc: self.ssrc,
            begin_sequence,
            metrics,
        }
    }

    fn write(&self, contents: &mut Vec<u8>) {
        contents.extend_from_slice(&self.ssrc.to_be_bytes());
        contents.extend_from_slice(&self.begin_sequence.to_be_bytes());
        contents.extend_from_slice(&self.covered().to_be_bytes());
        for metric in &self.metrics {
            contents.extend_from_slice(&Metric::to_bits(*metric).to_be_bytes());
        }
        if !self.metrics.len().is_multiple_of(METRICS_PER_WORD) {
            contents.extend_from_slice(&[0; METRIC]);
        }
    }

    /// Reads the stream report at byte `at` of the contents.
    fn read(reader: &mut Reader<'_>, at: usize) -> Result<Self, CongestionError> {
        let left = reader.left();
        let (ssrc, begin_sequence, count) =
            head(reader).ok_or(CongestionError::HeadMissing { at, left })?;
        if usize::from(count) > MOST_METRICS {
            let count = usize::from(count);
            return Err(CongestionError::TooMany { ssrc, count });
        }
        let left = reader.left();
        let missing = CongestionError::MetricsMissing { ssrc, count, left };
        if left < METRIC * usize::from(count).next_multiple_of(METRICS_PER_WORD) {
            return Err(missing);
        }
        let mut metrics = Vec::with_capacity(usize::from(count));
        for _ in 0..count {
            let bits = u16::from_be_bytes(reader.take().ok_or(missing)?);
            metrics.push(Metric::from_bits(bits));
        }
        if !metrics.len().is_multiple_of(METRICS_PER_WORD) {
            reader.take::<METRIC>().ok_or(missing)?;
        }
        Ok(Self {
            ssrc,
            begin_sequence,
            metrics,
        })
    }
}

fn head(reader: &mut Reader<'_>) -> Option<(u32, u16, u16)> {
    let ssrc = u32::from_be_bytes(reader.take()?);
    let begin_sequence = u16::from_be_bytes(reader.take()?);
    let count = u16::from_be_bytes(reader.take()?);
    Some((ssrc, begin_sequence, count))
}

/// A report on which packets of each stream arrived, when, and with which ECN field.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CongestionFeedback {
    sender_ssrc: u32,
    /// The report's time as on the wire.
    timestamp: u32,
    /// Stream reports, together no longer than an RTCP packet can be.
    streams: Vec<StreamReport>,
}

impl CongestionFeedback {
    /// Reports of `time` on these streams: one packet, or as many as needed for each to have at
    /// most `largest` bytes. Each packet has at least the metrics of two packets, or a stream
    /// without any.
    #[must_use]
    pub fn packets(
        sender_ssrc: u32,
        time: ReportTime,
        streams: impl IntoIterator<Item = StreamReport>,
        largest: usize,
    ) -> Vec<Self> {
        let empty = || Self {
            sender_ssrc,
            timestamp: time.to_wire(),
            streams: Vec::new(),
        };
        let least = EMPTY + STREAM_HEAD + METRICS_PER_WORD * METRIC;
        let largest = largest.clamp(least, rtcp::LONGEST);
        let mut packets = Vec::new();
        let mut packet = empty();
        let mut length = EMPTY;
        for mut stream in streams {
            loop {
                let room = largest - length;
                let needs = STREAM_HEAD + METRICS_PER_WORD * METRIC * stream.metrics.len().min(1);
                if room < needs {
                    packets.push(std::mem::replace(&mut packet, empty()));
                    length = EMPTY;
                    continue;
                }
                let words = (room - STREAM_HEAD) / (METRICS_PER_WORD * METRIC);
                let part = stream.split_front(words * METRICS_PER_WORD);
                let metrics = part.metrics.len().next_multiple_of(METRICS_PER_WORD);
                length += STREAM_HEAD + METRIC * metrics;
                packet.streams.push(part);
                if stream.metrics.is_empty() {
                    break;
                }
            }
        }
        packets.push(packet);
        packets
    }

    /// Whether an RTCP packet is a congestion control report.
    #[must_use]
    pub const fn is(packet: &Packet<'_>) -> bool {
        packet.payload_type == TRANSPORT_FEEDBACK && packet.format == FORMAT
    }

    /// SSRC of the report's sender.
    #[must_use]
    pub const fn sender_ssrc(&self) -> u32 {
        self.sender_ssrc
    }

    /// The report's time, as on the wire.
    #[must_use]
    pub const fn timestamp(&self) -> u32 {
        self.timestamp
    }

    /// The reports on each stream.
    #[must_use]
    pub fn streams(&self) -> &[StreamReport] {
        &self.streams
    }

    /// Reads a report from an RTCP packet.
    ///
    /// # Errors
    ///
    /// [`CongestionError`] when the packet is of another kind, or holds less than it announces.
    pub fn parse(packet: &Packet<'_>) -> Result<Self, CongestionError> {
        if !Self::is(packet) {
            return Err(CongestionError::OtherPacket {
                payload_type: packet.payload_type,
                format: packet.format,
            });
        }
        let length = packet.contents.len();
        let ends = packet
            .contents
            .split_first_chunk()
            .and_then(|(sender, rest)| Some((sender, rest.split_last_chunk()?)));
        let (sender, (blocks, timestamp)) = ends.ok_or(CongestionError::TooShort { length })?;
        let mut reader = Reader::new(blocks);
        let mut streams = Vec::new();
        while reader.left() > 0 {
            let at = sender.len() + blocks.len() - reader.left();
            streams.push(StreamReport::read(&mut reader, at)?);
        }
        Ok(Self {
            sender_ssrc: u32::from_be_bytes(*sender),
            timestamp: u32::from_be_bytes(*timestamp),
            streams,
        })
    }

    /// The report as the bytes of an RTCP packet.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut contents = self.sender_ssrc.to_be_bytes().to_vec();
        for stream in &self.streams {
            stream.write(&mut contents);
        }
        contents.extend_from_slice(&self.timestamp.to_be_bytes());
        rtcp::write(TRANSPORT_FEEDBACK, FORMAT, &contents)
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
