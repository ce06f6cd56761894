//! The figures of a run.
//!
//! Definitions follow the Pudica paper, section 5.1. *Frame delay* runs from
//! the hand-over to the pacer until the sender holds the acknowledgement of the
//! frame's last packet. A *stall* is a frame delay above a threshold; a frame
//! that never completes counts as stalled. *Valid bitrate* counts frames under
//! 50 ms. Percentiles are nearest ranks.

use mimosa_facts::Balance;
use serde::Serialize;

use crate::recovery::RecoveryFigures;

/// The figures of one run. `None` where there was nothing to measure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunFigures {
    /// The figures of each flow, in the order of the scenario.
    pub flows: Vec<FlowFigures>,
    /// The figures of the first link.
    pub link: LinkFigures,
    /// Jain's index over the video flows' throughput: 1 when all are equal. `None` when not
    /// all pass the same links.
    pub jain: Option<f64>,
    /// How often a part of the network acted.
    #[serde(skip)]
    pub steps: u64,
    /// Packets offered, arrived, lost and inside, over the whole run.
    #[serde(skip)]
    pub balance: Balance,
}

/// The figures of one flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowFigures {
    /// The flow's name in the scenario.
    pub name: String,
    /// `video`, `cbr` or `tcp`.
    pub kind: &'static str,
    /// The controller's name; for a TCP flow, the name of its congestion control.
    pub controller: Option<String>,
    /// Frames handed over.
    pub frames: u64,
    /// Frames that completed: the sender holds the acknowledgement of all of their packets.
    pub completed: u64,
    /// Delays of completed frames.
    pub frame_delay_ms: Option<FrameDelays>,
    /// Share of frames above 50 ms.
    pub stall_50ms: Option<f64>,
    /// Share of frames above 100 ms.
    pub stall_100ms: Option<f64>,
    /// Share of frames above 200 ms.
    pub stall_200ms: Option<f64>,
    /// Mean bitrate of the frames.
    pub bitrate_mbps: Option<f64>,
    /// Mean bitrate of the frames under 50 ms.
    pub valid_bitrate_mbps: Option<f64>,
    /// Rate of what arrived, headers and probes included.
    pub throughput_mbps: f64,
    /// Share of packets that were dropped or lost.
    pub loss_rate: Option<f64>,
    /// What was sent back, where reports have bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback: Option<FeedbackFigures>,
    /// How long web pages took, where the flow loads any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<PageFigures>,
    /// How frames fared against their deadline, where the scenario has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery: Option<RecoveryFigures>,
}

/// Reports that a receiver sent, lost ones included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct FeedbackFigures {
    /// Number of datagrams that carried reports.
    pub datagrams: u64,
    /// Size of all these datagrams together, with the headers of IPv4, UDP and SRTCP.
    pub bytes: u64,
}

/// The web pages that a flow loaded.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PageFigures {
    /// Number of pages.
    pub loaded: u64,
    /// Mean time that a page took, in milliseconds.
    pub mean_ms: f64,
    /// Median of that time.
    pub p50_ms: f64,
    /// 95th percentile of that time.
    pub p95_ms: f64,
}

/// Frame delays in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FrameDelays {
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// The longest delay.
    pub max: f64,
}

/// The figures of the first link, and of the packets of all flows, whichever links they pass.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkFigures {
    /// Share of what could have passed that did.
    pub utilization: Option<f64>,
    /// Waiting in the queue, of packets that passed.
    pub queue_delay_ms: Option<QueueDelays>,
    /// Packets offered to a queue, but for reports.
    pub offered: u64,
    /// Offered packets that arrived.
    pub delivered: u64,
    /// Offered packets that were dropped, or lost on the path.
    pub dropped: u64,
    /// Offered packets that were still inside when the run ended.
    pub left: u64,
}

/// Queueing delays in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct QueueDelays {
    /// Arithmetic mean.
    pub mean: f64,
    /// 95th percentile, to three digits.
    pub p95: f64,
    /// 99th percentile, to three digits.
    pub p99: f64,
    /// The longest delay.
    pub max: f64,
}
