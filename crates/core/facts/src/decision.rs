//! What a controller wants done.

use mimosa_units::{Bytes, Rate, TimeDelta};

use crate::cause::Cause;
use crate::event::FrameId;

/// A controller's whole output; it stands until the next one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// Target bitrate for the encoder.
    pub target: Rate,
    /// Size limit of the frame last asked for by `FrameDue`, where it differs
    /// from `target` over the frame interval. Zero: skip this frame.
    pub frame_limit: Option<Bytes>,
    /// How packets leave from now on; a frame already being sent keeps its pace.
    pub pacing: Pacing,
    /// Probes to send. An `id` that was seen before asks for nothing new.
    pub probe: Option<Probe>,
    /// Data allowed in flight, for algorithms that have a window.
    pub window: Option<Bytes>,
    /// The rule that set `target`, or `frame_limit` where there is one.
    pub cause: Cause,
    /// What that rule saw.
    pub evidence: Evidence,
}

impl Decision {
    /// A decision to begin with: `target`, sent frame by frame in one burst.
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
    /// As soon as they are there.
    Burst,
    /// Each frame evenly over this span from its hand-over, shared out in
    /// proportion to the packets' sizes.
    Spread {
        /// The paper's `L / rho` for a pace multiplier `rho`.
        over: TimeDelta,
        /// The first so many packets leave together, and the next one when it would have
        /// anyway. From the gaps in which such a train arrives comes the rate of the
        /// bottleneck itself, whoever else uses it. Zero and one are the same.
        lead: u16,
    },
    /// A bucket that leaks at `rate` and takes `burst` before it makes wait.
    Bucket {
        /// The rate at which packets leave in the long run.
        rate: Rate,
        /// What may leave at once after a rest; zero spaces every packet.
        burst: Bytes,
    },
}

/// A group of packets without payload, sent to learn from their arrival.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Probe {
    /// Tells this group from the ones before.
    pub id: u64,
    /// How many packets.
    pub packets: u16,
    /// The time between them, and between `start` and the first.
    pub interval: TimeDelta,
    /// The size of each; `None` for the smallest packet there is.
    pub size: Option<Bytes>,
    /// When the group begins.
    pub start: ProbeStart,
}

/// When a group of probes begins.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ProbeStart {
    /// When the last packet of this frame has left. The next frame ends the
    /// group, sent or not: probes never delay a picture.
    AfterFrame(FrameId),
    /// At once.
    Now,
}

/// What a controller believed when it decided, in terms that mean the same for
/// every algorithm. `None` where an algorithm has no such notion, or not yet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Share of the bottleneck in use, from the newest sample; above one when
    /// a queue stood at the end of the interval.
    pub utilization: Option<f64>,
    /// The same, smoothed.
    pub smoothed_utilization: Option<f64>,
    /// Rate at which the bottleneck serves this flow.
    pub service_rate: Option<Rate>,
    /// Own data thought to be queued in the network.
    pub backlog: Option<Bytes>,
    /// Delay above the smallest seen, of the newest packet.
    pub queue_delay: Option<TimeDelta>,
}

impl Evidence {
    /// Nothing seen yet.
    pub const NONE: Self = Self {
        utilization: None,
        smoothed_utilization: None,
        service_rate: None,
        backlog: None,
        queue_delay: None,
    };
}
