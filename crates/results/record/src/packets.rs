//! The columns of packets in a simulation.

use mimosa_facts::{Fate, PacketKind, Passage, StreamPacket};

use crate::column::{Column, Row, bytes, count, nanos, span};
use crate::link::ecn;

impl Row for Passage<StreamPacket> {
    const NAME: &'static str = "packets";

    const COLUMNS: &'static [&'static [Column<Self>]] = &[&[
        Column::SEED,
        Column::VARIANT,
        Column::flow(|packet| packet.packet.flow),
        Column::optional(
            "sequence",
            "Number on the wire, which wraps at 65536; null for cross traffic.",
            |packet| of_video(packet, i64::from(packet.packet.sequence.0)),
        ),
        Column::text(
            "kind",
            "What it carries: `media`, `retransmission`, `probe`, `repair`, or `cross` for cross \
             traffic.",
            |packet| match packet.packet.kind {
                Some(PacketKind::Media) => "media",
                Some(PacketKind::Retransmission) => "retransmission",
                Some(PacketKind::Probe) => "probe",
                Some(PacketKind::Repair) => "repair",
                None => "cross",
            },
        ),
        Column::optional(
            "frame",
            "Its frame, for a probe the frame before; null for cross traffic.",
            |packet| of_video(packet, count(packet.packet.frame)),
        ),
        Column::optional(
            "index",
            "Its place in the frame, from zero, repair packets behind the others; null for probes \
             and cross traffic.",
            |packet| match packet.packet.kind {
                Some(PacketKind::Media | PacketKind::Retransmission | PacketKind::Repair) => {
                    Some(i64::from(packet.packet.index))
                }
                Some(PacketKind::Probe) | None => None,
            },
        ),
        Column::integer("size_bytes", "Size on the wire.", |packet| {
            bytes(packet.size)
        }),
        Column::text("sent_ecn", "ECN field as it left the sender.", |packet| {
            ecn(packet.sent_ecn)
        }),
        Column::text(
            "ecn",
            "ECN field behind the queue: `not-ect`, `ect0`, `ect1` or `ce`.",
            |packet| ecn(packet.ecn),
        ),
        Column::integer(
            "sent_ns",
            "When it left the sender and was offered to the queue.",
            |packet| nanos(packet.offered),
        ),
        Column::optional(
            "started_ns",
            "First bit on the link; null when the queue dropped it.",
            |packet| packet.started.map(nanos),
        ),
        Column::optional(
            "finished_ns",
            "Last bit on the link; null when the queue dropped it.",
            |packet| packet.finished.map(nanos),
        ),
        Column::optional(
            "arrived_ns",
            "When it arrives at the receiver; null when it never does.",
            |packet| packet.fate.arrival().map(nanos),
        ),
        Column::optional(
            "queue_delay_ns",
            "Wait in the queue: `started_ns` less `sent_ns`.",
            |packet| packet.started.map(|at| span(at.since(packet.offered))),
        ),
        Column::text(
            "fate",
            "What became of it: `arrived`, `dropped-by-queue` or `lost-on-path`.",
            |packet| match packet.fate {
                Fate::Arrived(_) => "arrived",
                Fate::Dropped => "dropped-by-queue",
                Fate::Lost => "lost-on-path",
            },
        ),
    ]];
}

/// `value`, unless the packet is cross traffic.
fn of_video(packet: &Passage<StreamPacket>, value: i64) -> Option<i64> {
    packet.packet.kind.map(|_| value)
}
