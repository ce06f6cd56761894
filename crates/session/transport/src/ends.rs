//! The traits through which a session uses its connection, whatever kind of connection it is.
//!
//! Both traits have the same contract: a method that changes the connection takes the time; after
//! each such call, the caller takes datagrams and events until there are none; the caller calls
//! `timeout` when `deadline` has come.

use std::net::SocketAddr;

use mimosa_facts::{ArrivalReport, Codec, FrameId, PacketKind, StreamSequence};
use mimosa_protocol::control::FeedbackKind;
use mimosa_rtp::dependency::Dependency;
use mimosa_rtp::transport_cc::TransportExtension;
use mimosa_rtp::video::Payloads;
use mimosa_stream::{Code, Outgoing};
use mimosa_units::{Ecn, Time};

use crate::error::OfferError;

/// A channel of messages (`docs/embed/protocol.md`).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Channel {
    /// State of pointer and gamepads: only the newest message counts, and none is sent again.
    Input,
    /// Keys and buttons: every message arrives, in order.
    Keys,
    /// The display of frames, and the clocks: messages are not sent again.
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

    /// The channel's label on the wire.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Keys => "keys",
            Self::Frames => "frames",
            Self::Control => "control",
        }
    }

    /// Whether messages may be lost and may overtake each other.
    #[must_use]
    pub const fn is_lossy(self) -> bool {
        matches!(self, Self::Input | Self::Frames)
    }
}

/// Where datagrams for the host's end of a connection come in. An address is in one list only, so that it says
/// which protocol carries a datagram.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Addresses {
    /// The addresses of UDP.
    pub datagrams: Vec<SocketAddr>,
    /// The addresses of TCP, to which the other end connects (RFC 6544, "passive"), and in whose streams
    /// [frames](mimosa_rtp::framing) are datagrams.
    pub streams: Vec<SocketAddr>,
    /// The addresses at a relay (RFC 8656) that passes datagrams of UDP on. The ECN field does not pass it.
    pub relayed: Vec<SocketAddr>,
}

impl Addresses {
    /// Whether this is one of the addresses.
    #[must_use]
    pub fn has(&self, address: SocketAddr) -> bool {
        let all = [&self.datagrams, &self.streams, &self.relayed];
        all.iter().any(|some| some.contains(&address))
    }
}

/// A datagram to be sent.
#[derive(Clone, Debug)]
pub struct Datagram {
    /// Our address that the datagram leaves from.
    pub source: SocketAddr,
    /// The address that the datagram goes to.
    pub destination: SocketAddr,
    /// ECN field to send the datagram with.
    pub ecn: Ecn,
    /// Payload of the datagram.
    pub contents: Vec<u8>,
}

/// A packet of a frame that has been sent, with its number on the wire.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Left {
    /// The frame of which the packet carries a part.
    pub frame: FrameId,
    /// Whether the packet is a first transmission, a retransmission or a repair packet.
    pub kind: PacketKind,
    /// SSRC of the RTP stream on which the packet was sent.
    pub ssrc: u32,
    /// The packet's number in its RTP stream.
    pub sequence: StreamSequence,
}

/// What both ends have agreed on for the whole connection.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one line of an offer, and they are independent"
)]
pub struct Agreed {
    /// The codec of the pictures.
    pub codec: Codec,
    /// How the other end reports arrivals.
    pub feedback: FeedbackKind,
    /// Whether packets say to which frame theirs refers, so that the other end can continue after a
    /// frame that it never gets.
    pub bears_gaps: bool,
    /// Whether the other end wants frames in parts, each as soon as it is coded: it decodes pictures of
    /// several slices.
    pub takes_parts: bool,
    /// Whether lost packets can be sent again.
    pub has_retransmissions: bool,
    /// The code of the repair packets that the other end can use, if any.
    pub repairs: Option<Code>,
    /// Whether the other end takes sound.
    pub has_sound: bool,
    /// Whether packets of sound may repeat earlier frames.
    pub takes_redundancy: bool,
}

