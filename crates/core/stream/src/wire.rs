//! Writes and reads reports as RTCP packets of two formats.
//!
//! A receiver writes with [`ReportWriter`] what its [`Receiver`](crate::Receiver) reports; a sender
//! reads with [`ReportReader`]. The formats differ in what the sender learns:
//!
//! | | times | ECN |
//! |---|---|---|
//! | [`FeedbackFormat::TransportWide`] | of 250 us | as if no packet had been capable of it |
//! | [`FeedbackFormat::CongestionControl`] | of 1/1024 s before the report | as it arrived |

use std::collections::VecDeque;

use mimosa_rtp::congestion_control::{
    CongestionError, CongestionFeedback, Metric, ReportClock, ReportTime, StreamReport,
};
use mimosa_rtp::rtcp::{self, RtcpError};
use mimosa_rtp::transport_cc::{FeedbackError, TransportFeedback, Unwrapper};
use mimosa_units::{Bytes, Ecn, PeerTime};

use mimosa_facts::{Arrival, ArrivalReport, TransportSequence};

/// Size of the headers around a report: IPv4, UDP, and the index and the tag of AES-GCM in SRTCP
/// (RFC 7714, section 9).
pub const REPORT_HEADERS: Bytes = Bytes::new(20 + 8 + 4 + 16);

/// Size in bytes of the largest report: with SRTCP a UDP datagram has at most 1200 bytes.
const LARGEST: usize = 1_180;
/// The most packets that one transport-wide report is about, so that any such report fits into
/// [`LARGEST`]: 20 bytes, 2 for each packet and 2 for the statuses of seven.
const MOST_COVERED: usize = 500;
/// How many sequence numbers are remembered, for packets that come after later ones were reported.
/// One report of RFC 8888 may be about this many.
const REMEMBERED: usize = 16_384;
/// SSRCs in the reports of a receiver that has one stream.
const RECEIVER_SSRC: u32 = 1;
const STREAM_SSRC: u32 = 2;

/// The format in which a report is written.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum FeedbackFormat {
    /// Exact times and the ECN field of each packet; the simulation's own format, which has no RTCP
    /// form.
    #[default]
    Exact,
    /// Transport-wide congestion control, either version.
    TransportWide,
    /// The congestion control feedback of RFC 8888.
    CongestionControl,
}

impl FeedbackFormat {
    /// Whether reports carry the ECN field with which packets arrived.
    #[must_use]
    pub const fn carries_ecn(self) -> bool {
        match self {
            Self::Exact | Self::CongestionControl => true,
            Self::TransportWide => false,
        }
    }
}

/// How reports are written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ReportConfig {
    /// The format of the reports.
    pub format: FeedbackFormat,
    /// SSRC of the receiver, which reports.
    pub receiver: u32,
    /// SSRC of the stream that is reported on.
    pub stream: u32,
    /// Size in bytes of the largest report of RFC 8888. A transport-wide one has at most 1100.
    pub largest: usize,
    /// Number of earlier reports whose packets each report repeats: so many reports may be lost in
    /// a row.
    pub repeats: usize,
}

impl ReportConfig {
    /// The settings for one stream, without repetitions.
    const fn new(format: FeedbackFormat) -> Self {
        Self {
            format,
            receiver: RECEIVER_SSRC,
            stream: STREAM_SSRC,
            largest: LARGEST,
            repeats: 0,
        }
    }
}

/// A packet that arrived.
#[derive(Clone, Copy, Debug)]
struct Seen {
    at: PeerTime,
    ecn: Ecn,
}

/// Writes reports. The writer remembers recent arrivals, because a report says of every packet
/// between its first and its last whether the packet has arrived.
#[derive(Debug)]
pub struct ReportWriter {
    config: ReportConfig,
    /// Arrivals by sequence number, from `first` on.
    recent: VecDeque<Option<Seen>>,
    /// The unwrapped sequence number of the first entry of `recent`.
    first: u64,
    /// Everything before this number was in a report.
    next: u64,
    /// The values of `next` before each of the last reports.
    earlier: VecDeque<u64>,
    /// Number of transport-wide reports so far, modulo 256.
    count: u8,
}

impl ReportWriter {
    /// A writer for one stream. With [`FeedbackFormat::Exact`] it writes nothing.
    #[must_use]
    pub const fn new(format: FeedbackFormat) -> Self {
        Self::with(ReportConfig::new(format))
    }

