//! The flows of a simulation: who sends what, and what arrives.

use mimosa_control::PacketKind;
use mimosa_net::{Header, Packet, Path};
use mimosa_session::{
    Arrival, FeedbackFormat, REPORT_HEADERS, Receiver, Report, ReportReader, ReportWriter,
};
use mimosa_units::{Bytes, Ecn, PeerTime, Time, TimeDelta};

use crate::delay_line::DelayLine;
use crate::metrics::Balance;
use crate::scenario::{CbrConfig, FlowConfig, FlowKind, Scenario, VideoConfig};
use crate::stream::Stream;
use crate::tcp::Tcp;
use crate::way_back::WayBack;

/// A packet in the simulated network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SimPacket {
    pub(crate) sent: Time,
    pub(crate) size: Bytes,
    pub(crate) frame: u64,
    pub(crate) index: u32,
    pub(crate) flow: u32,
    pub(crate) sequence: u16,
    pub(crate) kind: Option<PacketKind>,
    pub(crate) asks: bool,
    pub(crate) ecn: Ecn,
    pub(crate) dscp: u8,
    /// IANA's number of what is above IP.
    pub(crate) protocol: u8,
    /// Links of its route that it has passed.
    pub(crate) hop: u8,
    /// It goes from the flow's receiver to its sender, and `frame` is its number there.
    pub(crate) is_report: bool,
}

impl Packet for SimPacket {
    fn size(&self) -> Bytes {
        self.size
    }

    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn mark(&mut self) {
        self.ecn = Ecn::Ce;
    }

    fn header(&self) -> Header {
        let header = Header::of_flow(self.flow, self.protocol, self.dscp);
        if self.is_report {
            Header {
                source: header.destination,
                destination: header.source,
                ..header
            }
        } else {
            header
        }
    }
}

/// One flow at work.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) config: FlowConfig,
    pub(crate) forward: Path,
    /// Packets arrive in the order in which they leave the link, and what an arrival
    /// causes passes no link.
    pub(crate) in_order: bool,
    pub(crate) to_receiver: DelayLine<SimPacket>,
    pub(crate) source: Source,
}

#[derive(Debug)]
pub(crate) enum Source {
    Video(Box<Video>),
    Cbr(Cbr),
    Tcp(Box<Tcp>),
}

impl Flow {
    /// A flow that has sent nothing; `None` when its controller cannot be made,
    /// which a loaded scenario has ruled out.
    pub(crate) fn new(scenario: &Scenario, number: usize, seed: u64) -> Option<Self> {
        let config = scenario.flows.get(number)?;
        let name = &config.name;
        let source = match &config.kind {
            FlowKind::Video(video) => {
                let stream = Stream::new(scenario, number, seed)?;
                Source::Video(Box::new(Video::new(stream, config, video, seed)))
            }
            FlowKind::Cbr(cbr) => Source::Cbr(Cbr {
                config: *cbr,
                next: config.active_from(Time::ZERO),
            }),
            FlowKind::Tcp(tcp) => Source::Tcp(Box::new(Tcp::new(config, tcp, seed))),
        };
        Some(Self {
            config: config.clone(),
            forward: Path::new(config.forward, seed, &format!("{name} forward")),
            in_order: config.forward.reordering.is_none() && config.route.reports.is_empty(),
            to_receiver: DelayLine::default(),
            source,
        })
    }

    /// When the sending end acts next.
    pub(crate) fn sender_deadline(&self) -> Time {
        match &self.source {
            Source::Video(video) => video.deadline(),
            Source::Cbr(cbr) => cbr.next.unwrap_or(Time::MAX),
            Source::Tcp(tcp) => tcp.deadline(),
        }
    }

    /// When the receiving end acts next.
    pub(crate) fn receiver_deadline(&self, now: Time) -> Time {
        let arrival = self.to_receiver.deadline();
        match &self.source {
            Source::Video(video) => arrival.min(video.report_deadline(now)),
            Source::Cbr(_) => arrival,
            Source::Tcp(tcp) => arrival.min(tcp.ack_deadline()),
        }
    }

    /// The next packet of the receiving end for the first link of its way back, at `now`.
    pub(crate) fn report(&mut self, now: Time, number: u32) -> Option<SimPacket> {
        let ((report, size), protocol) = match &mut self.source {
            Source::Video(video) => (video.back.next_leaving()?, Header::UDP),
            Source::Tcp(tcp) => (tcp.back.next_leaving()?, Header::TCP),
            Source::Cbr(_) => return None,
        };
        Some(SimPacket {
            sent: now,
            size,
            frame: report,
            index: 0,
            flow: number,
            sequence: 0,
            kind: None,
            asks: false,
            ecn: Ecn::NotEct,
            dscp: self.config.dscp,
            protocol,
            hop: 0,
            is_report: true,
        })
    }

    /// A packet of the receiving end has passed the last link of its way back.
    pub(crate) fn report_through(
        &mut self,
        report: u64,
        now: Time,
        conditions: (Option<TimeDelta>, Option<f64>),
    ) {
        match &mut self.source {
            Source::Video(video) => {
                let lost = video.back.through(report, now, conditions);
                video.recycle(lost);
            }
            Source::Tcp(tcp) => drop(tcp.back.through(report, now, conditions)),
            Source::Cbr(_) => {}
        }
    }

    /// A link gave up a packet of the receiving end.
    pub(crate) fn report_dropped(&mut self, report: u64) {
        match &mut self.source {
            Source::Video(video) => {
                let dropped = video.back.dropped(report);
                video.recycle(dropped);
            }
            Source::Tcp(tcp) => drop(tcp.back.dropped(report)),
            Source::Cbr(_) => {}
        }
    }

