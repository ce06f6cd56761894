//! One packet's way through a link.

use mimosa_net::Header;
use mimosa_units::{Bytes, Ecn, Time};

use crate::column::{Column, Row, bytes, nanos, span};

/// One packet's way through a link: one direction's queue, its serialisation and
/// its path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LinkPacket {
    /// Whether it goes from the sender's side to the receiver's.
    pub is_forward: bool,
    /// Who sends it to whom.
    pub header: Header,
    /// Its size, IP header included.
    pub size: Bytes,
    /// Its ECN field as it came.
    pub ecn_in: Ecn,
    /// As it left the queue.
    pub ecn_out: Ecn,
    /// When it was offered to the queue.
    pub offered: Time,
    /// When it left the queue: its first bit on the link. `None` if it never did.
    pub started: Option<Time>,
    /// Its last bit on the link.
    pub finished: Option<Time>,
    /// What became of it.
    pub fate: LinkFate,
    /// The number of its queue, counted from zero among those of its direction; one
    /// beyond them all has no name.
    pub queue: usize,
    /// Bytes that it found in the queue.
    pub backlog: Bytes,
    /// What RTP's header says, where it looks like RTP.
    pub rtp: Option<Rtp>,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LinkFate {
    /// It is due at the other end at this time.
    Due(Time),
    /// The queue gave it up.
    Dropped,
    /// It was lost on the path.
    Lost,
}

/// What RTP's header says, which SRTP leaves in the clear (RFC 3711, section 3.1).
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Rtp {
    /// Synchronisation source: one stream.
    pub ssrc: u32,
    /// Sequence number in it.
    pub sequence: u16,
}

/// The names of a link's queues.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Queues {
    /// Of those from the sender's side to the receiver's.
    pub forward: Vec<String>,
    /// Of those the other way.
    pub reverse: Vec<String>,
}

impl Queues {
    /// Where a file's metadata has them, one name on each line.
    pub(crate) const KEYS: [&str; 2] = ["queues.forward", "queues.reverse"];

    /// Those of one direction.
    #[must_use]
    pub fn of(&self, is_forward: bool) -> &[String] {
        if is_forward {
            &self.forward
        } else {
            &self.reverse
        }
    }
}

/// ECN fields as recordings name them.
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

impl Row for LinkPacket {
    const NAME: &'static str = "link";

    const COLUMNS: &'static [&'static [Column<Self>]] = &[
        &[
            Column::flag(
                "forward",
                "Whether it goes from the sender's side to the receiver's.",
                |packet| packet.is_forward,
            ),
            Column::integer(
                "protocol",
                "IANA's number of what is above IP: 6 for TCP, 17 for UDP.",
                |packet| i64::from(packet.header.protocol),
            ),
            Column::address("source", "Address of its sender.", |packet| {
                packet.header.source
            }),
            Column::address("destination", "Address of its receiver.", |packet| {
                packet.header.destination
            }),
            Column::integer(
                "source_port",
                "Port of its sender; zero where the protocol has none, or in a fragment.",
                |packet| i64::from(packet.header.source_port),
            ),
            Column::integer(
                "destination_port",
                "Port of its receiver; likewise.",
                |packet| i64::from(packet.header.destination_port),
            ),
            Column::integer(
                "dscp",
                "Differentiated services code point, 0 to 63.",
                |packet| i64::from(packet.header.dscp),
            ),
            Column::optional(
                "rtp_ssrc",
                "Its stream, where it looks like RTP.",
                |packet| packet.rtp.map(|rtp| i64::from(rtp.ssrc)),
            ),
            Column::optional(
                "rtp_sequence",
                "Its number in that stream, which wraps at 65536.",
                |packet| packet.rtp.map(|rtp| i64::from(rtp.sequence)),
            ),
            Column::integer("size_bytes", "Size, IP header included.", |packet| {
                bytes(packet.size)
            }),
        ],
        WAY,
    ];
}

/// The columns of what happened to it.
const WAY: &[Column<LinkPacket>] = &[
    Column::text(
        "ecn_in",
        "ECN field as it came: `not-ect`, `ect0`, `ect1` or `ce`.",
        |packet| ecn(packet.ecn_in),
    ),
    Column::text("ecn_out", "ECN field behind the queue.", |packet| {
        ecn(packet.ecn_out)
    }),
    Column::queue("queue", "Name of its queue.", |packet| {
        (packet.is_forward, packet.queue)
    }),
    Column::integer(
        "backlog_bytes",
        "Bytes that it found in the queue.",
        |packet| bytes(packet.backlog),
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
        |packet| match packet.fate {
            LinkFate::Due(at) => Some(nanos(at)),
            LinkFate::Dropped | LinkFate::Lost => None,
        },
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
            LinkFate::Due(_) => "due",
            LinkFate::Dropped => "dropped",
            LinkFate::Lost => "lost",
        },
    ),
];
