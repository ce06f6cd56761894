//! The columns of frames.

use mimosa_facts::{FrameLife, Pacing};

use crate::column::{Column, Row, bps, bytes, span};
use crate::life::HasLife;

/// The life of a frame, and the flow of the frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameRow {
    /// Number of the flow, from zero in the order of the scenario.
    pub flow: usize,
    /// The frame's life.
    pub life: FrameLife,
}

impl HasLife for FrameRow {
    fn life(&self) -> &FrameLife {
        &self.life
    }
}

impl Row for FrameRow {
    const NAME: &'static str = "frames";

    const COLUMNS: &'static [&'static [Column<Self>]] = &[
        &[Column::SEED, Column::VARIANT, Column::flow(|row| row.flow)],
        Column::LIFE,
        BUCKET,
        Column::PROTECTION,
    ];
}

/// The columns about the pacer's bucket.
const BUCKET: &[Column<FrameRow>] = &[
    Column::optional(
        "pace_burst_bytes",
        "What a `bucket` lets through at once, when the frame was handed over.",
        |row| match row.life.pacing {
            Pacing::Bucket { burst, .. } => Some(bytes(burst)),
            Pacing::Burst | Pacing::Spread { .. } => None,
        },
    ),
    Column::text(
        "bucket_cause",
        "The rule that set `pace_burst_bytes`; empty where the pacer does not adapt it.",
        |row| row.life.bucket.map_or("", |bucket| bucket.cause.as_str()),
    ),
    Column::optional(
        "bucket_queue_bytes",
        "The network's queue as that rule saw it.",
        |row| row.life.bucket?.queue.map(bytes),
    ),
    Column::optional("bucket_queue_delay_ns", "The delay of that queue.", |row| {
        row.life.bucket?.queue_delay.map(span)
    }),
    Column::optional(
        "bucket_capacity_bps",
        "What the bottleneck carries, as that rule saw it.",
        |row| Some(bps(row.life.bucket?.capacity)),
    ),
];
