//! The memory of packets sent, and of which arrived or were lost.
//!
//! Loss is declared in the manner of RACK (RFC 8985, section 6.2): a packet is lost when one sent
//! well after it has arrived. *Deviations:* the reordering window is a quarter of the minimum RTT
//! from the start (section 7.1 begins there) and does not adapt; a packet that no report mentions
//! for [`FORGOTTEN_AFTER`] is lost even if no later one has arrived.

use std::collections::VecDeque;

use mimosa_facts::{
    ArrivalReport, FrameId, PacketKind, PacketOutcome, PacketReport, SentPacket, Sequence,
    TransportSequence,
};
use mimosa_units::{Bytes, Ecn, PeerTime, Time, TimeDelta};

use crate::ecn::{EcnState, EcnUse, Marker};

/// The smallest reordering window, for paths of almost no delay.
const LEAST_REORDERING: TimeDelta = TimeDelta::from_millis(1);
/// The age at which a packet counts as lost though nothing later arrived, so that memory stays
/// bounded. Longer than any queue of an interactive stream.
const FORGOTTEN_AFTER: TimeDelta = TimeDelta::from_millis(3_000);
/// How long a packet that has arrived or is lost is remembered, for reports that come late or
/// twice.
const REMEMBERED_FOR: TimeDelta = TimeDelta::from_millis(1_000);
/// The most packets remembered: half of the sequence space, as unwrapping needs.
const MOST_REMEMBERED: usize = 1 << 15;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    InFlight,
    Arrived,
    Lost,
}

/// A packet as it was sent.
#[derive(Debug)]
struct Entry {
    packet: SentPacket,
    state: State,
    /// The ECN field it left with.
    ecn: Ecn,
    /// The packet's place in its frame.
    index: u32,
    /// The first transmission of the same data: this packet itself unless it was sent again.
    origin: Sequence,
    /// Whether any transmission of the data whose first transmission is this packet has arrived.
    delivered: bool,
}

/// A packet of a frame that has arrived for the first time, or was lost.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Media {
    pub(crate) frame: FrameId,
    pub(crate) index: u32,
    pub(crate) origin: Sequence,
    pub(crate) size: Bytes,
}

/// All packets sent lately.
#[derive(Debug)]
pub(crate) struct History {
    entries: VecDeque<Entry>,
    /// Sequence number of the first entry.
    first: u64,
    /// Everything before this number has arrived or is lost.
    settled: u64,
    in_flight: Bytes,
    /// Departure time of the newest packet known to have arrived.
    newest_arrived: Time,
    min_rtt: Option<TimeDelta>,
    /// The reordering window: a packet sent this long before one that arrived is lost.
    reordering: TimeDelta,
    /// Chooses the ECN field; learns of each packet that arrives or is lost.
    marker: Marker,
}

impl History {
    /// A history without packets.
    pub(crate) fn new(ecn: EcnUse) -> Self {
        Self {
            entries: VecDeque::new(),
            first: 0,
            settled: 0,
            in_flight: Bytes::ZERO,
            newest_arrived: Time::ZERO,
            min_rtt: None,
            reordering: FORGOTTEN_AFTER,
            marker: Marker::new(ecn),
        }
    }

    pub(crate) const fn in_flight(&self) -> Bytes {
        self.in_flight
    }

    /// The ECN policy's judgement of the path; `None` for a fixed field.
    pub(crate) const fn ecn_state(&self) -> Option<EcnState> {
        self.marker.state()
    }

    /// Number of the next packet.
    pub(crate) fn next(&self) -> Sequence {
        Sequence(self.first + self.entries.len() as u64)
    }

    /// Remembers a packet that leaves, and returns the ECN field to send it with. `origin` is the
    /// first transmission of the same data, if this is not it. `packet.sequence` must be `next()`.
    pub(crate) fn sent(&mut self, packet: SentPacket, index: u32, origin: Option<Sequence>) -> Ecn {
        debug_assert_eq!(packet.sequence, self.next());
        self.in_flight += packet.size;
        let ecn = self.marker.next(packet.sent);
        self.entries.push_back(Entry {
            packet,
            state: State::InFlight,
            ecn,
            index,
            origin: origin.unwrap_or(packet.sequence),
            delivered: false,
        });
        ecn
    }

