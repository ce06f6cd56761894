//! What a controller decides.

use mimosa_units::{Bytes, Rate, TimeDelta};

use crate::cause::Cause;
use crate::event::FrameId;

/// A controller's whole output, which is valid until the next one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// Target bitrate for the encoder.
    pub target: Rate,
    /// Size limit of the frame of the last `FrameDue`, if it differs from `target` times the frame
    /// interval. Zero means that the frame is skipped.
    pub frame_limit: Option<Bytes>,
    /// How packets leave from now on. A frame that is already being sent keeps its pacing.
    pub pacing: Pacing,
    /// Probes to send. A probe with an `id` that was seen before is not sent again.
    pub probe: Option<Probe>,
    /// Bytes allowed in flight, for algorithms that have a window.
    pub window: Option<Bytes>,
    /// The rule that set `target`, or `frame_limit` if there is one.
    pub cause: Cause,
    /// The measurements that the rule used.
    pub evidence: Evidence,
}

impl Decision {
    /// An initial decision: the rate `target`, and each frame sent in one burst.
    #[must_use]
    pub const fn starting_at(target: Rate) -> Self {
        Self {
            target,
            frame_limit: None,
            pacing: Pacing::Burst,
            probe: None,
            window: None,
            cause: Cause::Start,
            evidence: Evidence::NONE,
        }
    }
}

/// How packets leave the sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pacing {
    /// Packets leave as soon as they are there.
    Burst,
    /// The packets of each frame leave evenly over a time span from the frame's hand-over, in
    /// proportion to their sizes.
    Spread {
        /// The time span, `L / rho` in the Pudica paper for a pace multiplier `rho`.
        over: TimeDelta,
        /// Number of packets at the head of the frame that leave together; the next packet leaves
        /// when it would have anyway. The gaps between the arrivals of such a train show the
        /// bottleneck's own rate, whoever else uses it. Zero means the same as one.
        lead: u16,
    },
    /// Packets leave through a token bucket, which drains at `rate` and has room for `burst`.
    Bucket {
        /// The rate at which packets leave in the long run.
        rate: Rate,
        /// Bytes that may leave at once after a pause. With zero, all packets are spaced.
        burst: Bytes,
    },
}

/// A group of packets without payload, sent to learn from their arrival.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Probe {
    /// Number that distinguishes this group from earlier ones.
    pub id: u64,
    /// Number of packets in the group.
    pub packets: u16,
    /// Time between the packets, and between `start` and the first.
    pub interval: TimeDelta,
    /// Size of each packet; `None` for the smallest possible.
    pub size: Option<Bytes>,
    /// When the first interval of the group begins.
    pub start: ProbeStart,
}

/// When a group of probe packets begins.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ProbeStart {
    /// When the last packet of this frame has left. The next frame ends the group, whether or not
    /// all of it was sent: probes never delay a frame.
    AfterFrame(FrameId),
    /// Immediately.
    Now,
}

/// A controller's measurements at the time of a decision, in terms with the same meaning for all
/// algorithms. A field is `None` if the algorithm has no such quantity, or not yet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Share of the bottleneck in use, from the newest sample; above 1 if a queue remained at the
    /// end of the interval.
    pub utilization: Option<f64>,
    /// Share of the bottleneck in use, smoothed.
    pub smoothed_utilization: Option<f64>,
    /// Rate at which the bottleneck serves this flow.
    pub service_rate: Option<Rate>,
    /// Estimate of the flow's own bytes in the network's queues.
    pub backlog: Option<Bytes>,
    /// The newest packet's delay above the smallest delay measured.
    pub queue_delay: Option<TimeDelta>,
}

impl Evidence {
    /// The evidence before any measurement.
    pub const NONE: Self = Self {
        utilization: None,
        smoothed_utilization: None,
        service_rate: None,
        backlog: None,
        queue_delay: None,
    };
}
