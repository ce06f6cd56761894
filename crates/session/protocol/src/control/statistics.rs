//! The statistics that the host sends about a session. What is not known is `None`.

use serde::{Deserialize, Serialize};

use super::{BitsPerSecond, FeedbackKind, Millis, Sound};

/// The present state of a session. Counts run from its start.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Statistics {
    /// Time since the session's start.
    pub time: Millis,
    /// How arrivals are reported.
    pub feedback: FeedbackKind,
    /// Number of reports of arrivals that have come.
    #[serde(default)]
    pub reports: u64,
    /// Numbers of frames by how far they came.
    pub frames: Frames,
    /// The controller's target.
    pub target: Option<BitsPerSecond>,
    /// Bitrate of the video, headers included, over the last second.
    pub bitrate: Option<BitsPerSecond>,
    /// The most that picture and sound may take, as the page asked; `None` without a limit, and from a
    /// host that knows none.
    #[serde(default)]
    pub limit: Option<BitsPerSecond>,
    /// The controller's newest sample of the link's utilisation, as a share; above 1 while a queue
    /// grows.
    pub utilisation: Option<f64>,
    /// The controller's state, in a word.
    pub state: Option<String>,
    /// Name of the decision's cause.
    pub cause: Option<String>,
    /// The rest of the controller's decision, and the evidence for it.
    #[serde(default)]
    pub decision: Decided,
    /// What the stream is spared because a processor cannot keep up, and why, as a sentence; `None`
    /// if nothing is.
    #[serde(default)]
    pub relief: Option<String>,
    /// Percentiles of the frame delay over the last ten seconds.
    pub delay: Delay,
    /// Number of frames that were delayed by more than 100 ms or given up, since the session's
    /// start.
    pub stalls: Option<u64>,
    /// Share of packets lost over the last ten seconds, from 0 to 1.
    pub loss: Option<f64>,
    /// Number of packets sent again.
    pub retransmissions: u64,
    /// Newest round-trip time.
    pub rtt: Option<Millis>,
    /// Mean quantiser of the newest frame.
    pub quantiser: Option<f64>,
    /// Number of viewers.
    pub viewers: u32,
    /// How long each stage of a frame's way takes.
    pub stages: Stages,
    /// The sound as it is sent; `None` without sound.
    #[serde(default)]
    pub sound: Option<Sound>,
    /// What troubles the stream most; `None` if nothing does, or from a host that does not say.
    #[serde(default)]
    pub why: Option<Trouble>,
    /// The next point of the page's graph.
    pub point: Point,
}

/// What troubles a stream.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Trouble {
    /// Name of the cause.
    pub cause: String,
    /// `note`, `trouble` or `serious`.
    pub severity: String,
    /// The cause in a plain sentence with its evidence.
    pub words: String,
}

/// The controller's standing decision, and the evidence for it. A field is also `None` where the
/// controller has no such quantity.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct Decided {
    /// The cause, as a clause in words.
    pub reason: Option<String>,
    /// The link's utilisation as a share, smoothed.
    pub smoothed_utilisation: Option<f64>,
    /// The rate at which the bottleneck serves this stream.
    pub service_rate: Option<BitsPerSecond>,
    /// The stream's own data in the network's queues, in bytes.
    pub backlog: Option<u64>,
    /// The newest packet's delay above the smallest.
    pub queue_delay: Option<Millis>,
    /// Size limit of the newest frame alone, in bytes.
    pub frame_limit: Option<u64>,
    /// Data allowed in flight, in bytes.
    pub window: Option<u64>,
    /// The kind of pacing in force.
    pub pacing: Option<Pacing>,
    /// Time over which a frame is spread.
    pub pace_span: Option<Millis>,
    /// The rate at which the token bucket drains.
    pub pace_rate: Option<BitsPerSecond>,
    /// Depth of the token bucket, in bytes.
    pub pace_burst: Option<u64>,
}

/// A kind of pacing.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Pacing {
    /// Packets leave as soon as they are there.
    Burst,
    /// The packets of each frame leave evenly over a time span.
    Spread,
    /// Packets leave through a token bucket.
    Bucket,
}

/// Numbers of frames by how far they came.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Frames {
    /// Pictures taken from the source.
    pub captured: u64,
    /// Frames encoded.
    pub encoded: u64,
    /// Pictures not encoded, because the controller or the encoder had no room.
    pub skipped: u64,
    /// Frames that arrived whole.
    pub acknowledged: Option<u64>,
    /// Frames that the page handed to its compositor.
    pub shown: Option<u64>,
    /// Keyframes encoded.
    pub keyframes: u64,
}

/// Percentiles of the frame delay: from handing a frame to the pacer to the acknowledgement of its
/// last packet.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Delay {
    /// The median.
    pub p50: Option<Millis>,
    /// The 95th percentile.
    pub p95: Option<Millis>,
    /// The 99th percentile.
    pub p99: Option<Millis>,
}

/// The stages of a frame's way, as medians over the last second, rounded so that the parts add up
/// to the total.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Stages {
    /// Time from the capture to the start of encoding.
    pub capture: Option<Millis>,
    /// Duration of encoding.
    pub encode: Option<Millis>,
    /// Time from the end of encoding until the last packet has left.
    pub pace: Option<Millis>,
    /// Time from the departure of the last packet to its arrival.
    pub network: Option<Millis>,
    /// Duration of decoding.
    pub decode: Option<Millis>,
    /// Time from the end of decoding until the frame is on the screen.
    pub present: Option<Millis>,
    /// Time from the capture until the frame is on the screen.
    pub total: Option<Millis>,
}

/// A point of the page's graph.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Point {
    /// The controller's target.
    pub target: Option<BitsPerSecond>,
    /// Longest frame delay since the point before.
    pub delay: Option<Millis>,
}
