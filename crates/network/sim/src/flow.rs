//! The flows of a simulation: their senders and their receivers.

use mimosa_facts::{Balance, Controller, Header, PacketKind, TransportSequence};
use mimosa_net::{Packet, Path};
use mimosa_scenario::{CbrConfig, FlowConfig, FlowKind, Scenario};
use mimosa_units::{Bytes, Ecn, Time, TimeDelta};

use crate::delay_line::DelayLine;
use crate::stream::Stream;
use crate::tcp::Tcp;
use crate::video::Video;

/// A packet in the simulated network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SimPacket {
    pub(crate) sent: Time,
    pub(crate) size: Bytes,
    pub(crate) frame: u64,
    pub(crate) index: u32,
    pub(crate) flow: u32,
    pub(crate) sequence: TransportSequence,
    pub(crate) kind: Option<PacketKind>,
    pub(crate) asks: bool,
    pub(crate) ecn: Ecn,
    /// The ECN field with which the packet left.
    pub(crate) sent_ecn: Ecn,
    pub(crate) dscp: u8,
    /// IANA's number of the protocol above IP.
    pub(crate) protocol: u8,
    /// Number of links of its route that the packet has passed.
    pub(crate) hop: u8,
    /// Whether the packet goes from the flow's receiver to its sender; `frame` is then its number
    /// among those.
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

/// One flow, with both of its ends.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) config: FlowConfig,
    pub(crate) forward: Path,
    /// Whether an arrival may be worked out when its packet leaves the link: no packet overtakes it,
    /// nothing that it causes passes a link, and the receiver's clock is not set before it.
    pub(crate) ahead: bool,
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
    /// A flow that has sent nothing; `None` if its controller cannot be made, which loading the
    /// scenario has ruled out. A video flow has `controller` in place of the scenario's, if there is one.
    pub(crate) fn new(
        scenario: &Scenario,
        number: usize,
        seed: u64,
        controller: Option<Box<dyn Controller>>,
    ) -> Option<Self> {
        let config = scenario.flows.get(number)?;
        let name = &config.name;
        let source = match &config.kind {
            FlowKind::Video(video) => {
                let stream = match controller {
                    Some(controller) => Stream::with(scenario, number, seed, controller)?,
                    None => Stream::new(scenario, number, seed)?,
                };
                Source::Video(Box::new(Video::new(stream, config, video, seed)))
            }
            FlowKind::Cbr(cbr) => Source::Cbr(Cbr {
                config: *cbr,
                next: config.active_from(Time::ZERO),
            }),
            FlowKind::Tcp(tcp) => Source::Tcp(Box::new(Tcp::new(config, tcp, seed))),
        };
        // Before a clock is set back, it has shown the times at which later reports are due.
        let is_set =
            matches!(&config.kind, FlowKind::Video(video) if !video.clock.steps.is_empty());
        Some(Self {
            config: config.clone(),
            forward: Path::new(config.forward, seed, &format!("{name} forward")),
            ahead: config.forward.reordering.is_none()
                && config.route.reports.is_empty()
                && !is_set,
            to_receiver: DelayLine::default(),
            source,
        })
    }

    /// When the sender acts next.
    pub(crate) fn sender_deadline(&self) -> Time {
        match &self.source {
            Source::Video(video) => video.deadline(),
            Source::Cbr(cbr) => cbr.next.unwrap_or(Time::MAX),
            Source::Tcp(tcp) => tcp.deadline(),
        }
    }

    /// When the receiver acts next.
    pub(crate) fn receiver_deadline(&self, now: Time) -> Time {
        let arrival = self.to_receiver.deadline();
        match &self.source {
            Source::Video(video) => arrival.min(video.report_deadline(now)),
            Source::Cbr(_) => arrival,
            Source::Tcp(tcp) => arrival.min(tcp.ack_deadline()),
        }
    }

    /// The receiver's next packet for the first link of the return path, at `now`.
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
            sequence: TransportSequence(0),
            kind: None,
            asks: false,
            ecn: Ecn::NotEct,
            sent_ecn: Ecn::NotEct,
            dscp: self.config.dscp,
            protocol,
            hop: 0,
            is_report: true,
        })
    }

    /// Notes that a packet of the receiver has passed the last link of the return path.
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

    /// Notes that a link dropped a packet of the receiver.
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

    /// Counts of the packets that the receiver sent over links, by their fate.
    pub(crate) fn report_balance(&self) -> Balance {
        match &self.source {
            Source::Video(video) => video.back.balance(),
            Source::Tcp(tcp) => tcp.back.balance(),
            Source::Cbr(_) => Balance::default(),
        }
    }
}

/// A sender of packets of one size at a constant rate.
#[derive(Debug)]
pub(crate) struct Cbr {
    config: CbrConfig,
    next: Option<Time>,
}

impl Cbr {
    /// The packet that leaves at `now`, if there is one.
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
            sequence: TransportSequence(0),
            kind: None,
            asks: false,
            ecn: flow.ecn,
            sent_ecn: flow.ecn,
            dscp: flow.dscp,
            protocol: Header::UDP,
            hop: 0,
            is_report: false,
        })
    }
}