    /// A writer with these settings.
    #[must_use]
    pub const fn with(config: ReportConfig) -> Self {
        Self {
            config,
            recent: VecDeque::new(),
            first: 0,
            next: 0,
            earlier: VecDeque::new(),
            count: 0,
        }
    }

    /// The RTCP packets of a report that leaves at `now`; each fits into a datagram of 1200 bytes.
    /// They cover every packet from the first new one, in this report or since the previous report,
    /// to the last one known. A report without arrivals repeats the earlier reports, if the
    /// settings ask for repetitions.
    pub fn write<N: Copy + Into<u16>>(
        &mut self,
        now: PeerTime,
        report: &ArrivalReport<N>,
    ) -> Vec<Vec<u8>> {
        let mut lowest = u64::MAX;
        for arrival in &report.arrivals {
            if let Some(number) = self.remember(arrival) {
                lowest = lowest.min(number);
            }
        }
        let is_empty = self.recent.is_empty() || lowest == u64::MAX && self.config.repeats == 0;
        if is_empty {
            return Vec::new();
        }
        while self.recent.len() > REMEMBERED {
            self.recent.pop_front();
            self.first += 1;
        }
        self.earlier.push_back(self.next);
        if self.earlier.len() > self.config.repeats + 1 {
            self.earlier.pop_front();
        }
        let repeated = self.earlier.front().copied().unwrap_or(self.next);
        let begin = lowest.min(repeated).max(self.first);
        if begin >= self.first + self.recent.len() as u64 {
            return Vec::new();
        }
        self.next = self.first + self.recent.len() as u64;
        let skipped = usize::try_from(begin - self.first).unwrap_or(usize::MAX);
        let covered: Vec<_> = self.recent.iter().skip(skipped).copied().collect();
        #[expect(clippy::cast_possible_truncation, reason = "the wire has 16 bits")]
        let begin = begin as u16;
        match self.config.format {
            FeedbackFormat::Exact => Vec::new(),
            FeedbackFormat::TransportWide => self.transport_wide(begin, &covered),
            FeedbackFormat::CongestionControl => self.congestion_control(now, begin, &covered),
        }
    }

    /// Notes an arrival; returns its unwrapped number, unless it is too old to be remembered. Of
    /// two copies the first one's time counts, and a mark on either (RFC 8888, section 3.1).
    fn remember<N: Copy + Into<u16>>(&mut self, arrival: &Arrival<N>) -> Option<u64> {
        let sequence = arrival.sequence.into();
        let seen = Seen {
            at: arrival.at,
            ecn: arrival.ecn,
        };
        if self.recent.is_empty() {
            // So far above zero that an older packet has a number as well.
            self.first = (1 << 16) + u64::from(sequence);
            self.next = self.first;
        }
        let newest = self.first + (self.recent.len() as u64).max(1) - 1;
        #[expect(clippy::cast_possible_truncation, reason = "the low 16 bits are meant")]
        let step = sequence.wrapping_sub(newest as u16).cast_signed();
        let number = newest.checked_add_signed(i64::from(step))?;
        if number < self.first {
            // The packet came before the first of all: there is room for it up to the limit.
            let missing = usize::try_from(self.first - number).ok()?;
            if self.recent.len() + missing > REMEMBERED {
                return None;
            }
            for _ in 0..missing {
                self.recent.push_front(None);
            }
            self.first = number;
        }
        let index = usize::try_from(number - self.first).ok()?;
        if index >= self.recent.len() {
            self.recent.resize(index + 1, None);
        }
        let place = self.recent.get_mut(index)?;
        match place {
            None => *place = Some(seen),
            Some(first) if seen.ecn == Ecn::Ce => first.ecn = Ecn::Ce,
            Some(_) => {}
        }
        Some(number)
    }