/// Something that happened to the host's end of a connection.
#[derive(Debug)]
pub enum PeerEvent {
    /// The connection is established, and media can flow.
    Connected,
    /// The other end has reported arrivals.
    Feedback(ArrivalReport),
    /// The other end asks for a packet that it lacks.
    Missing {
        /// The frame of the packet.
        frame: FrameId,
        /// The packet's place in its frame, from zero.
        index: u32,
    },
    /// The other end asks for a keyframe, because it cannot continue without one.
    KeyframeWanted,
    /// A channel can be written to.
    Opened(Channel),
    /// A message came.
    Message {
        /// The channel on which the message came.
        channel: Channel,
        /// Content of the message.
        data: Vec<u8>,
    },
    /// The connection is over.
    Closed {
        /// Why the connection ended.
        reason: String,
    },
}

/// The host's end of a connection to one player or viewer.
pub trait HostTransport: Send {
    /// What both ends have agreed on.
    fn agreed(&self) -> Agreed;

    /// Whether a datagram belongs to this connection.
    fn accepts(
        &self,
        now: Time,
        source: SocketAddr,
        destination: SocketAddr,
        contents: &[u8],
    ) -> bool;

    /// Takes a datagram that was received. Returns whether the datagram certainly comes from the
    /// other end: a connectivity check, a report or a message that only the holder of the
    /// connection's keys can make.
    fn receive(
        &mut self,
        now: Time,
        source: SocketAddr,
        destination: SocketAddr,
        contents: &[u8],
    ) -> bool;

    /// Lets time pass until `now`.
    fn timeout(&mut self, now: Time);

    /// When to call [`HostTransport::timeout`] at the latest.
    fn deadline(&self) -> Time;

    /// Reads an ICE candidate of the other end, in the form of its `a=candidate:` line, and checks
    /// it. The candidate is not used: the host learns the other end's address from what comes.
    ///
    /// # Errors
    ///
    /// [`OfferError::Candidate`] if the line is not a candidate.
    fn add_candidate(&mut self, line: &str) -> Result<(), OfferError>;

    /// Changes the addresses at which datagrams may come in. Returns the new ones as candidates, in
    /// the form of `a=candidate:` lines without `a=`, for the other end. What is no WebRTC has no
    /// candidates.
    fn set_addresses(&mut self, addresses: &Addresses) -> Vec<String> {
        let _ = addresses;
        Vec::new()
    }

    /// Stores the packets of a frame for [`HostTransport::send`]. `timestamp` is the frame's RTP
    /// timestamp, in 1/90000 s. `reference` is the frame to which it refers; `None` for a keyframe.
    /// `repairs` is the most repair packets that the frame may have.
    fn insert(
        &mut self,
        frame: FrameId,
        timestamp: u32,
        reference: Option<FrameId>,
        payloads: Payloads,
        repairs: u32,
    ) {
        self.begin(frame, timestamp, reference, payloads);
        self.extend(frame, &Payloads::default(), Some(repairs));
    }

    /// Stores the packets of the first part of a frame; the arguments are those of
    /// [`HostTransport::insert`].
    fn begin(
        &mut self,
        frame: FrameId,
        timestamp: u32,
        reference: Option<FrameId>,
        payloads: Payloads,
    );

    /// Stores the packets of the next part of the frame begun last. `repairs` comes with the last part: it
    /// is the most repair packets that the frame may have.
    fn extend(&mut self, frame: FrameId, payloads: &Payloads, repairs: Option<u32>);

    /// All of a frame has arrived: nothing of it is sent again.
    fn arrived(&mut self, frame: FrameId);

    /// Sends the packets that the sender names, in this order. Adds to `left` the number on the
    /// wire of each packet that carries part of a frame.
    fn send(&mut self, now: Time, packets: &[Outgoing], left: &mut Vec<Left>);

    /// Sends a frame of sound at once, with up to `redundancy` earlier ones. `timestamp` is the
    /// frame's RTP timestamp, in 1/48000 s. Returns the length of the payload in bytes; zero if the
    /// connection has no sound.
    fn send_sound(&mut self, now: Time, timestamp: u32, frame: &[u8], redundancy: usize) -> usize;

    /// The frame with this RTP timestamp, if it is one of the latest.
    fn frame_at(&self, timestamp: u32) -> Option<FrameId>;

