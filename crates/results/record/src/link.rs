//! The columns of a packet's passage through a link.

use mimosa_facts::{Fate, LinkPacket, Passage};
use mimosa_units::Ecn;

use crate::column::{Column, Row, bytes, nanos, span};

/// The names of a link's queues, in the order of their numbers.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Queues {
    /// Names of the queues from the sender's side to the receiver's.
    pub forward: Vec<String>,
    /// Names of the queues from the receiver's side to the sender's.
    pub reverse: Vec<String>,
}

impl Queues {
    /// Keys of the names in a file's metadata, with one name on each line.
    pub(crate) const KEYS: [&str; 2] = ["queues.forward", "queues.reverse"];

    /// Names of the queues of one direction.
    #[must_use]
    pub fn of(&self, is_forward: bool) -> &[String] {
        if is_forward {
            &self.forward
        } else {
            &self.reverse
        }
    }
}

/// The ECN fields, and their names in recordings.
pub(crate) const ECN: [(Ecn, &str); 4] = [
    (Ecn::NotEct, "not-ect"),
    (Ecn::Ect0, "ect0"),
    (Ecn::Ect1, "ect1"),
    (Ecn::Ce, "ce"),
];

/// The name of an ECN field.
pub(crate) const fn ecn(ecn: Ecn) -> &'static str {
    match ecn {
        Ecn::NotEct => "not-ect",
        Ecn::Ect0 => "ect0",
        Ecn::Ect1 => "ect1",
        Ecn::Ce => "ce",
    }
}

impl Row for Passage<LinkPacket> {
    const NAME: &'static str = "link";

    const COLUMNS: &'static [&'static [Column<Self>]] = &[
        &[
            Column::flag(
                "forward",
                "Whether it goes from the sender's side to the receiver's.",
                |packet| packet.packet.is_forward,
            ),
            Column::integer(
                "protocol",
                "IANA's number of what is above IP: 6 for TCP, 17 for UDP.",
                |packet| i64::from(packet.packet.header.protocol),
            ),
            Column::address("source", "Address of its sender.", |packet| {
                packet.packet.header.source
            }),
            Column::address("destination", "Address of its receiver.", |packet| {
                packet.packet.header.destination
            }),
            Column::integer(
                "source_port",
                "Port of its sender; zero where the protocol has none, or in a fragment.",
                |packet| i64::from(packet.packet.header.source_port),
            ),
            Column::integer(
                "destination_port",
                "Port of its receiver; likewise.",
                |packet| i64::from(packet.packet.header.destination_port),
            ),
            Column::integer(
                "dscp",
                "Differentiated services code point, 0 to 63.",
                |packet| i64::from(packet.packet.header.dscp),
            ),
            Column::optional(
                "rtp_ssrc",
                "Its stream, where it looks like RTP.",
                |packet| packet.packet.rtp.map(|rtp| i64::from(rtp.ssrc)),
            ),
            Column::optional(
                "rtp_sequence",
                "Its number in that stream, which wraps at 65536.",
                |packet| packet.packet.rtp.map(|rtp| i64::from(rtp.sequence)),
            ),
            Column::integer("size_bytes", "Size, IP header included.", |packet| {
                bytes(packet.size)
            }),
        ],
        WAY,
    ];
}

/// The columns about what happened to the packet.
const WAY: &[Column<Passage<LinkPacket>>] = &[
    Column::text(
        "ecn_in",
        "ECN field as it came: `not-ect`, `ect0`, `ect1` or `ce`.",
        |packet| ecn(packet.sent_ecn),
    ),
    Column::text("ecn_out", "ECN field behind the queue.", |packet| {
        ecn(packet.ecn)
    }),
    Column::queue("queue", "Name of its queue.", |packet| {
        (packet.packet.is_forward, packet.packet.queue)
    }),
    Column::integer(
        "backlog_bytes",
        "Bytes that it found in the queue.",
        |packet| bytes(packet.packet.backlog),
    ),
    Column::integer(
        "offered_ns",
        "When it was offered to the queue.",
        |packet| nanos(packet.offered),
    ),
    Column::optional(
        "started_ns",
        "First bit on the link; null when it never left the queue.",
        |packet| packet.started.map(nanos),
    ),
    Column::optional(
        "finished_ns",
        "Last bit on the link; null when it never left the queue.",
        |packet| packet.finished.map(nanos),
    ),
    Column::optional(
        "due_ns",
        "When it is due at the other end; null when it never is.",
        |packet| packet.fate.arrival().map(nanos),
    ),
    Column::optional(
        "queue_delay_ns",
        "Wait in the queue: `started_ns` less `offered_ns`.",
        |packet| packet.started.map(|at| span(at.since(packet.offered))),
    ),
    Column::text(
        "fate",
        "What became of it: `due`, `dropped` by the queue or `lost` on the path.",
        |packet| match packet.fate {
            Fate::Arrived(_) => "due",
            Fate::Dropped => "dropped",
            Fate::Lost => "lost",
        },
    ),
];
