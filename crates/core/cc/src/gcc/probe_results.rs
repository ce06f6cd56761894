//! The rate of the link that a group of probes finds (`ProbeBitrateEstimator`).

use std::collections::VecDeque;

use mimosa_facts::{PacketKind, SentPacket, Sequence};
use mimosa_units::{Bytes, PeerTime, Rate, Time, TimeDelta};

/// Share of a group's probes, and of their bytes, that must have arrived for a result
/// (`kMinReceivedProbesRatio`, `kMinReceivedBytesRatio`).
const RECEIVED: f64 = 0.8;
/// Largest ratio of arriving to sending rate with which a group has a result (`kMaxValidRatio`).
const LARGEST_RATIO: f64 = 2.0;
/// Share of the sending rate: a group that arrives more slowly filled the link
/// (`kMinRatioForUnsaturatedLink`).
const UNSATURATED: f64 = 0.9;
/// Share of the arriving rate that is the result of a group that filled the link
/// (`kTargetUtilizationFraction`).
const UTILIZATION: f64 = 0.95;
/// Longest duration of a group, and longest time since a group's last event for which it is
/// remembered (`kMaxProbeInterval`, `kMaxClusterHistory`).
const LONGEST: TimeDelta = TimeDelta::from_millis(1_000);
/// Largest number of groups remembered. One is sent at a time, so that no more are on their way.
const MOST_GROUPS: usize = 8;

/// A group of probes, and the packets that were sent among them.
#[derive(Clone, Debug)]
struct Group {
    /// Number of probes that the group was asked to have.
    packets: f64,
    /// Size of all probes that the group was asked to have.
    bytes: Bytes,
    touched: Time,
    sequences: Option<(Sequence, Sequence)>,
    probes: u32,
    probe_bytes: Bytes,
    total: Bytes,
    sent: Option<(Time, Time)>,
    last_sent_size: Bytes,
    arrived: Option<(PeerTime, PeerTime)>,
    first_arrived_size: Bytes,
}

/// The groups of probes that were sent lately.
#[derive(Debug, Default)]
pub(super) struct ProbeResults {
    groups: VecDeque<Group>,
}

impl ProbeResults {
    /// Begins a group of `packets` probes, of `bytes` together, that is about to be sent.
    pub(super) fn begin(&mut self, now: Time, packets: u16, bytes: Bytes) {
        if self.groups.len() == MOST_GROUPS {
            self.groups.pop_front();
        }
        self.groups.push_back(Group {
            packets: f64::from(packets),
            bytes,
            touched: now,
            sequences: None,
            probes: 0,
            probe_bytes: Bytes::ZERO,
            total: Bytes::ZERO,
            sent: None,
            last_sent_size: Bytes::ZERO,
            arrived: None,
            first_arrived_size: Bytes::ZERO,
        });
    }

    /// Records that a probe of the newest group has left.
    pub(super) fn sent(&mut self, now: Time, sequence: Sequence) {
        if let Some(group) = self.groups.back_mut() {
            let first = group.sequences.map_or(sequence, |sequences| sequences.0);
            group.sequences = Some((first, sequence));
            group.touched = now;
        }
    }

    /// Takes a packet that arrived at `at`. Returns the rate that its group has found; `None` if it
    /// belongs to no group or the group has no result.
    pub(super) fn arrived(&mut self, now: Time, packet: &SentPacket, at: PeerTime) -> Option<Rate> {
        self.groups
            .retain(|group| now.since(group.touched) <= LONGEST);
        let group = self.groups.iter_mut().find(|group| {
            group
                .sequences
                .is_some_and(|(first, last)| (first..=last).contains(&packet.sequence))
        })?;
        group.touched = now;
        group.add(packet, at);
        group.rate()
    }
}

