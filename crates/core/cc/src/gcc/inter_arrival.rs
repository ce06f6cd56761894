//! Differences between groups of packets in departure and in arrival (`InterArrivalDelta`).

use mimosa_units::{PeerTime, Time, TimeDelta};

use super::config::{Config, GroupPacket};

/// Smallest jump of the receiver's clock that is recognised: the time between two groups' arrivals
/// less the time between their reports (`kArrivalTimeOffsetThreshold`).
const CLOCK_JUMP: TimeDelta = TimeDelta::from_millis(3_000);
/// Number of times in a row that a group arrived before its predecessor at which all groups are
/// forgotten (`kReorderedResetThreshold`).
const MOST_REORDERED: u32 = 3;

#[derive(Clone, Copy, Debug)]
struct Group {
    first_sent: Time,
    last_sent: Time,
    first_arrival: PeerTime,
    complete: PeerTime,
    /// When the group's last arrival was reported.
    known: Time,
}

/// Differences between a group and the one before it in the departure and in the arrival of the packet
/// that stands for the group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Deltas {
    pub(super) sent: TimeDelta,
    pub(super) arrival: TimeDelta,
}

/// Puts packets together into groups.
#[derive(Debug, Default)]
pub(super) struct InterArrival {
    current: Option<Group>,
    previous: Option<Group>,
    reordered: u32,
}

impl InterArrival {
    /// Takes a packet that was sent at `sent`, arrived at `at` and is reported at `now`. Returns
    /// the deltas of the two groups before it if it begins a group; `None` if it does not, if there
    /// are no two groups yet, or if these are out of order.
    pub(super) fn add(
        &mut self,
        config: &Config,
        now: Time,
        sent: Time,
        at: PeerTime,
    ) -> Option<Deltas> {
        let Some(current) = &mut self.current else {
            self.current = Some(Group::new(now, sent, at));
            return None;
        };
        if sent < current.first_sent {
            return None;
        }
        if !current.is_followed(config, sent, at) {
            current.last_sent = current.last_sent.max(sent);
            current.complete = at;
            current.known = now;
            return None;
        }
        let current = *current;
        let deltas = match self.previous {
            Some(previous) => Some(self.deltas(config, previous, current)?),
            None => None,
        };
        self.previous = Some(current);
        self.current = Some(Group::new(now, sent, at));
        deltas
    }

    /// Returns the deltas of two groups; `None` if they arrived out of order or the clock has
    /// jumped. In that case the groups stay as they are, or all are forgotten.
    fn deltas(&mut self, config: &Config, previous: Group, current: Group) -> Option<Deltas> {
        let deltas = match config.group_packet {
            GroupPacket::First => Deltas {
                sent: current.first_sent - previous.first_sent,
                arrival: current.first_arrival - previous.first_arrival,
            },
            GroupPacket::Last => Deltas {
                sent: current.last_sent - previous.last_sent,
                arrival: current.complete - previous.complete,
            },
        };
        if deltas.arrival - (current.known - previous.known) >= CLOCK_JUMP {
            *self = Self::default();
            return None;
        }
        if deltas.arrival < TimeDelta::ZERO {
            self.reordered += 1;
            if self.reordered >= MOST_REORDERED {
                *self = Self::default();
            }
            return None;
        }
        self.reordered = 0;
        Some(deltas)
    }
}

impl Group {
    const fn new(now: Time, sent: Time, at: PeerTime) -> Self {
        Self {
            first_sent: sent,
            last_sent: sent,
            first_arrival: at,
            complete: at,
            known: now,
        }
    }

    /// Whether a packet sent at `sent` and arrived at `at` belongs to a new group.
    fn is_followed(&self, config: &Config, sent: Time, at: PeerTime) -> bool {
        let arrival = at - self.complete;
        let sending = sent - self.last_sent;
        let is_burst = sending == TimeDelta::ZERO
            || arrival < sending
                && arrival <= config.burst_gap
                && at - self.first_arrival < config.longest_burst;
        !is_burst && sent.since(self.first_sent) > config.group_length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> PeerTime {
        PeerTime::from_nanos(ms * 1_000_000)
    }

    fn add(groups: &mut InterArrival, sent: u64, arrived: i64) -> Option<(f64, f64)> {
        let known = Time::from_millis(arrived.unsigned_abs());
        let sent = Time::from_millis(sent);
        groups
            .add(&Config::default(), known, sent, at(arrived))
            .map(|deltas| (deltas.sent.as_millis(), deltas.arrival.as_millis()))
    }

    #[test]
    fn packets_sent_within_5_ms_are_one_group() {
        let mut groups = InterArrival::default();
        for (sent, arrived) in [(0, 100), (2, 102), (5, 108), (17, 120), (20, 125)] {
            assert_eq!(add(&mut groups, sent, arrived), None, "sent at {sent}");
        }
        // The last packet of the first group left at 5 ms and arrived at 108, that of the second at
        // 20 and 125.
        assert_eq!(add(&mut groups, 33, 140), Some((15.0, 17.0)));
    }

    #[test]
    fn the_first_packet_stands_for_its_group_where_it_is_chosen() {
        let config = Config {
            group_packet: GroupPacket::First,
            ..Config::default()
        };
        let mut groups = InterArrival::default();
        let mut deltas = None;
        for (sent, arrived) in [(0, 100_i64), (5, 108), (17, 120), (20, 125), (33, 140)] {
            let known = Time::from_millis(arrived.unsigned_abs());
            deltas = groups.add(&config, known, Time::from_millis(sent), at(arrived));
        }
        // The first packets of the two groups left at 0 and 17 ms and arrived at 100 and 120.
        let deltas = deltas.unwrap();
        assert_eq!(deltas.sent, TimeDelta::from_millis(17));
        assert_eq!(deltas.arrival, TimeDelta::from_millis(20));
    }

    #[test]
    fn what_a_queue_lets_go_at_once_is_one_group() {
        let mut groups = InterArrival::default();
        // The packets leave 10 ms apart and arrive 4 ms apart: they are one group for 100 ms.
        for i in 0..30 {
            assert_eq!(
                add(&mut groups, 10 * i, 500 + 4 * i.cast_signed()),
                None,
                "{i}"
            );
        }
        // The last packet of the first group left at 240 ms and arrived at 596, that of the second
        // at 290 and 616.
        assert_eq!(add(&mut groups, 1_000, 1_500), Some((50.0, 20.0)));
    }

    #[test]
    fn a_packet_from_before_the_group_counts_for_nothing() {
        let mut groups = InterArrival::default();
        add(&mut groups, 0, 100);
        add(&mut groups, 20, 120);
        assert_eq!(add(&mut groups, 10, 130), None);
        assert_eq!(add(&mut groups, 40, 140), Some((20.0, 20.0)));
    }
}
