//! The columns of a frame's life at the sender, which all recordings of frames
//! share.

use mimosa_facts::{FrameEnd, FrameLife, Pacing};
use mimosa_units::PeerTime;

use crate::column::{Column, bps, bytes, count, nanos, span};

/// A row about a frame. The trait is public only because the columns are.
pub trait HasLife: 'static {
    /// The frame's life at the sender.
    fn life(&self) -> &FrameLife;
}

impl<R: HasLife> Column<R> {
    /// The columns about repair packets.
    pub(crate) const PROTECTION: &'static [Self] = &[
        Column::optional(
            "repairs",
            "Repair packets handed over with it; null where there may be none.",
            |row| Some(i64::from(row.life().protection?.repairs)),
        ),
        Column::optional(
            "repaired",
            "Media packets that they stood for in the end.",
            |row| Some(i64::from(row.life().protection?.repaired)),
        ),
        Column::optional(
            "rounds",
            "Rounds of retransmission thought to fit before its deadline.",
            |row| Some(i64::from(row.life().protection?.rounds)),
        ),
        Column::number(
            "loss",
            "Share of packets thought to be lost when it was handed over.",
            |row| Some(row.life().protection?.loss.rate()),
        ),
        Column::number(
            "loss_burst",
            "Mean number of packets thought to be lost in a row.",
            |row| Some(row.life().protection?.loss.burst()),
        ),
        Column::number(
            "planned_late",
            "Probability that it is late for a loss, as planned.",
            |row| Some(row.life().protection?.late),
        ),
    ];

    pub(crate) const LIFE: &'static [Self] = &[
        Column::integer(
            "frame",
            "Number of the frame in its flow, from zero; skipped frames are missing.",
            |row| count(row.life().frame.0),
        ),
        Column::integer("due_ns", "When the encoder asked for it.", |row| {
            nanos(row.life().due)
        }),
        Column::integer(
            "handed_over_ns",
            "When it was handed over to the pacer.",
            |row| nanos(row.life().handed_over),
        ),
        Column::optional(
            "first_sent_ns",
            "First departure of its packets; null when none left.",
            |row| row.life().first_sent.map(nanos),
        ),
        Column::optional(
            "last_sent_ns",
            "Last departure of its packets, retransmissions included.",
            |row| row.life().last_sent.map(nanos),
        ),
        Column::optional(
            "first_arrival_ns",
            "First arrival, on the receiver's clock; null when none is known.",
            |row| row.life().first_arrival.map(PeerTime::as_nanos),
        ),
        Column::optional(
            "last_arrival_ns",
            "Last arrival, on the receiver's clock.",
            |row| row.life().last_arrival.map(PeerTime::as_nanos),
        ),
        Column::optional(
            "acknowledged_ns",
            "When the sender held the acknowledgement of all of its packets.",
            |row| match row.life().end {
                Some(FrameEnd::Acknowledged(at)) => Some(nanos(at)),
                Some(FrameEnd::GivenUp) | None => None,
            },
        ),
        Column::optional(
            "delay_ns",
            "Frame delay: `acknowledged_ns` less `handed_over_ns`.",
            |row| row.life().delay().map(span),
        ),
        Column::integer(
            "size_bytes",
            "All of its packets on the wire, each once.",
            |row| bytes(row.life().size),
        ),
        Column::integer("packets", "How many packets it makes.", |row| {
            i64::from(row.life().packets)
        }),
        Column::integer(
            "arrived",
            "Packets known to have arrived, each once.",
            |row| i64::from(row.life().arrived),
        ),
        Column::integer(
            "lost",
            "Packets declared lost, retransmissions included.",
            |row| i64::from(row.life().lost),
        ),
        Column::integer("retransmitted", "Packets sent again.", |row| {
            i64::from(row.life().retransmitted)
        }),
        Column::integer(
            "target_bps",
            "Bitrate that the controller wanted when the frame was due.",
            |row| bps(row.life().decision.target),
        ),
        Column::optional(
            "limit_bytes",
            "Size limit of this frame alone; null where the bitrate sets it.",
            |row| row.life().decision.frame_limit.map(bytes),
        ),
        Column::integer(
            "allowed_bytes",
            "Most that it might have: its limit or its share of the bitrate, and what earlier frames left.",
            |row| bytes(row.life().allowed),
        ),
        Column::text(
            "pacing",
            "How its packets left: `burst`, `spread` or `bucket`.",
            |row| match row.life().pacing {
                Pacing::Burst => "burst",
                Pacing::Spread { .. } => "spread",
                Pacing::Bucket { .. } => "bucket",
            },
        ),
        Column::optional(
            "pace_span_ns",
            "Span that a `spread` frame is spread over.",
            |row| match row.life().pacing {
                Pacing::Spread { over, .. } => Some(span(over)),
                Pacing::Burst | Pacing::Bucket { .. } => None,
            },
        ),
        Column::optional(
            "pace_lead",
            "Packets of a `spread` frame that left together at its start.",
            |row| match row.life().pacing {
                Pacing::Spread { lead, .. } => Some(i64::from(lead)),
                Pacing::Burst | Pacing::Bucket { .. } => None,
            },
        ),
        Column::optional(
            "pace_bps",
            "Rate at which a `bucket` leaks.",
            |row| match row.life().pacing {
                Pacing::Bucket { rate, .. } => Some(bps(rate)),
                Pacing::Burst | Pacing::Spread { .. } => None,
            },
        ),
        Column::text(
            "cause",
            "The rule that set `limit_bytes`, or `target_bps` where that is null.",
            |row| row.life().decision.cause.as_str(),
        ),
        Column::number(
            "utilization",
            "Share of the bottleneck in use, from the newest sample.",
            |row| row.life().decision.evidence.utilization,
        ),
        Column::number("smoothed_utilization", "The same, smoothed.", |row| {
            row.life().decision.evidence.smoothed_utilization
        }),
        Column::optional(
            "service_rate_bps",
            "Rate at which the bottleneck serves this flow, as the controller sees it.",
            |row| row.life().decision.evidence.service_rate.map(bps),
        ),
        Column::optional(
            "backlog_bytes",
            "Own data in the network's queues, as the controller sees it.",
            |row| row.life().decision.evidence.backlog.map(bytes),
        ),
        Column::optional(
            "queue_delay_ns",
            "Delay above the smallest, of the newest packet the controller knows of.",
            |row| row.life().decision.evidence.queue_delay.map(span),
        ),
        Column::text(
            "end",
            "How it ended: `acknowledged`, `given-up`, or `open` when the run ended first.",
            |row| match row.life().end {
                Some(FrameEnd::Acknowledged(_)) => "acknowledged",
                Some(FrameEnd::GivenUp) => "given-up",
                None => "open",
            },
        ),
    ];
}