    /// What became of the packets that its receiving end sent over links.
    pub(crate) fn report_balance(&self) -> Balance {
        match &self.source {
            Source::Video(video) => video.back.balance(),
            Source::Tcp(tcp) => tcp.back.balance(),
            Source::Cbr(_) => Balance::default(),
        }
    }
}

/// Packets of one size at one rate.
#[derive(Debug)]
pub(crate) struct Cbr {
    config: CbrConfig,
    next: Option<Time>,
}

impl Cbr {
    /// The packet that leaves at `now`, if one does.
    pub(crate) fn poll(&mut self, now: Time, flow: &FlowConfig, number: u32) -> Option<SimPacket> {
        let due = self.next.filter(|due| *due <= now)?;
        let gap = self.config.rate.transmit_time(self.config.packet_size);
        self.next = flow.active_from(due + gap);
        Some(SimPacket {
            sent: now,
            size: self.config.packet_size,
            frame: 0,
            index: 0,
            flow: number,
            sequence: 0,
            kind: None,
            asks: false,
            ecn: flow.ecn,
            dscp: flow.dscp,
            protocol: Header::UDP,
            hop: 0,
            is_report: false,
        })
    }
}

/// A report on the way back.
#[derive(Debug)]
enum OnTheWay {
    /// As no format has it.
    Exact(Report),
    /// One RTCP packet.
    Rtcp(Vec<u8>),
}

/// The two ends of a video stream, the encoder, and the way back.
#[derive(Debug)]
pub(crate) struct Video {
    pub(crate) stream: Stream,
    receiver: Receiver,
    back: WayBack<OnTheWay>,
    /// For reports that are RTCP.
    rtcp: Option<(ReportWriter, ReportReader)>,
    /// One that is being read.
    told: Report,
    /// When each datagram of a report left, and its size with all headers, until taken.
    pub(crate) reported: Vec<(Time, Bytes)>,
    clock_offset: TimeDelta,
    clock_drift_ppb: i64,
}

impl Video {
    fn new(stream: Stream, flow: &FlowConfig, video: &VideoConfig, seed: u64) -> Self {
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
            told: Report::default(),
            reported: Vec::new(),
            clock_offset: video.clock_offset,
            clock_drift_ppb: video.clock_drift_ppb,
        }
    }

    fn deadline(&self) -> Time {
        self.stream.deadline().min(self.back.deadline())
    }

    /// Everything that the sending end does at `now`, but for sending.
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

    /// The packet that leaves at `now`, if one does.
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
            ecn: flow.ecn,
            dscp: flow.dscp,
            protocol: Header::UDP,
            hop: 0,
            is_report: false,
        })
    }

    /// A packet arrives at the receiving end at `now`, which may lie ahead of
    /// everything else: reports due before it are sent before it.
    pub(crate) fn arrive(&mut self, now: Time, packet: &SimPacket) {
        self.report_timer(now);
        let arrival = Arrival {
            sequence: packet.sequence,
            at: self.peer_time(now),
            ecn: packet.ecn,
        };
        if let Some(report) = self.receiver.packet(arrival, packet.asks) {
            self.send_back(now, report);
        }
    }

    /// Sends the report that was due by `now`, at the time it was due.
    pub(crate) fn report_timer(&mut self, now: Time) {
        let Some(due) = self.receiver.deadline() else {
            return;
        };
        let peer_now = self.peer_time(now);
        if let Some(report) = self.receiver.timer(peer_now) {
            self.send_back(now - (peer_now - due), report);
        }
    }

    /// When the receiver wants to report by itself.
    fn report_deadline(&self, now: Time) -> Time {
        self.receiver.deadline().map_or(Time::MAX, |due| {
            let wait = due - self.peer_time(now);
            // At least a nanosecond, so that a drifting clock cannot stop time.
            now + wait.max(TimeDelta::from_nanos(1))
        })
    }

    /// The sender learns what the bytes of a report say.
    fn read(&mut self, now: Time, packet: &[u8]) {
        let Some((_, reader)) = &mut self.rtcp else {
            return;
        };
        let read = reader.read(packet, &mut self.told);
        debug_assert_eq!(read, Ok(()));
        self.stream.feedback(now, &self.told);
        self.told.arrivals.clear();
    }

    fn send_back(&mut self, now: Time, report: Report) {
        let peer_now = self.peer_time(now);
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
            // The bytes of a lost one are nothing to keep.
            let _lost = self.back.send(now, size, OnTheWay::Rtcp(packet));
        }
    }

    /// Keeps the memory of a report that nobody will read.
    fn recycle(&mut self, lost: Option<OnTheWay>) {
        if let Some(OnTheWay::Exact(report)) = lost {
            self.receiver.recycle(report);
        }
    }

    /// The receiver's clock at `now`.
    fn peer_time(&self, now: Time) -> PeerTime {
        let nanos = now.as_nanos().cast_signed();
        let drift = if self.clock_drift_ppb == 0 {
            0
        } else {
            let drift = i128::from(nanos) * i128::from(self.clock_drift_ppb) / 1_000_000_000;
            i64::try_from(drift).unwrap_or(0)
        };
        PeerTime::from_nanos(nanos.saturating_add(drift)) + self.clock_offset
    }
}

/// Size of a report about so many packets that no format has, with all headers: that of one
/// of RFC 8888, 20 bytes and 2 for each, filled to a multiple of 4.
pub(crate) fn ideal_size(packets: u64) -> Bytes {
    Bytes::new(20 + (2 * packets).next_multiple_of(4)) + REPORT_HEADERS
}
