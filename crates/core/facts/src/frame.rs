//! The life of a frame, as the sender knows it.

use mimosa_units::{Bytes, PeerTime, Rate, Time, TimeDelta};

use crate::bucket::BucketChange;
use crate::cause::Cause;
use crate::decision::{Decision, Pacing};
use crate::event::FrameId;
use crate::loss::Loss;

/// What the encoder may make of the next frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameGrant {
    /// Its number.
    pub frame: FrameId,
    /// The bitrate that the controller wants in the long run.
    pub target: Rate,
    /// The most this frame may have; nothing: skip it.
    pub size: Bytes,
    /// It is this frame's alone, not what frames have at the target.
    pub is_limit: bool,
    /// Why.
    pub cause: Cause,
}

/// How a frame's life ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FrameEnd {
    /// The sender holds the acknowledgement of all of its packets since then, or of as many
    /// of them and its repair packets as make it whole.
    Acknowledged(Time),
    /// Given up in the pacer or after too long without acknowledgement.
    GivenUp,
}

/// What was sent with a frame so that losses do not make it late, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameProtection {
    /// Repair packets handed over with it.
    pub repairs: u32,
    /// Rounds of retransmission that were thought to fit before its deadline.
    pub rounds: u32,
    /// How packets were thought to be lost.
    pub loss: Loss,
    /// Probability that it is late for a loss, as planned.
    pub late: f64,
    /// Media packets of it that repair packets stood for in the end.
    pub repaired: u32,
}

/// Everything the sender learnt about one frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameLife {
    /// Its number.
    pub frame: FrameId,
    /// When the encoder asked for it.
    pub due: Time,
    /// Time to the next frame.
    pub interval: TimeDelta,
    /// The decision it was encoded under.
    pub decision: Decision,
    /// When it was handed over to the pacer.
    pub handed_over: Time,
    /// How its packets were paced.
    pub pacing: Pacing,
    /// Why its bucket is as deep as it is, where the pacer's policy adapts it.
    pub bucket: Option<BucketChange>,
    /// All of its packets, on the wire, without repair packets.
    pub size: Bytes,
    /// How many packets, without repair packets. Any so many make it whole.
    pub packets: u32,
    /// First departure of its packets, probes aside.
    pub first_sent: Option<Time>,
    /// Last departure.
    pub last_sent: Option<Time>,
    /// First arrival, on the receiver's clock.
    pub first_arrival: Option<PeerTime>,
    /// Last arrival.
    pub last_arrival: Option<PeerTime>,
    /// Packets that arrived, repair packets among them, each counted once.
    pub arrived: u32,
    /// Packets declared lost, retransmissions included.
    pub lost: u32,
    /// Packets sent again, and repair packets in place of them.
    pub retransmitted: u32,
    /// How it ended; `None` while it is on its way.
    pub end: Option<FrameEnd>,
    /// What went with it, where repair packets may.
    pub protection: Option<FrameProtection>,
}

impl FrameLife {
    /// From hand-over to the acknowledgement of the last packet: the *frame
    /// delay* of the Pudica paper, section 5.1. `None` unless acknowledged.
    #[must_use]
    pub fn delay(&self) -> Option<TimeDelta> {
        match self.end? {
            FrameEnd::Acknowledged(at) => Some(at.since(self.handed_over)),
            FrameEnd::GivenUp => None,
        }
    }
}
