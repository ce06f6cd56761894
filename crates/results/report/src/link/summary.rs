//! The numbers of a link.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use mimosa_facts::{Fate, LinkPacket, Passage};
use mimosa_units::{Bytes, TimeDelta};
use serde::Serialize;

use crate::link::traffic::{Placed, Traffic, is_marked, mbps};
use crate::spread::Spread;

/// Most flows with their own rows; the others are only counted.
const FLOWS: usize = 12;

/// The numbers of one direction of a link. What is unknown is `None`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Direction {
    /// `forward`, from the sender's side to the receiver's, or `reverse`.
    pub direction: &'static str,
    /// Time span of the recording, in seconds.
    pub seconds: f64,
    /// The link's rate in Mbit/s: the sizes of packets over the time that their serialisation took.
    pub link_mbps: Option<f64>,
    /// Share of the time in which the link serialised, from 0 to 1.
    pub busy: Option<f64>,
    /// Numbers of all packets.
    pub all: Share,
    /// Numbers of each queue, in the order of the queues.
    pub queues: Vec<Share>,
    /// Numbers of each flow, the largest first.
    pub flows: Vec<Share>,
    /// Number of flows without their own rows.
    pub other_flows: usize,
}

/// The numbers of a part of the packets.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Share {
    /// Name of the part.
    pub name: String,
    /// Whether the part is the session's stream, if there is a session.
    pub is_stream: bool,
    /// Packets offered to the queue.
    pub packets: usize,
    /// Rate at which the link carried these packets, in Mbit/s.
    pub mbps: Option<f64>,
    /// Share of these packets of all bytes that the link carried, from 0 to 1.
    pub share: Option<f64>,
    /// Packets that the queue dropped.
    pub dropped: usize,
    /// Packets lost on the path.
    pub lost: usize,
    /// Packets that the queue marked.
    pub marked: usize,
    /// Times in the queue, in milliseconds.
    pub queue_ms: Option<Spread>,
    /// Largest backlog that one of these packets found in the queue, in bytes.
    pub backlog_bytes: u64,
}

/// The protocol, addresses and ports of a flow.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Flow {
    protocol: u8,
    source: (IpAddr, u16),
    destination: (IpAddr, u16),
}

impl Flow {
    /// The flow of a packet.
    pub(crate) const fn of(packet: &Passage<LinkPacket>) -> Self {
        let header = &packet.packet.header;
        Self {
            protocol: header.protocol,
            source: (header.source, header.source_port),
            destination: (header.destination, header.destination_port),
        }
    }

    /// Name of the flow.
    pub(crate) fn name(&self) -> String {
        let protocol = match self.protocol {
            1 | 58 => "icmp".to_owned(),
            6 => "tcp".to_owned(),
            17 => "udp".to_owned(),
            other => format!("protocol {other}"),
        };
        let end = |(address, port): (IpAddr, u16)| {
            if port == 0 {
                address.to_string()
            } else {
                SocketAddr::new(address, port).to_string()
            }
        };
        format!(
            "{protocol} {} to {}",
            end(self.source),
            end(self.destination)
        )
    }
}

impl Direction {
    /// The numbers of `traffic`, which was recorded for `span`. `queues` are the names of its
    /// queues.
    pub(crate) fn new(
        traffic: &Traffic<'_>,
        is_forward: bool,
        span: TimeDelta,
        queues: &[String],
    ) -> Self {
        let packets = &traffic.packets;
        let carried = carried(packets.iter());
        let share = |name: &str, packets: &[&Placed<'_>]| Share::new(name, packets, span, carried);
        let whole: Vec<_> = packets.iter().collect();
        let mut by_queue: BTreeMap<usize, Vec<_>> = BTreeMap::new();
        for placed in packets {
            by_queue
                .entry(placed.packet.packet.queue)
                .or_default()
                .push(placed);
        }
        let queues = by_queue.iter().map(|(number, packets)| {
            let name = queues.get(*number).map_or("(no name)", |name| name);
            share(name, packets)
        });
        let flows = flows(packets);
        let own = flows.iter().take(FLOWS).map(|(flow, packets)| {
            let name = flow.name();
            share(&name, packets)
        });
        let mut rows: Vec<_> = own.collect();
        let others: Vec<_> = flows.iter().skip(FLOWS).collect();
        if !others.is_empty() {
            let packets: Vec<_> = others
                .iter()
                .flat_map(|(_, packets)| packets.clone())
                .collect();
            rows.push(share("others", &packets));
        }
        Self {
            direction: if is_forward { "forward" } else { "reverse" },
            seconds: span.as_secs(),
            link_mbps: traffic.served.mbps(TimeDelta::ZERO, TimeDelta::MAX),
            busy: traffic.served.busy(TimeDelta::ZERO, span),
            all: share("all", &whole),
            queues: queues.collect(),
            flows: rows,
            other_flows: others.len(),
        }
    }

    /// Numbers of the session's stream, if there is one.
    #[must_use]
    pub fn stream(&self) -> Option<&Share> {
        self.flows.iter().find(|flow| flow.is_stream)
    }
}

impl Share {
    fn new(name: &str, packets: &[&Placed<'_>], span: TimeDelta, all: Bytes) -> Self {
        let count = |is: &dyn Fn(&Passage<LinkPacket>) -> bool| {
            packets.iter().filter(|placed| is(placed.packet)).count()
        };
        let size = carried(packets.iter().copied());
        let waits = packets.iter().filter_map(|placed| placed.wait());
        let backlogs = packets
            .iter()
            .map(|placed| placed.packet.packet.backlog.get());
        Self {
            name: name.to_owned(),
            is_stream: packets.iter().any(|placed| placed.is_own),
            packets: packets.len(),
            mbps: mbps(size, span),
            share: (all > Bytes::ZERO).then(|| size.get() as f64 / all.get() as f64),
            dropped: count(&|packet| packet.fate == Fate::Dropped),
            lost: count(&|packet| packet.fate == Fate::Lost),
            marked: count(&is_marked),
            queue_ms: Spread::of(waits.map(TimeDelta::as_millis)),
            backlog_bytes: backlogs.max().unwrap_or_default(),
        }
    }
}

/// Bytes of `packets` that the link carried.
fn carried<'a>(packets: impl Iterator<Item = &'a Placed<'a>>) -> Bytes {
    packets
        .filter(|placed| placed.packet.started.is_some())
        .map(|placed| placed.packet.size)
        .sum()
}

/// The flows of `packets`: first the session's, then the largest.
pub(crate) fn flows<'p, 'a>(packets: &'p [Placed<'a>]) -> Vec<(Flow, Vec<&'p Placed<'a>>)> {
    let mut by_flow: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for placed in packets {
        by_flow
            .entry(Flow::of(placed.packet))
            .or_default()
            .push(placed);
    }
    let mut flows: Vec<_> = by_flow.into_iter().collect();
    flows.sort_by_cached_key(|(_, packets)| {
        let is_own = packets.iter().any(|placed| placed.is_own);
        let sizes = packets.iter().map(|placed| placed.packet.size);
        std::cmp::Reverse((is_own, sizes.sum::<Bytes>()))
    });
    flows
}
