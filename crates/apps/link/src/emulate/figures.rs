//! Computes the figures from the records of the link and the senders.

use std::fmt;
use std::net::IpAddr;

use mimosa_facts::{
    Balance, Fate, FlowPacket, Header, LinkPacket, Observer as _, Passage, RunEnd, StreamPacket,
    TransportSequence,
};
use mimosa_figures::{Collector, Window};
use mimosa_net::Random;
use mimosa_scenario::{FlowKind, Scenario};
use mimosa_tcp::DELAYED_ACK;
use mimosa_units::{Time, TimeDelta};

use crate::Tally;
use crate::emulate::plan::addresses;
use crate::emulate::run::{Emulated, PORT};
use crate::emulate::video::Sending;
use crate::emulate::wait::Spread;

/// Lateness that at most one of a thousand packets may exceed for the run to be valid.
const MOST_LATE: TimeDelta = TimeDelta::from_millis(1);

/// How punctual a run was.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Punctuality {
    /// How late the link released packets to the receivers' side.
    pub there: Spread,
    /// How late the link released packets to the senders' side.
    pub back: Spread,
    /// How late the threads of video and cross traffic acted.
    pub senders: Spread,
    /// Time from a packet's sending until the link read it, for flows all of whose packets reached
    /// the queue.
    pub entry: Spread,
    /// Number of packets that were sent and never reached the link, and of packets that the other
    /// side did not accept.
    pub vanished: u64,
    /// How much later acknowledgements of TCP flows came than on a path without hosts. The delay
    /// runs from the time at which the flow's newest segment was due at the receiver's side until
    /// the acknowledgement reached the link; a random draw from the lateness of all packets on the
    /// way back is added. Acknowledgements that took more than half of the receiver's timer waited
    /// for the timer and are left out. All zero without TCP.
    pub acknowledging: Spread,
}

impl Punctuality {
    /// Whether the figures are those of the scenario: at most one packet in a thousand was released
    /// more than a millisecond late, and none vanished.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.vanished == 0 && self.there.p999.max(self.back.p999) <= MOST_LATE
    }
}

impl fmt::Display for Punctuality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            there,
            back,
            senders,
            entry,
            vanished,
            acknowledging: _,
        } = self;
        write!(
            f,
            "late by p50/p99/p99.9/most us: link there {there}, back {back}; senders {senders}; into the link {entry}; vanished {vanished}"
        )
    }
}

/// The records of a run.
#[derive(Debug)]
pub(crate) struct Records {
    /// Passages of the packets from the senders' side.
    pub(crate) passages: Vec<Passage<LinkPacket>>,
    /// Passages of the packets from the receivers' side.
    pub(crate) returns: Vec<Passage<LinkPacket>>,
    /// Tallies of the direction to the receivers and of the direction back.
    pub(crate) tallies: Vec<Tally>,
    /// The sending of each flow; empty for TCP.
    pub(crate) sendings: Vec<Sending>,
}

/// The figures of a run of `scenario`.
pub(crate) fn of(scenario: &Scenario, window: Window, records: Records) -> Emulated {
    let end = Time::ZERO + scenario.duration;
    let mut collector = Collector::new(scenario, window);
    let mut offered: Vec<Vec<Time>> = vec![Vec::new(); scenario.flows.len()];
    let last = Time::from_nanos(end.as_nanos().saturating_sub(1));
    let mut inside = 0;
    for passage in &records.passages {
        let Some(flow) = flow_of(&passage.packet.header, scenario) else {
            continue;
        };
        let is_udp = passage.packet.header.protocol == Header::UDP;
        if passage.offered >= end && !is_udp {
            continue;
        }
        let packet = FlowPacket {
            flow,
            size: passage.size,
            // One that was sent before the end may have been on its way into the link.
            offered: passage.offered.min(last),
        };
        if let Some(times) = offered.get_mut(flow) {
            times.push(passage.offered);
        }
        collector.offered(&packet);
        // What happens after the end is not part of the run.
        let finished = passage.finished.filter(|finished| *finished < end);
        if let (Some(started), Some(finished)) = (passage.started, finished) {
            let wait = started.since(passage.offered);
            collector.served(0, finished, passage.size, wait);
        }
        match passage.fate {
            Fate::Arrived(at) if at < end => collector.arrived(at, &packet),
            Fate::Dropped if passage.offered < end => collector.packet(&of_flow(passage, packet)),
            Fate::Lost if finished.is_some() => collector.packet(&of_flow(passage, packet)),
            Fate::Arrived(_) | Fate::Dropped | Fate::Lost => inside += 1,
        }
    }
    let mut punctuality = Punctuality {
        acknowledging: Spread::of(acknowledging(scenario, &records)),
        ..Punctuality::default()
    };
    let mut steps = 0;
    let lateness = [&mut punctuality.there, &mut punctuality.back];
    for (tally, lateness) in records.tallies.iter().zip(lateness) {
        *lateness = Spread::from(&tally.lateness);
        punctuality.vanished += tally.unwritten;
        steps += tally.counts.offered;
    }
    // A packet without a fate when the link stopped was still waiting in it.
    let mut without_fate = records.tallies.first().map_or(0, |there| there.inside);
    let (mut late, mut entry) = (Vec::new(), Vec::new());
    for (flow, (sending, mut offered)) in records.sendings.into_iter().zip(offered).enumerate() {
        late.extend(sending.late);
        for life in &sending.frames {
            collector.frame(flow, life);
        }
        let is_udp = !matches!(
            scenario.flows.get(flow).map(|flow| &flow.kind),
            Some(FlowKind::Tcp(_)) | None
        );
        // Without packets that the link read after the end.
        offered.sort_unstable();
        let missing = sending.sent.len().saturating_sub(offered.len());
        if is_udp && missing == 0 {
            let pairs = sending.sent.iter().zip(&offered);
            entry.extend(pairs.map(|((sent, _), offered)| offered.since(*sent)));
        }
        let waiting = without_fate.min(missing as u64);
        without_fate -= waiting;
        punctuality.vanished += missing as u64 - waiting;
        for (_, size) in sending.sent.iter().rev().take(missing) {
            // It was somewhere, or is lost to the books as well, which then are not even.
            collector.offered(&FlowPacket {
                flow,
                size: *size,
                offered: last,
            });
        }
        inside += waiting;
    }
    punctuality.senders = Spread::of(late);
    punctuality.entry = Spread::of(entry);
    collector.ended(&RunEnd {
        steps,
        inside,
        reports: Balance::default(),
    });
    Emulated {
        figures: collector.figures(),
        punctuality,
    }
}

