//! The figures that are kept of one run.

use serde::{Deserialize, Serialize};

use crate::trace::Trace;

/// Identifies a run.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Key {
    /// Name of the case.
    pub case: String,
    /// Variant of the case's scenario, if it has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The flow beside the stream, if the case has rivals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rival: Option<Rival>,
    /// The controller of the video flows that name none.
    pub controller: String,
    /// Seed of the run.
    pub seed: u64,
}

/// A flow beside the stream of a case with rivals.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Rival {
    /// Name of the flow in the scenario.
    pub flow: String,
    /// Name of the flow's controller, or of its congestion control if it is a TCP flow.
    pub controller: String,
    /// Whether the flow begins before the stream.
    pub is_first: bool,
}

/// The figures of one run. Figures that could not be measured are `None`.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Record {
    /// Identification of the run.
    #[serde(flatten)]
    pub key: Key,
    /// Figures of each video flow.
    pub flows: Vec<FlowRecord>,
    /// Figures of all TCP flows together.
    pub tcp: Option<TcpRecord>,
    /// Figures of the bottleneck.
    pub link: LinkRecord,
    /// Jain's index over the video flows' throughput in the window for fairness.
    pub jain: Option<f64>,
    /// Times to converge, one for each change of the link or of the flows on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub converged: Vec<Converged>,
    /// The run over time, if figures or claims need it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
}

/// The figures of one video flow.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct FlowRecord {
    /// Name of the flow in the scenario.
    pub name: String,
    /// Name of the flow's controller.
    pub controller: String,
    /// Frame delays, from the hand-over to the acknowledgement of the last packet.
    pub frame_delay_ms: Option<Delays>,
    /// Median of the frame delays, in milliseconds.
    pub frame_delay_p50_ms: Option<f64>,
    /// Share of frames that took longer than the round trip and the time that the case allows, from
    /// 0 to 1.
    pub late: Option<f64>,
    /// Delays of packets, from departure to arrival.
    pub packet_delay_ms: Option<Delays>,
    /// Share of frames with a delay of more than 50 ms, from 0 to 1.
    pub stall_50ms: Option<f64>,
    /// Share of frames with a delay of more than 100 ms, from 0 to 1.
    pub stall_100ms: Option<f64>,
    /// Share of frames with a delay of more than 200 ms, from 0 to 1.
    pub stall_200ms: Option<f64>,
    /// Mean bitrate of the frames, in Mbit/s.
    pub bitrate_mbps: Option<f64>,
    /// Mean bitrate of the frames with a delay under 50 ms, in Mbit/s.
    pub valid_bitrate_mbps: Option<f64>,
    /// Rate of what arrived, headers and probes included, in Mbit/s.
    pub throughput_mbps: f64,
    /// Share of packets that were dropped or lost, from 0 to 1.
    pub loss_rate: Option<f64>,
    /// Standard deviation over mean of the bytes sent in each 200 ms.
    pub rate_variation: Option<f64>,
    /// Turns a minute of the sending rate, in means over a second, by more than a tenth of its
    /// mean.
    pub turns_per_minute: Option<f64>,
    /// Mean size of these turns, as a share of the mean rate.
    pub swing: Option<f64>,
    /// Share of frames that were not whole at the receiver by the scenario's deadline, if it has
    /// one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub past_deadline: Option<f64>,
    /// Repair and retransmitted bytes as a share of the media bytes, if there is a deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead: Option<f64>,
    /// The flow's packets in the queue, on a page of kind `matrix` in a case without rivals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueRecord>,
    /// Rate of what arrived in each second of the whole run, in kbit/s.
    pub arrived_kbps: Vec<u64>,
}

/// The figures of all TCP flows.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct TcpRecord {
    /// Rate of what arrived in the window, in Mbit/s.
    pub throughput_mbps: f64,
    /// Standard deviation over mean of the bytes sent in each 200 ms.
    pub rate_variation: Option<f64>,
    /// Share of packets that were dropped or lost, from 0 to 1.
    pub loss_rate: Option<f64>,
}

/// The figures of one flow's packets in the queue of the last link that they passed.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct QueueRecord {
    /// Share of the packets that were sent as ECT(1), which an L4S queue takes, from 0 to 1.
    pub l4s: f64,
    /// Median of the times in the queue of packets that passed it, in milliseconds.
    pub p50_ms: f64,
    /// 99th percentile of these times, in milliseconds.
    pub p99_ms: f64,
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
    /// The longest delay.
    pub max: f64,
}

/// The figures of the bottleneck.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct LinkRecord {
    /// Share of the link's capacity that was used, from 0 to 1.
    pub utilization: Option<f64>,
    /// Time in the queue of packets that passed the link.
    pub queue_delay_ms: Option<Delays>,
}

/// How soon after a change the video flows had their shares.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Converged {
    /// When the link or the flows on it changed, in seconds from the beginning of the run.
    pub at_s: f64,
    /// Seconds until each flow had its share, within a fifth; `None` if not before the next change.
    pub share_s: Option<f64>,
    /// Seconds until the smallest flow had four fifths of the largest; `None` if not before the
    /// next change, and for a single flow.
    pub even_s: Option<f64>,
    /// Number of active video flows.
    pub flows: usize,
}
