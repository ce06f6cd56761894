//! What a controller may learn.

use mimosa_units::{Bytes, Ecn, PeerTime, Rate, Time, TimeDelta};

/// A frame's number in its stream, counted from zero.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct FrameId(pub u64);

/// A packet's number in its transport, counted from zero without wrapping.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Sequence(pub u64);

/// What a packet carries.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum PacketKind {
    /// Part of a frame, for the first time.
    Media,
    /// Part of a frame, again, or a repair packet in place of that.
    Retransmission,
    /// Nothing: sent only to learn from its arrival.
    Probe,
    /// Stands for any packet of its frame that is lost, and leaves behind the last of them.
    Repair,
}

impl PacketKind {
    /// Whether it leaves with its frame, once and in order: media and repair.
    #[must_use]
    pub const fn is_first(self) -> bool {
        matches!(self, Self::Media | Self::Repair)
    }
}

/// A packet that left the pacer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SentPacket {
    /// Its number.
    pub sequence: Sequence,
    /// The frame it belongs to; for a probe, the frame it follows.
    pub frame: FrameId,
    /// What it carries.
    pub kind: PacketKind,
    /// Size on the wire.
    pub size: Bytes,
    /// When it left, on the local clock.
    pub sent: Time,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PacketOutcome {
    /// It arrived.
    Arrived {
        /// When, on the receiver's clock.
        at: PeerTime,
        /// The ECN field it arrived with.
        ecn: Ecn,
        /// An earlier report called it [`PacketOutcome::Lost`], too early.
        after_loss: bool,
    },
    /// Packets sent well after it arrived, and it did not.
    Lost,
}

/// What became known about one packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PacketReport {
    /// The packet.
    pub packet: SentPacket,
    /// What became of it.
    pub outcome: PacketOutcome,
}

/// One thing that happened, as a controller hears of it. It is also the fuzz
/// input and what a recording replays.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The encoder is about to start a frame and asks how large it may be.
    FrameDue {
        /// The frame.
        frame: FrameId,
        /// Time to the next one, as the encoder plans it: the paper's `L`.
        interval: TimeDelta,
    },
    /// A frame was handed to the pacer.
    FrameEncoded {
        /// The frame.
        frame: FrameId,
        /// All of its packets together, on the wire, repair packets included.
        size: Bytes,
        /// How many packets it makes, likewise; at least one.
        packets: u32,
    },
    /// The pacer gave a frame up: what has not left of it never will. Without
    /// this, packets that never left could not be told from overdue ones.
    FrameGivenUp {
        /// The frame.
        frame: FrameId,
    },
    /// The receiver has the frame whole, by a word that comes sooner than the
    /// reports of its packets and says nothing of their arrival.
    FrameDecoded {
        /// The frame.
        frame: FrameId,
    },
    /// A packet left the pacer at `sent`.
    PacketSent(SentPacket),
    /// Everything that one feedback message made known, each packet at most
    /// once per outcome, in the order of sequence numbers.
    Feedback {
        /// The news. Empty when the message repeated what was known.
        reports: &'a [PacketReport],
        /// Data sent and neither arrived nor lost, as far as is known now.
        in_flight: Bytes,
    },
    /// Somebody who knows the network tells what of the link was this flow's to use
    /// `age` ago. Simulations and emulations can, before each frame; for a bound that
    /// others are measured against.
    Told {
        /// The rate then.
        rate: Rate,
        /// The mean rate since the moment that was told of before.
        mean: Rate,
        /// How long ago it held.
        age: TimeDelta,
    },
    /// The time named by `Controller::deadline` has come.
    Timer,
}
