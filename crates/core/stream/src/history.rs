//! The memory of packets sent, and of which arrived or were lost.
//!
//! Loss is declared in the manner of RACK (RFC 8985, section 6.2): a packet is lost when one sent
//! well after it has arrived. *Deviations:* the reordering window is a quarter of the minimum RTT
//! from the start (section 7.1 begins there) and does not adapt; a packet that no report mentions
//! for [`FORGOTTEN_AFTER`] is lost even if no later one has arrived.
//!
//! Where each report comes once, a lost report looks like lost packets. There, a packet is lost only
//! if a report says besides that it is missing. Packets of a lost report are *unknown*: they are
//! neither in flight nor lost. A packet that no report mentions although later ones have arrived
//! becomes unknown after [`UNKNOWN_AFTER`]: the next report on its stream may still say what became
//! of it, but the stream may also rest.

use std::collections::VecDeque;

use mimosa_facts::{
    Absences, ArrivalReport, FrameId, PacketKind, PacketOutcome, PacketReport, SentPacket,
    Sequence, TransportSequence,
};
use mimosa_units::{Bytes, Ecn, PeerTime, Time, TimeDelta};

use crate::ecn::{EcnState, EcnUse, Marker};

/// The smallest reordering window, for paths of almost no delay.
const LEAST_REORDERING: TimeDelta = TimeDelta::from_millis(1);
/// The age at which a packet counts as lost though nothing later arrived, so that memory stays
/// bounded. Longer than any queue of an interactive stream.
const FORGOTTEN_AFTER: TimeDelta = TimeDelta::from_millis(3_000);
/// How long a packet that no report mentions stays in flight when packets that left later have
/// arrived, where each report comes once. Our choice: by then libwebrtc has made twenty reports, one
/// in 25 ms (`max_wait_for_marker` in `congestion_control_feedback_generator.cc`).
const UNKNOWN_AFTER: TimeDelta = TimeDelta::from_millis(500);
/// How long a packet that is lost is remembered, for reports that come late and for what is sent in its place.
const REMEMBERED_FOR: TimeDelta = TimeDelta::from_millis(1_000);
/// The most packets remembered: half of the sequence space, as unwrapping needs.
const MOST_REMEMBERED: usize = 1 << 15;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    InFlight,
    Arrived,
    Lost,
    Unknown,
}