/// The passage of a packet whose flow is known, as its sender would tell it; which part of a
/// frame it carried is not known here.
fn of_flow(passage: &Passage<LinkPacket>, packet: FlowPacket) -> Passage<StreamPacket> {
    Passage {
        packet: StreamPacket {
            flow: packet.flow,
            sequence: TransportSequence(0),
            kind: None,
            frame: 0,
            index: 0,
        },
        size: packet.size,
        sent_ecn: passage.sent_ecn,
        ecn: passage.ecn,
        offered: packet.offered,
        started: passage.started,
        finished: passage.finished,
        fate: passage.fate,
    }
}

/// Time from each acknowledgement back to the newest arrival of its flow before it, and the
/// link's lateness.
fn acknowledging(scenario: &Scenario, records: &Records) -> Vec<TimeDelta> {
    let is_tcp = |flow: usize| {
        let kind = scenario.flows.get(flow).map(|flow| &flow.kind);
        matches!(kind, Some(FlowKind::Tcp(_)))
    };
    let mut arrivals: Vec<Vec<Time>> = vec![Vec::new(); scenario.flows.len()];
    for passage in &records.passages {
        if let Some(flow) = flow_of(&passage.packet.header, scenario)
            && let Some(times) = arrivals.get_mut(flow).filter(|_| is_tcp(flow))
            && let Fate::Arrived(at) = passage.fate
        {
            times.push(at);
        }
    }
    for times in &mut arrivals {
        times.sort_unstable();
    }
    let mut draw = Random::new(0, "lateness");
    let lateness = records.tallies.get(1).map(|back| &back.lateness);
    let lag = |passage: &Passage<LinkPacket>| {
        let header = Header {
            source: passage.packet.header.destination,
            destination: passage.packet.header.source,
            source_port: passage.packet.header.destination_port,
            destination_port: passage.packet.header.source_port,
            ..passage.packet.header
        };
        let times = arrivals.get(flow_of(&header, scenario)?)?;
        let before = times.partition_point(|at| *at <= passage.offered);
        let newest = times.get(before.checked_sub(1)?)?;
        let lag = passage.offered.since(*newest);
        let late = lateness.and_then(|count| count.at(draw.uniform()));
        (lag < DELAYED_ACK / 2).then_some(lag + late.unwrap_or(TimeDelta::ZERO))
    };
    records.returns.iter().filter_map(lag).collect()
}

/// The flow to which this packet belongs; `None` for packets that the kernel sends by itself.
fn flow_of(header: &Header, scenario: &Scenario) -> Option<usize> {
    let IpAddr::V4(source) = header.source else {
        return None;
    };
    let [_, _, high, low] = source.octets();
    let flow = usize::from(u16::from_be_bytes([high, low]));
    let (from, to) = addresses(flow);
    let protocol = match scenario.flows.get(flow)?.kind {
        FlowKind::Tcp(_) => Header::TCP,
        FlowKind::Video(_) | FlowKind::Cbr(_) => Header::UDP,
    };
    let is_its = (header.source, header.destination) == (from.into(), to.into())
        && (header.source_port, header.destination_port) == (PORT, PORT)
        && header.protocol == protocol;
    is_its.then_some(flow)
}