    fn transport_wide(&mut self, begin: u16, covered: &[Option<Seen>]) -> Vec<Vec<u8>> {
        let ReportConfig {
            receiver, stream, ..
        } = self.config;
        let mut packets = Vec::new();
        let mut base = begin;
        let mut left = covered;
        while !left.is_empty() {
            let mut count = left.len().min(MOST_COVERED);
            let times: Vec<_> = left
                .iter()
                .take(count)
                .map(|seen| seen.map(|seen| seen.at))
                .collect();
            // A report without arrivals would have no time.
            if times.iter().any(Option::is_some) {
                let report =
                    |arrivals| TransportFeedback::new(receiver, stream, self.count, base, arrivals);
                let feedback = match report(&times) {
                    Err(FeedbackError::TooFarApart { sequence }) => {
                        // Writes the arrivals that fit; the rest begins another report.
                        count = usize::from(sequence.wrapping_sub(base)).max(1);
                        report(times.get(..count).unwrap_or_default())
                    }
                    other => other,
                };
                if let Ok(feedback) = feedback {
                    packets.push(feedback.to_bytes());
                    self.count = self.count.wrapping_add(1);
                }
            }
            left = left.get(count..).unwrap_or_default();
            // `count` is at most `MOST_COVERED`.
            base = base.wrapping_add(u16::try_from(count).unwrap_or(u16::MAX));
        }
        packets
    }

    fn congestion_control(
        &self,
        now: PeerTime,
        begin: u16,
        covered: &[Option<Seen>],
    ) -> Vec<Vec<u8>> {
        let config = self.config;
        let time = ReportTime::not_before(now);
        let metric = |seen: &Option<Seen>| seen.map(|seen| Metric::of(seen.at, seen.ecn, time));
        let metrics = covered.iter().map(metric).collect();
        let stream = StreamReport::new(config.stream, begin, metrics);
        let packets = CongestionFeedback::packets(config.receiver, time, stream, config.largest);
        packets.iter().map(CongestionFeedback::to_bytes).collect()
    }
}

/// Why bytes are not a valid report. Their sender is to blame.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The bytes are not RTCP.
    #[error(transparent)]
    Rtcp(#[from] RtcpError),
    /// A transport-wide report that cannot be read.
    #[error(transparent)]
    TransportWide(#[from] FeedbackError),
    /// A report of RFC 8888 that cannot be read.
    #[error(transparent)]
    CongestionControl(#[from] CongestionError),
}

/// Reads reports. The reader remembers the receiver's clock.
#[derive(Clone, Debug, Default)]
pub struct ReportReader {
    transport_wide: Unwrapper,
    congestion_control: ReportClock,
}

impl ReportReader {
    /// A reader that has read no report.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            transport_wide: Unwrapper::new(),
            congestion_control: ReportClock::new(),
        }
    }

    /// Adds to `report` the arrivals in a compound of RTCP packets, of either format and of one
    /// stream. Other RTCP packets are ignored.
    ///
    /// # Errors
    ///
    /// [`ReadError`] at the first packet that cannot be read; the arrivals before it are kept.
    pub fn read(&mut self, compound: &[u8], report: &mut ArrivalReport) -> Result<(), ReadError> {
        for packet in rtcp::packets(compound) {
            let packet = packet?;
            if TransportFeedback::is(&packet) {
                self.transport_wide(&TransportFeedback::parse(&packet)?, report);
            } else if CongestionFeedback::is(&packet) {
                self.congestion_control(&CongestionFeedback::parse(&packet)?, report);
            }
        }
        Ok(())
    }

    /// Adds to `report` the arrivals of a transport-wide report; returns the number of packets that
    /// it is about. The format has no ECN field: packets count as not ECN-capable.
    pub fn transport_wide(
        &mut self,
        feedback: &TransportFeedback,
        report: &mut ArrivalReport,
    ) -> usize {
        let covered = feedback.covered();
        let statuses = self.transport_wide.statuses(feedback);
        report.arrivals.reserve(covered);
        report
            .arrivals
            .extend(statuses.filter_map(|(sequence, at)| {
                Some(Arrival {
                    sequence: TransportSequence(sequence),
                    at: at?,
                    ecn: Ecn::NotEct,
                })
            }));
        covered
    }

    /// Adds to `report` the arrivals of a report of RFC 8888, of all streams as if they were one;
    /// returns the number of packets that it is about. A packet without an arrival time is left
    /// out.
    pub fn congestion_control(
        &mut self,
        feedback: &CongestionFeedback,
        report: &mut ArrivalReport,
    ) -> usize {
        let mut covered = 0;
        let statuses = self.congestion_control.statuses(feedback);
        let arrived = statuses.inspect(|_| covered += 1);
        report.arrivals.extend(arrived.filter_map(|status| {
            let arrived = status.arrival?;
            Some(Arrival {
                sequence: TransportSequence(status.sequence),
                at: arrived.at?,
                ecn: arrived.ecn,
            })
        }));
        covered
    }
}
