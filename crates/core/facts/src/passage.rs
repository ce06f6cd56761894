//! The passage of a packet through a network, and its fate.

use std::net::{IpAddr, Ipv4Addr};

use mimosa_units::{Bytes, Ecn, Time};

use crate::event::PacketKind;
use crate::number::TransportSequence;

/// The fate of a packet in a simulated or emulated network.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fate {
    /// The packet reaches the other end at this time.
    Arrived(Time),
    /// A queue dropped the packet.
    Dropped,
    /// The packet was lost after the last link.
    Lost,
}

impl Fate {
    /// When the packet reaches the other end; `None` if it never does.
    #[must_use]
    pub const fn arrival(self) -> Option<Time> {
        match self {
            Self::Arrived(at) => Some(at),
            Self::Dropped | Self::Lost => None,
        }
    }
}

/// One packet's passage through a queue, a link and a path, or through several links in a row. `P`
/// identifies the packet: a [`StreamPacket`] if the sender is known, a [`LinkPacket`] if only its
/// IP header is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Passage<P> {
    /// The packet.
    pub packet: P,
    /// Size of the packet on the wire, IP header included.
    pub size: Bytes,
    /// ECN field with which the packet came.
    pub sent_ecn: Ecn,
    /// ECN field with which the packet left the last queue.
    pub ecn: Ecn,
    /// When the packet was offered to the first queue.
    pub offered: Time,
    /// When the packet's first bit left on the last link; `None` if a queue dropped the packet.
    pub started: Option<Time>,
    /// When the packet's last bit left on the last link; `None` if a queue dropped the packet.
    pub finished: Option<Time>,
    /// The fate of the packet.
    pub fate: Fate,
}

/// A packet from a sender in a simulation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct StreamPacket {
    /// Number of the packet's flow, counted from zero in the order of the scenario.
    pub flow: usize,
    /// Transport-wide number of the packet; zero for cross traffic.
    pub sequence: TransportSequence,
    /// What the packet carries; `None` for cross traffic.
    pub kind: Option<PacketKind>,
    /// Number of the packet's frame; for a probe, of the frame before it.
    pub frame: u64,
    /// Place of the packet in its frame, counted from zero.
    pub index: u32,
}

/// A packet of any program, as a link sees it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LinkPacket {
    /// Whether the packet goes from the sender's side to the receiver's.
    pub is_forward: bool,
    /// The fields of the packet's headers that identify its flow.
    pub header: Header,
    /// RTP stream and number, if the packet looks like RTP.
    pub rtp: Option<RtpPacket>,
    /// Number of the queue that took the packet, from zero among those of its direction. A number
    /// beyond all queues has no name.
    pub queue: usize,
    /// Bytes that waited in the queue when the packet came.
    pub backlog: Bytes,
}

/// The two fields of the RTP header that identify a packet, which SRTP leaves in the clear (RFC
/// 3711, section 3.1).
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct RtpPacket {
    /// SSRC, which identifies the RTP stream.
    pub ssrc: u32,
    /// RTP number in that stream.
    pub sequence: u16,
}

/// The fields of a packet's headers by which flows and classes are distinguished.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Header {
    /// Address of the sender.
    pub source: IpAddr,
    /// Address of the receiver.
    pub destination: IpAddr,
    /// IANA's number of the protocol above IP: 6 for TCP, 17 for UDP.
    pub protocol: u8,
    /// Port of the sender; zero where the protocol has none, or in a fragment.
    pub source_port: u16,
    /// Port of the receiver; zero where the protocol has none, or in a fragment.
    pub destination_port: u16,
    /// Differentiated services code point, 0 to 63.
    pub dscp: u8,
}

impl Header {
    /// TCP's protocol number.
    pub const TCP: u8 = 6;
    /// UDP's protocol number.
    pub const UDP: u8 = 17;

    /// The header of a simulated flow's packets. Every flow has its own addresses.
    #[must_use]
    pub const fn of_flow(flow: u32, protocol: u8, dscp: u8) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "bytes of a number")]
        let (high, low) = ((flow >> 8) as u8, flow as u8);
        Self {
            source: IpAddr::V4(Ipv4Addr::new(10, 1, high, low)),
            destination: IpAddr::V4(Ipv4Addr::new(10, 2, high, low)),
            protocol,
            source_port: 5_000,
            destination_port: 5_000,
            dscp,
        }
    }
}
