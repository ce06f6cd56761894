//! A TCP flow: bulk data one way, acknowledgements back; over one connection, or over those of web pages.

use mimosa_cc::window::EcnUse;
use mimosa_facts::{Header, PacketKind, PageLoad, TransportSequence};
use mimosa_net::Path;
use mimosa_scenario::{FlowConfig, TcpConfig};
use mimosa_tcp::{Ack, Application, Config, Feedback, Receiver, Segment, Sender};
use mimosa_units::{Bytes, Time, TimeDelta};

use crate::flow::SimPacket;
use crate::pages::Pages;
use crate::way_back::WayBack;

/// The bit from which on `SimPacket::frame` holds a connection's number; below it stands the number of the
/// packet's first byte, which stays under a terabyte.
const CONNECTION: u32 = 40;

/// Both ends of a connection.
#[derive(Debug)]
struct Connection {
    /// The connection's number among all that the flow opens, counted from zero.
    number: u64,
    sender: Sender,
    receiver: Receiver,
}

/// The connections of a flow, and its return path.
#[derive(Debug)]
pub(crate) struct Tcp {
    open: Vec<Connection>,
    /// Number of connections that there have been.
    opened: u64,
    pages: Option<Pages>,
    /// What each connection begins with.
    config: Config,
    feedback: Feedback,
    pub(crate) back: WayBack<(u64, Ack)>,
    overhead: Bytes,
    stop: Time,
    /// Whether `stop` has passed, after which the sender does nothing.
    is_stopped: bool,
}

impl Tcp {
    /// A connection that begins with its flow, or the pages of one.
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
        let pages = tcp.pages;
        let pages = pages.map(|pages| Pages::new(pages, flow.start, seed, &flow.name));
        let mut tcp = Self {
            open: Vec::new(),
            opened: 0,
            pages,
            feedback,
            back: WayBack::new(
                Path::new(tcp.reverse, seed, &format!("{} reverse", flow.name)),
                !flow.route.reports.is_empty(),
                TimeDelta::ZERO,
            ),
            overhead: tcp.overhead,
            stop: flow.stop,
            is_stopped: false,
            config,
        };
        if tcp.pages.is_none() {
            tcp.open(tcp.config.clone());
        }
        tcp
    }

    fn open(&mut self, config: Config) {
        self.open.push(Connection {
            number: self.opened,
            receiver: Receiver::new(self.feedback, config.receive_window),
            sender: Sender::new(config),
        });
        self.opened += 1;
    }

    /// When a sender acts next.
    pub(crate) fn deadline(&self) -> Time {
        let senders = self.open.iter().filter_map(|each| each.sender.deadline());
        let page = self.pages.as_ref().and_then(Pages::deadline);
        let sender = senders.chain(page).min().filter(|_| !self.is_stopped);
        self.back.deadline().min(sender.unwrap_or(Time::MAX))
    }

    /// Does everything that is due at the senders by `now`, except sending.
    pub(crate) fn wake(&mut self, now: Time) {
        while let Some((number, ack)) = self.back.pop(now) {
            // A page's connections are gone with it.
            let to = self.open.iter_mut().find(|each| each.number == number);
            if let Some(connection) = to {
                connection.sender.acknowledge(now, &ack);
            }
        }
        self.is_stopped |= now >= self.stop;
        for connection in &mut self.open {
            connection.sender.timer(now);
        }
        self.turn_pages(now);
    }

    /// Ends the page that has come, and begins the one that is due.
    fn turn_pages(&mut self, now: Time) {
        let Some(pages) = &mut self.pages else {
            return;
        };
        if pages.is_loading() && self.open.iter().all(|each| each.sender.is_finished()) {
            pages.came(now);
            self.open.clear();
        }
        if self.is_stopped {
            return;
        }
        let Some((connections, size)) = pages.begin(now) else {
            return;
        };
        for _ in 0..connections {
            self.open(Config {
                application: Application::Finite(size),
                start: now,
                seed: self.config.seed.wrapping_add(self.opened),
                ..self.config.clone()
            });
        }
    }

    /// Takes the oldest page that has come and has not been told.
    pub(crate) fn next_loaded(&mut self) -> Option<PageLoad> {
        self.pages.as_mut()?.next_loaded()
    }

    /// The packet that leaves at `now`, if there is one.
    pub(crate) fn poll(&mut self, now: Time, flow: &FlowConfig, number: u32) -> Option<SimPacket> {
        if self.is_stopped {
            return None;
        }
        let mut segments = self.open.iter_mut().filter_map(|each| {
            let segment = each.sender.poll(now)?;
            Some((each.number << CONNECTION, segment))
        });
        let (connection, segment) = segments.next()?;
        let kind = if segment.is_retransmission {
            PacketKind::Retransmission
        } else {
            PacketKind::Media
        };
        Some(SimPacket {
            sent: now,
            size: segment.length + self.overhead,
            frame: connection | segment.sequence,
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
        let number = packet.frame >> CONNECTION;
        let segment = Segment {
            sequence: packet.frame & ((1 << CONNECTION) - 1),
            length: Bytes::new(u64::from(packet.index)),
            ecn: packet.ecn,
            cwr: packet.asks,
            is_retransmission: packet.kind == Some(PacketKind::Retransmission),
            sent: packet.sent,
        };
        let to = self.open.iter_mut().find(|each| each.number == number);
        if let Some(ack) = to.and_then(|each| each.receiver.receive(now, &segment)) {
            self.send_back(now, number, ack);
        }
    }

    /// Sends the acknowledgements that were due by `now`, at the times at which they were due.
    pub(crate) fn ack_timer(&mut self, now: Time) {
        for index in 0..self.open.len() {
            let connection = &mut self.open[index];
            let number = connection.number;
            let due = connection.receiver.deadline().filter(|due| *due <= now);
            if let Some(due) = due
                && let Some(ack) = connection.receiver.timer(due)
            {
                self.send_back(due, number, ack);
            }
        }
    }

    /// When a receiver acknowledges without a new packet.
    pub(crate) fn ack_deadline(&self) -> Time {
        let receivers = self.open.iter().filter_map(|each| each.receiver.deadline());
        receivers.min().unwrap_or(Time::MAX)
    }

    fn send_back(&mut self, now: Time, connection: u64, ack: Ack) {
        // A lost acknowledgement is not sent again.
        let _lost = self.back.send(now, ack_size(&ack), (connection, ack));
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
