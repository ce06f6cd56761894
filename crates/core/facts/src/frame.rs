//! The life of a frame, from the sender's point of view.

use mimosa_units::{Bytes, PeerTime, Rate, Time, TimeDelta};

use crate::bucket::BucketChange;
use crate::cause::Cause;
use crate::decision::{Decision, Pacing};
use crate::event::FrameId;
use crate::loss::Loss;

/// How large the next frame may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameGrant {
    /// Number of the frame.
    pub frame: FrameId,
    /// The controller's target in the long run.
    pub target: Rate,
    /// The most that this frame may have; zero means that the frame is skipped.
    pub size: Bytes,
    /// Whether `size` is a limit of this frame alone, rather than its share of the target.
    pub is_limit: bool,
    /// Whether `size` is a share of what the sender was capped at, and the controller grants more.
    pub is_capped: bool,
    /// The rule behind what the controller grants.
    pub cause: Cause,
}

/// How a frame's life ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FrameEnd {
    /// When the sender held the acknowledgement of all packets of the frame, or of as many media
    /// and repair packets as make it whole.
    Acknowledged(Time),
    /// The frame was given up in the pacer, or after too long a time without acknowledgement.
    GivenUp,
}

/// The protection of a frame against losses, and the plan behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameProtection {
    /// Number of repair packets handed over with the frame.
    pub repairs: u32,
    /// Number of rounds of retransmission that were expected to fit before the frame's deadline.
    pub rounds: u32,
    /// The model of losses behind the plan.
    pub loss: Loss,
    /// Planned probability that losses make the frame late, from 0 to 1.
    pub late: f64,
    /// Number of the frame's media packets that repair packets replaced in the end.
    pub repaired: u32,
}

/// Everything that the sender learnt about one frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameLife {
    /// Number of the frame.
    pub frame: FrameId,
    /// When the encoder asked for the frame's size.
    pub due: Time,
    /// Time to the next frame.
    pub interval: TimeDelta,
    /// The decision under which the frame was encoded.
    pub decision: Decision,
    /// The most that the frame might have, repair packets included: its limit or its share of the
    /// target, and what earlier frames left of theirs, or less what they took beyond.
    pub allowed: Bytes,
    /// When the frame was handed to the pacer.
    pub handed_over: Time,
    /// How the frame's packets were paced.
    pub pacing: Pacing,
    /// The last change of the bucket's depth, if the pacing policy adapts it.
    pub bucket: Option<BucketChange>,
    /// Size of the frame's packets on the wire, without repair packets.
    pub size: Bytes,
    /// Number of the frame's packets, without repair packets. Any so many packets of both kinds
    /// make the frame whole.
    pub packets: u32,
    /// First departure of a packet of the frame, without probes.
    pub first_sent: Option<Time>,
    /// Last departure of a packet of the frame.
    pub last_sent: Option<Time>,
    /// First arrival of a packet of the frame, on the receiver's clock.
    pub first_arrival: Option<PeerTime>,
    /// Last arrival of a packet of the frame, on the receiver's clock.
    pub last_arrival: Option<PeerTime>,
    /// Number of packets that arrived, repair packets included, each counted once.
    pub arrived: u32,
    /// Number of packets declared lost, retransmissions included.
    pub lost: u32,
    /// Number of packets sent again, including repair packets in their place.
    pub retransmitted: u32,
    /// How the frame's life ended; `None` while the frame is on its way.
    pub end: Option<FrameEnd>,
    /// The protection of the frame, if the stream may use repair packets.
    pub protection: Option<FrameProtection>,
}

impl FrameLife {
    /// The *frame delay* of the Pudica paper, section 5.1: from the hand-over to the
    /// acknowledgement of the last packet. `None` if the frame was not acknowledged.
    #[must_use]
    pub fn delay(&self) -> Option<TimeDelta> {
        match self.end? {
            FrameEnd::Acknowledged(at) => Some(at.since(self.handed_over)),
            FrameEnd::GivenUp => None,
        }
    }
}