impl Group {
    fn add(&mut self, packet: &SentPacket, at: PeerTime) {
        let (first, last) = self.sent.unwrap_or((packet.sent, packet.sent));
        if self.sent.is_none() || packet.sent > last {
            self.last_sent_size = packet.size;
        }
        self.sent = Some((first.min(packet.sent), last.max(packet.sent)));
        let (first, last) = self.arrived.unwrap_or((at, at));
        if self.arrived.is_none() || at < first {
            self.first_arrived_size = packet.size;
        }
        self.arrived = Some((first.min(at), last.max(at)));
        self.total += packet.size;
        if packet.kind == PacketKind::Probe {
            self.probes = self.probes.saturating_add(1);
            self.probe_bytes += packet.size;
        }
    }

    fn rate(&self) -> Option<Rate> {
        let is_enough = f64::from(self.probes) >= (self.packets * RECEIVED).floor()
            && self.probe_bytes >= self.bytes.scale(RECEIVED);
        let sending = self.sent.map(|(first, last)| last - first)?;
        let arrival = self.arrived.map(|(first, last)| last - first)?;
        let is_valid = |span| span > TimeDelta::ZERO && span <= LONGEST;
        if !is_enough || !is_valid(sending) || !is_valid(arrival) {
            return None;
        }
        // The last packet leaves after the sending interval and the first arrives before the
        // arrival interval, so neither counts there.
        let sent = Rate::of(self.total - self.last_sent_size, sending);
        let arrived = Rate::of(self.total - self.first_arrived_size, arrival);
        if sent == Rate::ZERO || arrived > sent.scale(LARGEST_RATIO) {
            return None;
        }
        Some(if arrived < sent.scale(UNSATURATED) {
            arrived.scale(UTILIZATION)
        } else {
            arrived.min(sent)
        })
    }
}

#[cfg(test)]
mod tests {
    use mimosa_facts::FrameId;

    use super::*;

    /// Sends ten probes of 1000 B and a media packet in the middle, one every `sent` us. The first
    /// `arrive` packets arrive, one every `arrived` us. Returns the last result.
    fn probe(sent: u64, arrived: u64, arrive: u64) -> Option<Rate> {
        let mut results = ProbeResults::default();
        results.begin(Time::ZERO, 10, Bytes::new(10_000));
        let at = |i: u64, gap: u64| i * gap * 1_000;
        let packets: Vec<_> = (0..11)
            .map(|i| SentPacket {
                sequence: Sequence(100 + i),
                frame: FrameId(0),
                kind: if i == 5 {
                    PacketKind::Media
                } else {
                    PacketKind::Probe
                },
                size: Bytes::new(1_000),
                sent: Time::from_nanos(at(i, sent)),
            })
            .collect();
        for packet in packets
            .iter()
            .filter(|packet| packet.kind == PacketKind::Probe)
        {
            results.sent(packet.sent, packet.sequence);
        }
        let mut rate = None;
        for (i, packet) in (0..arrive).zip(&packets) {
            let at = PeerTime::from_nanos(at(i, arrived).cast_signed() - 9_000_000_000);
            rate = results.arrived(Time::from_millis(50), packet, at).or(rate);
        }
        rate
    }

    #[test]
    fn an_empty_link_gives_the_sending_rate() {
        // 8000 bits leave every 400 us. The media packet among the probes counts.
        assert_eq!(probe(400, 400, 11), Some(Rate::from_kbps(20_000)));
    }

    #[test]
    fn a_full_link_gives_less_than_the_arriving_rate() {
        assert_eq!(probe(400, 800, 11), Some(Rate::from_kbps(9_500)));
    }

    #[test]
    fn four_fifths_are_enough_and_less_are_not() {
        assert!(probe(400, 400, 9).is_some());
        assert_eq!(probe(400, 400, 8), None, "seven probes of ten");
    }

    #[test]
    fn what_arrives_twice_as_fast_as_it_was_sent_says_nothing() {
        assert!(probe(400, 201, 11).is_some());
        assert_eq!(probe(400, 199, 11), None);
        assert_eq!(probe(0, 400, 11), None, "sent in no time");
    }
}
