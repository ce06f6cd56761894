//! A TCP flow: bulk data one way, acknowledgements back.

use mimosa_cc::window::EcnUse;
use mimosa_facts::{Header, PacketKind, TransportSequence};
use mimosa_net::Path;
use mimosa_scenario::{FlowConfig, TcpConfig};
use mimosa_tcp::{Ack, Config, Feedback, Receiver, Segment, Sender};
use mimosa_units::{Bytes, Time, TimeDelta};

use crate::flow::SimPacket;
use crate::way_back::WayBack;

/// Both ends of a TCP connection, and its return path.
#[derive(Debug)]
pub(crate) struct Tcp {
    sender: Sender,
    receiver: Receiver,
    pub(crate) back: WayBack<Ack>,
    overhead: Bytes,
    stop: Time,
    /// Whether `stop` has passed, after which the sender does nothing.
    is_stopped: bool,
}

impl Tcp {
    /// A connection that begins with its flow.
    pub(crate) fn new(flow: &FlowConfig, tcp: &TcpConfig, seed: u64) -> Self {
        let config = Config {
            mss: tcp.packet_size,
            application: tcp.application.clone(),
            start: flow.start,
            algorithm: tcp.algorithm,
            ecn: tcp.ecn,
            seed,
            ..Config::default()
        };
        let feedback = match tcp.ecn {
            EcnUse::Off | EcnUse::Classic => Feedback::Classic,
            EcnUse::Dctcp | EcnUse::L4s => Feedback::Accurate,
        };
        let receiver = Receiver::new(feedback, config.receive_window);
        Self {
            sender: Sender::new(config),
            receiver,
            back: WayBack::new(
                Path::new(tcp.reverse, seed, &format!("{} reverse", flow.name)),
                !flow.route.reports.is_empty(),
                TimeDelta::ZERO,
            ),
            overhead: tcp.overhead,
            stop: flow.stop,
            is_stopped: false,
        }
    }

    /// When the sender acts next.
    pub(crate) fn deadline(&self) -> Time {
        let sender = self.sender.deadline().filter(|_| !self.is_stopped);
        self.back.deadline().min(sender.unwrap_or(Time::MAX))
    }

    /// Does everything that is due at the sender by `now`, except sending.
    pub(crate) fn wake(&mut self, now: Time) {
        while let Some(ack) = self.back.pop(now) {
            self.sender.acknowledge(now, &ack);
        }
        self.is_stopped |= now >= self.stop;
        self.sender.timer(now);
    }

    /// The packet that leaves at `now`, if there is one.
    pub(crate) fn poll(&mut self, now: Time, flow: &FlowConfig, number: u32) -> Option<SimPacket> {
        if self.is_stopped {
            return None;
        }
        let segment = self.sender.poll(now)?;
        let kind = if segment.is_retransmission {
            PacketKind::Retransmission
        } else {
            PacketKind::Media
        };
        Some(SimPacket {
            sent: now,
            size: segment.length + self.overhead,
            frame: segment.sequence,
            // A segment fits into a packet, so that its length does too.
            index: u32::try_from(segment.length.get()).unwrap_or(u32::MAX),
            flow: number,
            sequence: TransportSequence(0),
            kind: Some(kind),
            asks: segment.cwr,
            ecn: segment.ecn,
            sent_ecn: segment.ecn,
            dscp: flow.dscp,
            protocol: Header::TCP,
            hop: 0,
            is_report: false,
        })
    }

    /// Handles a packet that arrives at the receiver at `now`, which may be ahead of all other
    /// times. Acknowledgements that are due before are sent before.
    pub(crate) fn arrive(&mut self, now: Time, packet: &SimPacket) {
        self.ack_timer(now);
        let segment = Segment {
            sequence: packet.frame,
            length: Bytes::new(u64::from(packet.index)),
            ecn: packet.ecn,
            cwr: packet.asks,
            is_retransmission: packet.kind == Some(PacketKind::Retransmission),
            sent: packet.sent,
        };
        if let Some(ack) = self.receiver.receive(now, &segment) {
            self.send_back(now, ack);
        }
    }

    /// Sends the acknowledgement that was due by `now`, at the time at which it was due.
    pub(crate) fn ack_timer(&mut self, now: Time) {
        let due = self.receiver.deadline().filter(|due| *due <= now);
        if let Some(due) = due
            && let Some(ack) = self.receiver.timer(due)
        {
            self.send_back(due, ack);
        }
    }

    /// When the receiver acknowledges without a new packet.
    pub(crate) fn ack_deadline(&self) -> Time {
        self.receiver.deadline().unwrap_or(Time::MAX)
    }

    fn send_back(&mut self, now: Time, ack: Ack) {
        // A lost acknowledgement is not sent again.
        let _lost = self.back.send(now, ack_size(&ack), ack);
    }
}

/// Size of an acknowledgement: headers of IPv4 and TCP without options, as segments have them, and
/// the SACK option as Linux writes it if there are SACK blocks (D-SACK is one): 4 bytes, and 8 for
/// each block.
fn ack_size(ack: &Ack) -> Bytes {
    let blocks = ack.sacks.iter().flatten().count() + usize::from(ack.is_duplicate);
    let option = if blocks == 0 { 0 } else { 4 + 8 * blocks };
    Bytes::new(40 + option as u64)
}