/// A packet as it was sent.
#[derive(Debug)]
struct Entry {
    packet: SentPacket,
    state: State,
    /// Whether a report says that the packet had not arrived.
    is_missing: bool,
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

/// What became known from feedback, or with time.
#[derive(Debug, Default)]
pub(crate) struct News {
    /// Packets that arrived or were lost, for the controller.
    pub(crate) reports: Vec<PacketReport>,
    /// Packets of which nothing will become known.
    pub(crate) unknown: Vec<SentPacket>,
    /// Data that arrived for the first time, and when.
    pub(crate) delivered: Vec<(Media, PeerTime)>,
    /// Data that was lost.
    pub(crate) lost: Vec<Media>,
}

impl News {
    /// Whether there is anything for a controller.
    pub(crate) const fn is_empty(&self) -> bool {
        self.reports.is_empty() && self.unknown.is_empty()
    }
}

/// All packets sent lately.
#[derive(Debug)]
pub(crate) struct History {
    entries: VecDeque<Entry>,
    /// Sequence number of the first entry.
    first: u64,
    /// Everything before this number has arrived, is lost, or is unknown.
    settled: u64,
    /// Whether each report comes once, and says which packets are missing.
    names_missing: bool,
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
            names_missing: false,
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
            is_missing: false,
            ecn,
            index,
            origin: origin.unwrap_or(packet.sequence),
            delivered: false,
        });
        ecn
    }

    /// Takes in a feedback message.
    pub(crate) fn feedback(&mut self, now: Time, report: &ArrivalReport, news: &mut News) {
        if let Some(absences) = &report.absences {
            self.names_missing = true;
            self.absent(now, absences, news);
        }
        for arrival in &report.arrivals {
            let sequence = self.unwrap(arrival.sequence);
            let Some(position) = self.index(sequence) else {
                continue;
            };
            let entry = &mut self.entries[position];
            let before = entry.state;
            if before == State::Arrived {
                continue;
            }
            entry.state = State::Arrived;
            let (packet, index, origin) = (entry.packet, entry.index, entry.origin);
            if let Marker::Auto(policy) = &mut self.marker {
                policy.arrived(now, packet.sent, entry.ecn, Some(arrival.ecn));
            }
            if before == State::InFlight {
                self.in_flight -= packet.size;
            }
            self.newest_arrived = self.newest_arrived.max(packet.sent);
            let rtt = now.since(packet.sent);
            if self.min_rtt.is_none_or(|min| rtt < min) {
                self.min_rtt = Some(rtt);
                self.reordering = (rtt / 4).max(LEAST_REORDERING);
            }
            news.reports.push(PacketReport {
                packet,
                outcome: PacketOutcome::Arrived {
                    at: arrival.at,
                    ecn: arrival.ecn,
                    after_loss: before == State::Lost,
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
                news.delivered.push((media, arrival.at));
            }
        }
        self.declare_lost(now, news);
        let reports = &mut news.reports;
        if !reports.is_sorted_by_key(|report| report.packet.sequence) {
            reports.sort_by_key(|report| report.packet.sequence);
        }
        let unknown = &mut news.unknown;
        if !unknown.is_sorted_by_key(|packet| packet.sequence) {
            unknown.sort_by_key(|packet| packet.sequence);
        }
        self.forget(now);
    }

    /// Takes in what a report says about packets that have not arrived.
    fn absent(&mut self, now: Time, absences: &Absences, news: &mut News) {
        for &number in &absences.unknown {
            let position = self.index(self.unwrap(number));
            if let Some(position) = position
                && self.entries[position].state == State::InFlight
            {
                self.give_up(position, news);
            }
        }
        for &number in &absences.missing {
            let Some(position) = self.index(self.unwrap(number)) else {
                continue;
            };
            let entry = &mut self.entries[position];
            entry.is_missing = true;
            if entry.state == State::Unknown {
                // The report on the packet's stream came after all.
                self.lose(now, position, news);
            }
        }
    }

    /// A packet becomes unknown.
    fn give_up(&mut self, position: usize, news: &mut News) {
        let entry = &mut self.entries[position];
        entry.state = State::Unknown;
        if let Marker::Auto(policy) = &mut self.marker {
            policy.unknown(entry.packet.sent, entry.ecn);
        }
        self.in_flight -= entry.packet.size;
        news.unknown.push(entry.packet);
    }

    /// A packet is lost.
    fn lose(&mut self, now: Time, position: usize, news: &mut News) {
        let entry = &mut self.entries[position];
        let before = std::mem::replace(&mut entry.state, State::Lost);
        let (packet, index, origin) = (entry.packet, entry.index, entry.origin);
        if let Marker::Auto(policy) = &mut self.marker {
            policy.lost(now, packet.sent, entry.ecn);
        }
        if before == State::InFlight {
            self.in_flight -= packet.size;
        }
        news.reports.push(PacketReport {
            packet,
            outcome: PacketOutcome::Lost,
        });
        let undelivered = self.entry(origin.0).is_some_and(|first| !first.delivered);
        if packet.kind != PacketKind::Probe && undelivered {
            news.lost.push(Media {
                frame: packet.frame,
                index,
                origin,
                size: packet.size,
            });
        }
    }

    /// Declares lost the packets that are overdue at `now`.
    pub(crate) fn declare_lost(&mut self, now: Time, news: &mut News) {
        let reordering = self.reordering;
        let mut next = self.settled;
        while let Some(position) = self.index(next) {
            // Counts from this unsettled packet on: the settled ones before it cost no packet in
            // flight.
            let too_many = self.entries.len() - position > MOST_REMEMBERED;
            let entry = &self.entries[position];
            if entry.state == State::InFlight {
                let sent = entry.packet.sent;
                let overtaken = self.newest_arrived > sent + reordering;
                let forgotten = now > sent + FORGOTTEN_AFTER;
                if !(overtaken || forgotten || too_many) {
                    break;
                }
                if !self.names_missing || entry.is_missing || !overtaken {
                    self.lose(now, position, news);
                } else if now > sent + UNKNOWN_AFTER || too_many {
                    self.give_up(position, news);
                }
            }
            if self.settled == next && self.entries[position].state != State::InFlight {
                self.settled += 1;
            }
            next += 1;
        }
    }

    /// The receiver says that it lacks a packet of a frame: the last transmission of the packet
    /// counts as lost, unless that transmission can still be on its way.
    pub(crate) fn missing(&mut self, now: Time, frame: FrameId, index: u32, news: &mut News) {
        let min_rtt = self.min_rtt.unwrap_or(TimeDelta::ZERO);
        let newest = self.entries.iter().rposition(|entry| {
            entry.packet.frame == frame
                && entry.index == index
                && entry.packet.kind != PacketKind::Probe
        });
        let Some(position) = newest else {
            return;
        };
        let entry = &self.entries[position];
        let is_open = matches!(entry.state, State::InFlight | State::Unknown);
        if is_open && now.since(entry.packet.sent) >= min_rtt {
            self.lose(now, position, news);
        }
    }

    /// Whether each report comes once, so that packets of a lost one stay unknown.
    pub(crate) const fn names_missing(&self) -> bool {
        self.names_missing
    }

    /// Whether the first transmission of a packet of this frame is in flight.
    pub(crate) fn has_in_flight(&self, frame: FrameId) -> bool {
        let settled = usize::try_from(self.settled.saturating_sub(self.first));
        let open = self.entries.iter().skip(settled.unwrap_or(usize::MAX));
        let mut open = open.filter(|entry| entry.state == State::InFlight);
        open.any(|entry| entry.packet.frame == frame && entry.packet.kind == PacketKind::Media)
    }

    /// Number of packets that a report may still be about.
    pub(crate) fn remembered(&self) -> usize {
        self.entries.len()
    }

    /// Forgets the oldest packets: those that have arrived, of which no report can say anything new, and lost ones
    /// that are so old that no report will name them.
    fn forget(&mut self, now: Time) {
        while self.first < self.settled
            && let Some(entry) = self.entries.front()
            && (entry.state == State::Arrived
                || now > entry.packet.sent + REMEMBERED_FOR
                || self.entries.len() > MOST_REMEMBERED)
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