    /// Writes a message; says whether the channel is open and takes it. An empty message is
    /// not taken: SCTP has none (RFC 8831, section 6.6), and one would stop an ordered stream.
    fn write(&mut self, channel: Channel, data: &[u8]) -> bool;

    /// Whether the other end has yet to acknowledge messages that were written to a channel. A
    /// lossy channel has no such messages.
    fn is_undelivered(&mut self, channel: Channel) -> bool;

    /// Ends the connection, and tells the other end. Messages that it has not acknowledged may
    /// never reach it.
    fn close(&mut self);

    /// Takes the next datagram to send.
    fn poll_datagram(&mut self) -> Option<Datagram>;

    /// Takes the next event.
    fn poll_event(&mut self) -> Option<PeerEvent>;
}

/// What an RTP packet carries.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Carries {
    /// A part of a frame.
    Video,
    /// One of three things: a part of a frame sent again (RFC 4588); a repair packet
    /// ([`mimosa_rtp::repair`]), which has no dependency; or nothing, if the packet is a probe.
    Repeat,
    /// One frame of sound.
    Sound,
    /// A frame of sound with earlier ones (RFC 2198).
    RedundantSound,
}

/// An RTP packet that has come, decrypted.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Incoming {
    /// What the packet carries.
    pub carries: Carries,
    /// SSRC of the packet's RTP stream.
    pub ssrc: u32,
    /// The packet's number in its RTP stream.
    pub sequence: u16,
    /// RTP timestamp.
    pub timestamp: u32,
    /// What the packet's frame refers to, and the packet's place in the frame. Sound has none.
    pub dependency: Option<Dependency>,
    /// The packet's transport-wide number, and the report that it asks for. Sound has none.
    pub transport: Option<TransportExtension>,
    /// The packet's payload.
    pub payload: Vec<u8>,
}

/// Something that happened to the viewer's end of a connection.
#[derive(Debug)]
pub enum CallerEvent {
    /// The connection is established, and media can flow.
    Connected,
    /// A packet came.
    Packet(Incoming),
    /// A channel can be written to.
    Opened(Channel),
    /// A message came.
    Message {
        /// The channel on which the message came.
        channel: Channel,
        /// Content of the message.
        data: Vec<u8>,
    },
    /// The connection is over.
    Closed {
        /// Why the connection ended.
        reason: String,
    },
}

/// The viewer's end of a connection to a host, once the host has answered.
pub trait ViewerTransport: Send {
    /// The codec that the host sends.
    fn codec(&self) -> Codec;

    /// Whether the host reads reports of RFC 8888 beside the transport-wide ones.
    fn reads_congestion(&self) -> bool;

    /// SSRC from which reports come.
    fn name(&self) -> u32;

    /// Takes a datagram that was received.
    fn receive(&mut self, now: Time, source: SocketAddr, destination: SocketAddr, contents: &[u8]);

    /// Lets time pass until `now`.
    fn timeout(&mut self, now: Time);

    /// When to call [`ViewerTransport::timeout`] at the latest.
    fn deadline(&self) -> Time;

    /// Takes a further ICE candidate of the host, in the form of an `a=candidate:` line without `a=`.
    /// What is no candidate that this end can use is ignored, and what is no WebRTC has no use for one.
    fn add_candidate(&mut self, line: &str) {
        let _ = line;
    }

    /// Sends an RTCP compound packet of at most 1100 bytes.
    fn report(&mut self, compound: &[u8]);

    /// Asks the host for a keyframe.
    fn want_keyframe(&mut self, now: Time);

    /// Writes a message; says whether the channel is open and takes it. An empty message is
    /// not taken: SCTP has none (RFC 8831, section 6.6), and one would stop an ordered stream.
    fn write(&mut self, channel: Channel, data: &[u8]) -> bool;

    /// Ends the connection, and tells the host.
    fn close(&mut self);

    /// Takes the next datagram to send.
    fn poll_datagram(&mut self) -> Option<Datagram>;

    /// Takes the next event.
    fn poll_event(&mut self) -> Option<CallerEvent>;
}
