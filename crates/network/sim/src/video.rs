//! A video flow: both ends of its stream, and the return path of its reports.

use mimosa_facts::{Arrival, ArrivalReport, Header, Observer};
use mimosa_net::Path;
use mimosa_scenario::{FlowConfig, PeerClock, VideoConfig};
use mimosa_stream::{FeedbackFormat, REPORT_HEADERS, Receiver, ReportReader, ReportWriter};
use mimosa_units::{Bytes, Time, TimeDelta};

use crate::flow::SimPacket;
use crate::stream::Stream;
use crate::way_back::WayBack;

/// A report on the way back.
#[derive(Debug)]
pub(crate) enum OnTheWay {
    /// A report with exact times, which no wire format has.
    Exact(ArrivalReport),
    /// One RTCP packet.
    Rtcp(Vec<u8>),
}

/// The two ends of a video stream, and the return path.
#[derive(Debug)]
pub(crate) struct Video {
    pub(crate) stream: Stream,
    receiver: Receiver,
    pub(crate) back: WayBack<OnTheWay>,
    /// Writer and reader of reports, if these are RTCP.
    rtcp: Option<(ReportWriter, ReportReader)>,
    /// Memory for a report that is being read.
    told: ArrivalReport,
    /// When each datagram of a report left, and its size with all headers, until told.
    reported: Vec<(Time, Bytes)>,
    clock: PeerClock,
}

impl Video {
    pub(crate) fn new(stream: Stream, flow: &FlowConfig, video: &VideoConfig, seed: u64) -> Self {
        Self {
            stream,
            receiver: Receiver::new(video.feedback, video.feedback_repeat),
            back: WayBack::new(
                Path::new(video.reverse, seed, &format!("{} reverse", flow.name)),
                !flow.route.reports.is_empty(),
                video.aggregation,
            ),
            rtcp: match video.feedback_format {
                FeedbackFormat::Exact => None,
                format => Some((ReportWriter::new(format), ReportReader::new())),
            },
            told: ArrivalReport::default(),
            reported: Vec::new(),
            clock: video.clock.clone(),
        }
    }

    /// When the sender acts next.
    pub(crate) fn deadline(&self) -> Time {
        self.stream.deadline().min(self.back.deadline())
    }

    /// Does everything that is due at the sender by `now`, except sending.
    pub(crate) fn wake(&mut self, now: Time) {
        while let Some(arrived) = self.back.pop(now) {
            match arrived {
                OnTheWay::Exact(report) => {
                    self.stream.feedback(now, &report);
                    self.receiver.recycle(report);
                }
                OnTheWay::Rtcp(packet) => self.read(now, &packet),
            }
        }
        self.stream.wake(now);
    }

    /// The packet that leaves at `now`, if there is one.
    pub(crate) fn poll(&mut self, now: Time, flow: &FlowConfig, number: u32) -> Option<SimPacket> {
        let out = self.stream.poll(now)?;
        Some(SimPacket {
            sent: now,
            size: out.size,
            frame: out.frame.0,
            index: out.index,
            flow: number,
            sequence: out.sequence,
            kind: Some(out.kind),
            asks: out.asks_feedback,
            ecn: out.ecn,
            sent_ecn: out.ecn,
            dscp: flow.dscp,
            protocol: Header::UDP,
            hop: 0,
            is_report: false,
        })
    }

    /// Handles a packet that arrives at the receiver at `now`, which may be ahead of all other
    /// times. Reports that are due before are sent before.
    pub(crate) fn arrive(&mut self, now: Time, packet: &SimPacket) {
        self.report_timer(now);
        let arrival = Arrival {
            sequence: packet.sequence,
            at: self.clock.at(now),
            ecn: packet.ecn,
        };
        if let Some(report) = self.receiver.packet(arrival, packet.asks) {
            self.send_back(now, report);
        }
    }

    /// Sends the report that was due by `now`, at the time at which it was due.
    pub(crate) fn report_timer(&mut self, now: Time) {
        let Some(due) = self.receiver.deadline() else {
            return;
        };
        if let Some(report) = self.receiver.timer(self.clock.at(now)) {
            self.send_back(self.clock.reached(due, now), report);
        }
    }

    /// Tells `observer` of the datagrams of reports that have left since it was told last, by
    /// the receiver of the flow with this number.
    pub(crate) fn tell_reports(&mut self, number: usize, observer: &mut impl Observer) {
        for (at, size) in self.reported.drain(..) {
            observer.reported(number, at, size);
        }
    }

    /// When the receiver wants to report by itself.
    pub(crate) fn report_deadline(&self, now: Time) -> Time {
        self.receiver.deadline().map_or(Time::MAX, |due| {
            let wait = due - self.clock.at(now);
            // The wait is at least a nanosecond, so that a drifting clock cannot stop time. A step
            // of the receiver's clock may bring the report nearer.
            let at = now + wait.max(TimeDelta::from_nanos(1));
            at.min(self.clock.next_step(now))
        })
    }

    /// Hands the content of an RTCP report to the sender.
    fn read(&mut self, now: Time, packet: &[u8]) {
        let Some((_, reader)) = &mut self.rtcp else {
            return;
        };
        let read = reader.read(packet, &mut self.told);
        debug_assert_eq!(read, Ok(()));
        self.stream.feedback(now, &self.told);
        self.told.arrivals.clear();
    }

    fn send_back(&mut self, now: Time, report: ArrivalReport) {
        let peer_now = self.clock.at(now);
        let Some((writer, _)) = &mut self.rtcp else {
            let size = ideal_size(report.arrivals.len() as u64);
            if self.back.is_linked() {
                self.reported.push((now, size));
            }
            let lost = self.back.send(now, size, OnTheWay::Exact(report));
            self.recycle(lost);
            return;
        };
        let packets = writer.write(peer_now, &report);
        self.receiver.recycle(report);
        for packet in packets {
            let size = Bytes::new(packet.len() as u64) + REPORT_HEADERS;
            self.reported.push((now, size));
            // The bytes of a lost report need not be kept.
            let _lost = self.back.send(now, size, OnTheWay::Rtcp(packet));
        }
    }

    /// Keeps the memory of a report that was lost.
    pub(crate) fn recycle(&mut self, lost: Option<OnTheWay>) {
        if let Some(OnTheWay::Exact(report)) = lost {
            self.receiver.recycle(report);
        }
    }
}

/// Size, with all headers, of an exact report about this many packets, as if it were one of RFC
/// 8888: 20 bytes, and 2 for each packet, padded to a multiple of 4.
pub(crate) fn ideal_size(packets: u64) -> Bytes {
    Bytes::new(20 + (2 * packets).next_multiple_of(4)) + REPORT_HEADERS
}
