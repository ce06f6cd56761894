//! What a session asks of its connection, whichever kind of connection it is.
//!
//! Both traits have one contract: a method that changes the connection takes the time; after
//! each such call, datagrams and events are taken until there are none; `timeout` is called
//! when `deadline` has come.

use std::net::SocketAddr;

use mimosa_facts::{ArrivalReport, Codec, FrameId, PacketKind, StreamSequence};
use mimosa_protocol::control::FeedbackKind;
use mimosa_rtp::dependency::Dependency;
use mimosa_rtp::transport_cc::TransportExtension;
use mimosa_rtp::video::Payloads;
use mimosa_stream::{Code, Outgoing};
use mimosa_units::{Ecn, Time};

use crate::error::OfferError;

/// A channel of messages, as `docs/embed/protocol.md` has them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Channel {
    /// Pointer and gamepads: the newest message counts, and none is sent again.
    Input,
    /// Keys and buttons: every message arrives, in order.
    Keys,
    /// The fate of frames: none is sent again.
    Frames,
    /// JSON: every message arrives, in order.
    Control,
}

impl Channel {
    /// All channels, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Input, Self::Keys, Self::Frames, Self::Control];

    /// The channel with this label.
    #[must_use]
    pub fn from_label(label: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.label() == label)
    }

    /// The name of the channel on the wire.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Keys => "keys",
            Self::Frames => "frames",
            Self::Control => "control",
        }
    }

    /// Whether messages may be lost and overtake each other.
    #[must_use]
    pub const fn is_lossy(self) -> bool {
        matches!(self, Self::Input | Self::Frames)
    }
}

/// A datagram to be sent.
#[derive(Clone, Debug)]
pub struct Datagram {
    /// Address of ours that the datagram leaves from.
    pub source: SocketAddr,
    /// Address that the datagram goes to.
    pub destination: SocketAddr,
    /// ECN field to send the datagram with.
    pub ecn: Ecn,
    /// What the datagram has in it.
    pub contents: Vec<u8>,
}

/// A packet of a frame that has left, and what it is on the wire.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Left {
    /// The frame that the packet carries part of.
    pub frame: FrameId,
    /// What the packet carries of the frame.
    pub kind: PacketKind,
    /// RTP stream that the packet left on.
    pub ssrc: u32,
    /// Number of the packet in that stream.
    pub sequence: StreamSequence,
}

/// What both ends have agreed on; it stands for the whole connection.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one line of an offer, and they are independent"
)]
pub struct Agreed {
    /// How pictures are coded.
    pub codec: Codec,
    /// How the other end reports arrivals.
    pub feedback: FeedbackKind,
    /// Whether packets say what their frame refers to, so that the other end can go on after
    /// a frame that it never gets.
    pub bears_gaps: bool,
    /// Whether lost packets can be sent again.
    pub has_retransmissions: bool,
    /// Code of the repair packets that the other end can use, if it knows any.
    pub repairs: Option<Code>,
    /// Whether the other end hears sound.
    pub has_sound: bool,
    /// Whether packets of sound can repeat earlier frames.
    pub takes_redundancy: bool,
}

/// Something that happened to the host's end of a connection.
#[derive(Debug)]
pub enum PeerEvent {
    /// Media can flow.
    Connected,
    /// The other end reports arrivals.
    Feedback(ArrivalReport),
    /// The other end lacks a packet.
    Missing {
        /// Frame of the packet.
        frame: FrameId,
        /// Place of the packet in the frame.
        index: u32,
    },
    /// The other end cannot go on without a keyframe.
    KeyframeWanted,
    /// A channel can be written to.
    Opened(Channel),
    /// A message came.
    Message {
        /// The channel that the message came on.
        channel: Channel,
        /// What the message says.
        data: Vec<u8>,
    },
    /// The connection is over.
    Closed {
        /// Why.
        reason: String,
    },
}

/// The host's end of a connection to one player or viewer.
pub trait HostTransport: Send {
    /// What was agreed on.
    fn agreed(&self) -> Agreed;

    /// Whether a datagram belongs to this connection.
    fn accepts(
        &self,
        now: Time,
        source: SocketAddr,
        destination: SocketAddr,
        contents: &[u8],
    ) -> bool;

    /// Takes a datagram in. Gives whether the datagram is certain to be the other end's: a
    /// connectivity check, a report or a message that only who has the connection's keys can
    /// make.
    fn receive(
        &mut self,
        now: Time,
        source: SocketAddr,
        destination: SocketAddr,
        contents: &[u8],
    ) -> bool;

    /// Lets time pass.
    fn timeout(&mut self, now: Time);

    /// When to call [`HostTransport::timeout`] at the latest.
    fn deadline(&self) -> Time;

