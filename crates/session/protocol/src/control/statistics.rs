//! What the host tells of a session. `None` is what is not known.

use serde::{Deserialize, Serialize};

use super::{BitsPerSecond, FeedbackKind, Millis, Sound};

/// A session as it stands. Counts run from its start.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Statistics {
    /// Since the session's start.
    pub time: Millis,
    /// What is used of the transport-wide feedback.
    pub feedback: FeedbackKind,
    /// How many frames got how far.
    pub frames: Frames,
    /// What the controller allows.
    pub target: Option<BitsPerSecond>,
    /// What is sent.
    pub bitrate: Option<BitsPerSecond>,
    /// The controller's newest sample of how much of the link is in use, one for all.
    pub utilisation: Option<f64>,
    /// The controller's state.
    pub state: Option<String>,
    /// Why the target is what it is.
    pub cause: Option<String>,
    /// What it has decided besides, and what it saw.
    #[serde(default)]
    pub decision: Decided,
    /// Of frames, over the last ten seconds.
    pub delay: Delay,
    /// Frames delayed by more than 100 ms, over the last ten seconds.
    pub stalls: Option<u64>,
    /// Share of packets lost, one for all.
    pub loss: Option<f64>,
    /// Packets sent again.
    pub retransmissions: u64,
    /// Round trip.
    pub rtt: Option<Millis>,
    /// The encoder's, averaged over the picture.
    pub quantiser: Option<f64>,
    /// How many watch beside the player.
    pub viewers: u32,
    /// Where the time goes.
    pub stages: Stages,
    /// The sound; `None` without.
    #[serde(default)]
    pub sound: Option<Sound>,
    /// The graph's next point.
    pub point: Point,
}

/// The controller's decision that stands, and the evidence for it: `None` also where the
/// controller has no such notion.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct Decided {
    /// The cause as a clause for people.
    pub reason: Option<String>,
    /// The use of the link, smoothed.
    pub smoothed_utilisation: Option<f64>,
    /// What the bottleneck serves of this stream.
    pub service_rate: Option<BitsPerSecond>,
    /// Own data in the network's queues, in bytes.
    pub backlog: Option<u64>,
    /// Delay of the newest packet above the smallest.
    pub queue_delay: Option<Millis>,
    /// Limit of the newest frame alone, in bytes.
    pub frame_limit: Option<u64>,
    /// Data allowed in flight, in bytes.
    pub window: Option<u64>,
    /// How packets leave.
    pub pacing: Option<Pacing>,
    /// Over how long a frame is spread.
    pub pace_span: Option<Millis>,
    /// The rate at which a bucket leaks.
    pub pace_rate: Option<BitsPerSecond>,
    /// What a bucket lets through at once, in bytes.
    pub pace_burst: Option<u64>,
}

/// How packets leave.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Pacing {
    /// As soon as they are there.
    Burst,
    /// Each frame evenly over a span.
    Spread,
    /// Through a bucket that leaks.
    Bucket,
}

/// How many frames got how far.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Frames {
    /// Taken from the source.
    pub captured: u64,
    /// Encoded.
    pub encoded: u64,
    /// Not encoded, because the controller or the encoder had no room.
    pub skipped: u64,
    /// Arrived whole.
    pub acknowledged: Option<u64>,
    /// Handed to the page's compositor.
    pub shown: Option<u64>,
    /// Encoded without reference to others.
    pub keyframes: u64,
}

/// From handing a frame over to the pacer to the acknowledgement of its last packet.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Delay {
    /// Half of the frames took no longer.
    pub p50: Option<Millis>,
    /// 95 of 100.
    pub p95: Option<Millis>,
    /// 99 of 100.
    pub p99: Option<Millis>,
}

/// A frame's way, as medians over the last second, rounded so that the parts add up
/// to the total.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Stages {
    /// From the capture to the start of encoding.
    pub capture: Option<Millis>,
    /// Encoding.
    pub encode: Option<Millis>,
    /// Until the last packet has left.
    pub pace: Option<Millis>,
    /// Until it has arrived.
    pub network: Option<Millis>,
    /// Decoding.
    pub decode: Option<Millis>,
    /// Until it is on the screen.
    pub present: Option<Millis>,
    /// All of it.
    pub total: Option<Millis>,
}

/// A point of the graph.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Point {
    /// What the controller allows now.
    pub target: Option<BitsPerSecond>,
    /// Longest delay of a frame since the last point.
    pub delay: Option<Millis>,
}