    /// Takes in a feedback message: adds new packet reports to `reports`, data that arrived for the
    /// first time to `delivered`, and lost data to `lost`.
    pub(crate) fn feedback(
        &mut self,
        now: Time,
        report: &ArrivalReport,
        reports: &mut Vec<PacketReport>,
        delivered: &mut Vec<(Media, PeerTime)>,
        lost: &mut Vec<Media>,
    ) {
        for arrival in &report.arrivals {
            let sequence = self.unwrap(arrival.sequence);
            let Some(position) = self.index(sequence) else {
                continue;
            };
            let entry = &mut self.entries[position];
            let after_loss = match entry.state {
                State::Arrived => continue,
                State::Lost => true,
                State::InFlight => false,
            };
            entry.state = State::Arrived;
            let (packet, index, origin) = (entry.packet, entry.index, entry.origin);
            if let Marker::Auto(policy) = &mut self.marker {
                policy.arrived(now, packet.sent, entry.ecn, Some(arrival.ecn));
            }
            if !after_loss {
                self.in_flight -= packet.size;
            }
            self.newest_arrived = self.newest_arrived.max(packet.sent);
            let rtt = now.since(packet.sent);
            if self.min_rtt.is_none_or(|min| rtt < min) {
                self.min_rtt = Some(rtt);
                self.reordering = (rtt / 4).max(LEAST_REORDERING);
            }
            reports.push(PacketReport {
                packet,
                outcome: PacketOutcome::Arrived {
                    at: arrival.at,
                    ecn: arrival.ecn,
                    after_loss,
                },
            });
            if packet.kind == PacketKind::Probe {
                continue;
            }
            let first = if origin == packet.sequence {
                Some(&mut self.entries[position])
            } else {
                self.entry(origin.0)
            };
            if first.is_some_and(|first| !std::mem::replace(&mut first.delivered, true)) {
                let media = Media {
                    frame: packet.frame,
                    index,
                    origin,
                    size: packet.size,
                };
                delivered.push((media, arrival.at));
            }
        }
        self.declare_lost(now, reports, lost);
        if !reports.is_sorted_by_key(|report| report.packet.sequence) {
            reports.sort_by_key(|report| report.packet.sequence);
        }
        self.forget(now);
    }

    /// Declares lost the packets that are overdue at `now`.
    pub(crate) fn declare_lost(
        &mut self,
        now: Time,
        reports: &mut Vec<PacketReport>,
        lost: &mut Vec<Media>,
    ) {
        let reordering = self.reordering;
        while let Some(index) = self.index(self.settled) {
            // Counts from this unsettled packet on: the settled ones before it cost no packet in
            // flight.
            let too_many = self.entries.len() - index > MOST_REMEMBERED;
            let entry = &mut self.entries[index];
            if entry.state == State::InFlight {
                let overtaken = self.newest_arrived > entry.packet.sent + reordering;
                let forgotten = now > entry.packet.sent + FORGOTTEN_AFTER;
                if !(overtaken || forgotten || too_many) {
                    break;
                }
                entry.state = State::Lost;
                let (packet, index, origin) = (entry.packet, entry.index, entry.origin);
                if let Marker::Auto(policy) = &mut self.marker {
                    policy.lost(now, packet.sent, entry.ecn);
                }
                self.in_flight -= packet.size;
                reports.push(PacketReport {
                    packet,
                    outcome: PacketOutcome::Lost,
                });
                let undelivered = self.entry(origin.0).is_some_and(|first| !first.delivered);
                if packet.kind != PacketKind::Probe && undelivered {
                    lost.push(Media {
                        frame: packet.frame,
                        index,
                        origin,
                        size: packet.size,
                    });
                }
            }
            self.settled += 1;
        }
    }

    /// The receiver says that it lacks a packet of a frame: the last transmission of the packet
    /// counts as lost, unless that transmission can still be on its way.
    pub(crate) fn missing(
        &mut self,
        now: Time,
        frame: FrameId,
        index: u32,
        reports: &mut Vec<PacketReport>,
        lost: &mut Vec<Media>,
    ) {
        let min_rtt = self.min_rtt.unwrap_or(TimeDelta::ZERO);
        let newest = self.entries.iter_mut().rev().find(|entry| {
            entry.packet.frame == frame
                && entry.index == index
                && entry.packet.kind != PacketKind::Probe
        });
        if let Some(entry) = newest
            && entry.state == State::InFlight
            && now.since(entry.packet.sent) >= min_rtt
        {
            entry.state = State::Lost;
            let (packet, origin) = (entry.packet, entry.origin);
            if let Marker::Auto(policy) = &mut self.marker {
                policy.lost(now, packet.sent, entry.ecn);
            }
            self.in_flight -= packet.size;
            reports.push(PacketReport {
                packet,
                outcome: PacketOutcome::Lost,
            });
            if self.entry(origin.0).is_some_and(|first| !first.delivered) {
                lost.push(Media {
                    frame,
                    index,
                    origin,
                    size: packet.size,
                });
            }
        }
    }

    /// Number of packets that a report may still be about.
    pub(crate) fn remembered(&self) -> usize {
        self.entries.len()
    }

    /// Forgets settled packets that are so old that no report will name them.
    fn forget(&mut self, now: Time) {
        while self.first < self.settled
            && let Some(entry) = self.entries.front()
            && (now > entry.packet.sent + REMEMBERED_FOR || self.entries.len() > MOST_REMEMBERED)
        {
            self.entries.pop_front();
            self.first += 1;
        }
    }

    /// The closest number below `next()` whose low 16 bits are `wire`.
    fn unwrap(&self, wire: TransportSequence) -> u64 {
        let next = self.next().0;
        let newest = next.wrapping_sub(1);
        let back = TransportSequence::of(newest).since(wire);
        newest.wrapping_sub(u64::from(back))
    }

    fn index(&self, sequence: u64) -> Option<usize> {
        let index = usize::try_from(sequence.checked_sub(self.first)?).ok()?;
        (index < self.entries.len()).then_some(index)
    }

    fn entry(&mut self, sequence: u64) -> Option<&mut Entry> {
        let index = self.index(sequence)?;
        self.entries.get_mut(index)
    }
}
