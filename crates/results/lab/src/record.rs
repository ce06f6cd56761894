//! What is kept of one run.

use serde::{Deserialize, Serialize};

use crate::trace::Trace;

/// Which run it is.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Key {
    /// The case's name.
    pub case: String,
    /// The variant of its scenario.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The controller of the video flows that name none.
    pub controller: String,
    /// The seed.
    pub seed: u64,
}

/// The figures of one run. `None` where there was nothing to measure.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Record {
    /// Which run.
    #[serde(flatten)]
    pub key: Key,
    /// The video flows.
    pub flows: Vec<FlowRecord>,
    /// All TCP flows together.
    pub tcp: Option<TcpRecord>,
    /// The bottleneck.
    pub link: LinkRecord,
    /// Jain's index over the video flows' throughput in the part that counts for fairness.
    pub jain: Option<f64>,
    /// One for each change of the link or of who uses it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub converged: Vec<Converged>,
    /// The run over time, where figures are drawn of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
}

/// The figures of one video flow.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct FlowRecord {
    /// Its name in the scenario.
    pub name: String,
    /// Its controller.
    pub controller: String,
    /// From hand-over to the acknowledgement of the last packet.
    pub frame_delay_ms: Option<Delays>,
    /// The median of the same.
    pub frame_delay_p50_ms: Option<f64>,
    /// Share of frames that took longer than the round trip and what the case allows.
    pub late: Option<f64>,
    /// From departure to arrival.
    pub packet_delay_ms: Option<Delays>,
    /// Share of frames above 50 ms.
    pub stall_50ms: Option<f64>,
    /// Share of frames above 100 ms.
    pub stall_100ms: Option<f64>,
    /// Share of frames above 200 ms.
    pub stall_200ms: Option<f64>,
    /// Mean bitrate of the frames.
    pub bitrate_mbps: Option<f64>,
    /// The same, of the frames under 50 ms.
    pub valid_bitrate_mbps: Option<f64>,
    /// What arrived, headers and probes included.
    pub throughput_mbps: f64,
    /// Share of packets that were dropped or lost.
    pub loss_rate: Option<f64>,
    /// Standard deviation over mean of what was sent in each 200 ms.
    pub rate_variation: Option<f64>,
    /// Turns of the sending rate, in means of a second, by more than a tenth of its mean.
    pub turns_per_minute: Option<f64>,
    /// Mean size of these swings, over the mean rate.
    pub swing: Option<f64>,
    /// Share of frames not whole at the receiver by the deadline that the scenario has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub past_deadline: Option<f64>,
    /// Repair and retransmitted bytes over those of media, there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead: Option<f64>,
    /// What arrived in each second of the whole run, in kbit/s.
    pub arrived_kbps: Vec<u64>,
}

/// The figures of all TCP flows.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct TcpRecord {
    /// What arrived of them in the part that counts.
    pub throughput_mbps: f64,
    /// Standard deviation over mean of what was sent in each 200 ms.
    pub rate_variation: Option<f64>,
    /// Share of packets that were dropped or lost.
    pub loss_rate: Option<f64>,
}

/// Delays in milliseconds; percentiles are nearest ranks.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Delays {
    /// Arithmetic mean.
    pub mean: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// The worst.
    pub max: f64,
}

/// The figures of the bottleneck.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct LinkRecord {
    /// Share of what could have passed that did.
    pub utilization: Option<f64>,
    /// Waiting in the queue, of packets that passed.
    pub queue_delay_ms: Option<Delays>,
}

/// How soon after a change the video flows were where they belong.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Converged {
    /// When the link or who uses it changed.
    pub at_s: f64,
    /// Until each had its equal share, within a fifth; `None` if not before the next change.
    pub share_s: Option<f64>,
    /// Until the least had four fifths of the most; `None` as there, and for one flow alone.
    pub even_s: Option<f64>,
    /// How many video flows there were.
    pub flows: usize,
}
