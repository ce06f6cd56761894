//! The events that a controller takes.

use mimosa_units::{Bytes, Ecn, PeerTime, Rate, Time, TimeDelta};

/// Number of a frame in its stream, from zero.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct FrameId(pub u64);

/// Number of a packet in its transport, from zero, without wrapping.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Sequence(pub u64);

/// What a packet carries.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum PacketKind {
    /// Part of a frame, sent for the first time.
    Media,
    /// Part of a frame that is sent again, or a repair packet in its place.
    Retransmission,
    /// Nothing: the packet is sent only to learn from its arrival.
    Probe,
    /// A repair packet, which replaces any lost packet of its frame and leaves after the last of
    /// them.
    Repair,
}

impl PacketKind {
    /// Whether the packet leaves with its frame, once and in order, as media and repair packets do.
    #[must_use]
    pub const fn is_first(self) -> bool {
        matches!(self, Self::Media | Self::Repair)
    }
}

/// A packet that left the pacer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SentPacket {
    /// The packet's number.
    pub sequence: Sequence,
    /// The frame of the packet; for a probe, the frame that it follows.
    pub frame: FrameId,
    /// What the packet carries.
    pub kind: PacketKind,
    /// Size on the wire.
    pub size: Bytes,
    /// When the packet left, on the local clock.
    pub sent: Time,
}

/// What happened to a packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PacketOutcome {
    /// The packet arrived.
    Arrived {
        /// When the packet arrived, on the receiver's clock.
        at: PeerTime,
        /// The ECN field with which the packet arrived.
        ecn: Ecn,
        /// Whether an earlier report said [`PacketOutcome::Lost`] too early.
        after_loss: bool,
    },
    /// The packet has not arrived, although packets that were sent well after it have.
    Lost,
}

/// What became known about one packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PacketReport {
    /// The packet.
    pub packet: SentPacket,
    /// What happened to the packet.
    pub outcome: PacketOutcome,
}

/// Something that happened, as a controller is told it. Fuzz targets generate these events, and
/// recordings replay them.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The encoder is about to start a frame, and asks how large the frame may be.
    FrameDue {
        /// The frame.
        frame: FrameId,
        /// Time to the next frame, as the encoder plans it: `L` in the Pudica paper.
        interval: TimeDelta,
    },
    /// The pacer was given the first part of a frame whose other parts are still being encoded.
    /// [`Event::FrameEncoded`] follows with the frame's last part; it may come after the first packets
    /// have left, and even after reports on them.
    FrameBegun {
        /// The frame.
        frame: FrameId,
        /// Size of all packets of the frame on the wire as the sender expects it: the most that the
        /// frame may have.
        size: Bytes,
        /// Number of the frame's packets as the sender expects it; at least one.
        packets: u32,
    },
    /// A frame was handed to the pacer: all of it, or the last of its parts.
    FrameEncoded {
        /// The frame.
        frame: FrameId,
        /// Size of all packets of the frame on the wire, those of earlier parts and repair packets
        /// included.
        size: Bytes,
        /// Number of the frame's packets, repair packets included; at least one.
        packets: u32,
    },
    /// A frame is not to be waited for: the pacer gave it up, so that those of its packets that have
    /// not left never will, or all of them have left and the report on some was lost. Without this
    /// event, a controller could not tell such packets from overdue ones.
    FrameGivenUp {
        /// The frame.
        frame: FrameId,
    },
    /// The receiver has the whole frame. This message comes sooner than the reports about the
    /// frame's packets, and does not say when they arrived.
    FrameDecoded {
        /// The frame.
        frame: FrameId,
    },
    /// A packet left the pacer.
    PacketSent(SentPacket),
    /// Everything that became known from one feedback message, in the order of sequence numbers. No
    /// packet is in it twice with the same outcome.
    Feedback {
        /// What became known; empty if the message only repeated earlier ones.
        reports: &'a [PacketReport],
        /// Bytes that were sent and, as far as is known now, have neither arrived nor been lost.
        in_flight: Bytes,
    },
    /// Packets about which nothing will become known, because the report on them was lost. They
    /// count neither as in flight nor as lost, and most of them have arrived. Late news of such a
    /// packet may still come in [`Event::Feedback`].
    Unknown {
        /// The packets, in the order of their sequence numbers.
        packets: &'a [SentPacket],
    },
    /// The rate that was available to this flow `age` ago, from an environment that knows the
    /// network. Simulations and emulations give this event before each frame to the oracle, the
    /// bound against which other controllers are measured.
    Told {
        /// The available rate at that time.
        rate: Rate,
        /// The mean of the available rate since the time of the event before.
        mean: Rate,
        /// How long ago the rate was available.
        age: TimeDelta,
    },
    /// The time named by `Controller::deadline` has come.
    Timer,
}