    /// Reads a candidate of the other end's, as in its `a=candidate:` line. Nothing comes of
    /// the candidate: the other end is found by what it sends.
    ///
    /// # Errors
    ///
    /// [`OfferError::Candidate`] for a line that is no candidate.
    fn add_candidate(&mut self, line: &str) -> Result<(), OfferError>;

    /// Takes the packets of a frame in, for [`HostTransport::send`]. `timestamp` is the
    /// frame's RTP timestamp, in 1/90000 s; `reference` the frame it refers to, `None` for a
    /// keyframe; `repairs` how many repair packets it may have.
    fn insert(
        &mut self,
        frame: FrameId,
        timestamp: u32,
        reference: Option<FrameId>,
        payloads: Payloads,
        repairs: u32,
    );

    /// Sends the packets that the sender names, in this order, and adds to `left` what each
    /// has become that carries part of a frame.
    fn send(&mut self, now: Time, packets: &[Outgoing], left: &mut Vec<Left>);

    /// Sends a frame of sound at once, with up to `redundancy` earlier ones. `timestamp` is
    /// the frame's RTP timestamp, in 1/48000 s. Gives the length of the payload in bytes;
    /// zero when the other end hears nothing.
    fn send_sound(&mut self, now: Time, timestamp: u32, frame: &[u8], redundancy: usize) -> usize;

    /// The frame with this RTP timestamp, if it is one of the last.
    fn frame_at(&self, timestamp: u32) -> Option<FrameId>;

    /// Writes a message; says whether the channel is open and takes it. An empty message is
    /// not taken: SCTP has none (RFC 8831, section 6.6), and one would stop an ordered stream.
    fn write(&mut self, channel: Channel, data: &[u8]) -> bool;

    /// Ends the connection, and tells the other end.
    fn close(&mut self);

    /// Takes a datagram that is to be sent.
    fn poll_datagram(&mut self) -> Option<Datagram>;

    /// Takes an event.
    fn poll_event(&mut self) -> Option<PeerEvent>;
}

/// What a packet of RTP is for.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Carries {
    /// A piece of a frame.
    Video,
    /// A piece of a frame sent again (RFC 4588); a repair packet, when it says of no
    /// dependency ([`mimosa_rtp::repair`]); or nothing, when it is a probe.
    Repeat,
    /// A frame of sound.
    Sound,
    /// Frames of sound, earlier ones among them (RFC 2198).
    RedundantSound,
}

/// A packet of RTP that has come, decrypted.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Incoming {
    /// What the packet is for.
    pub carries: Carries,
    /// RTP stream of the packet.
    pub ssrc: u32,
    /// Number of the packet in that stream.
    pub sequence: u16,
    /// RTP timestamp.
    pub timestamp: u32,
    /// What the packet's frame refers to, and the packet's place in it; sound has none.
    pub dependency: Option<Dependency>,
    /// Number of the packet among all packets of the video; sound has none.
    pub transport: Option<TransportExtension>,
    /// What the packet has in it.
    pub payload: Vec<u8>,
}

/// Something that happened to the viewer's end of a connection.
#[derive(Debug)]
pub enum CallerEvent {
    /// Media can flow.
    Connected,
    /// A packet came.
    Packet(Incoming),
    /// A channel can be written to.
    Opened(Channel),
    /// A message came.
    Message {
        /// The channel that the message came on.
        channel: Channel,
        /// What the message says.
        data: Vec<u8>,
    },
    /// The connection is over.
    Closed {
        /// Why.
        reason: String,
    },
}

/// The viewer's end of a connection to a host, once the host has answered.
pub trait ViewerTransport: Send {
    /// The codec that the host sends.
    fn codec(&self) -> Codec;

    /// Whether the host reads reports of RFC 8888 beside the transport-wide ones.
    fn reads_congestion(&self) -> bool;

    /// SSRC to report under.
    fn name(&self) -> u32;

    /// Takes a datagram in.
    fn receive(&mut self, now: Time, source: SocketAddr, destination: SocketAddr, contents: &[u8]);

    /// Lets time pass.
    fn timeout(&mut self, now: Time);

    /// When to call [`ViewerTransport::timeout`] at the latest.
    fn deadline(&self) -> Time;

    /// Sends a compound of RTCP packets of at most 1100 bytes.
    fn report(&mut self, compound: &[u8]);

    /// Asks for a keyframe.
    fn want_keyframe(&mut self, now: Time);

    /// Writes a message; says whether the channel is open and takes it. An empty message is
    /// not taken: SCTP has none (RFC 8831, section 6.6), and one would stop an ordered stream.
    fn write(&mut self, channel: Channel, data: &[u8]) -> bool;

    /// Ends the connection, and tells the host.
    fn close(&mut self);

    /// Takes a datagram that is to be sent.
    fn poll_datagram(&mut self) -> Option<Datagram>;

    /// Takes an event.
    fn poll_event(&mut self) -> Option<CallerEvent>;
}
