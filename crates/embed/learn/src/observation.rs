//! What a controller may know, gathered from the events that it is told.

use mimosa_facts::{Event, PacketOutcome, PacketReport};
use mimosa_units::{Bytes, Ecn, Rate, Time, TimeDelta};

/// What a controller may know when a frame is due. Before anything is known of a quantity it is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Observation {
    /// The target of the step before, in Mbit/s.
    pub target_mbps: f64,
    /// What arrived by the reports since the step before, over the time between the two, in Mbit/s.
    pub delivered_mbps: f64,
    /// Delay above the smallest so far, of the newest packet that arrived, in milliseconds.
    pub queue_delay_ms: f64,
    /// The least of that delay among the packets reported since the step before; the newest where
    /// none was.
    pub queue_delay_min_ms: f64,
    /// Share of the packets reported since the step before that were lost.
    pub lost: f64,
    /// Share of those that arrived with the mark of congestion.
    pub marked: f64,
    /// Bytes in flight as the time that they take at the target, in milliseconds.
    pub in_flight_ms: f64,
    /// Time since the newest report came, in milliseconds.
    pub report_age_ms: f64,
    /// The smallest time from a packet's departure to a report on it so far, in milliseconds.
    pub round_trip_ms: f64,
    /// The rate at which the packets of the newest frame arrived, after its first one, in Mbit/s.
    pub train_mbps: f64,
    /// The time to the next frame, in milliseconds.
    pub interval_ms: f64,
}

impl Observation {
    /// The names of the fields, in the order of [`Self::values`].
    pub const NAMES: [&'static str; 11] = [
        "target_mbps",
        "delivered_mbps",
        "queue_delay_ms",
        "queue_delay_min_ms",
        "lost",
        "marked",
        "in_flight_ms",
        "report_age_ms",
        "round_trip_ms",
        "train_mbps",
        "interval_ms",
    ];

    /// The fields' values.
    #[must_use]
    pub const fn values(&self) -> [f64; 11] {
        [
            self.target_mbps,
            self.delivered_mbps,
            self.queue_delay_ms,
            self.queue_delay_min_ms,
            self.lost,
            self.marked,
            self.in_flight_ms,
            self.report_age_ms,
            self.round_trip_ms,
            self.train_mbps,
            self.interval_ms,
        ]
    }
}

/// A frame whose packets arrive.
#[derive(Clone, Copy, Debug)]
struct Train {
    frame: u64,
    first: i64,
    last: i64,
    /// Bytes after those that arrived first.
    behind: Bytes,
}

/// Gathers observations.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// When the step before was.
    since: Time,
    arrived: Bytes,
    reported: u64,
    lost: u64,
    marked: u64,
    /// One-way delay of the newest packet that arrived, across the two clocks.
    newest: Option<i64>,
    smallest: Option<i64>,
    /// The least since the step before.
    least: Option<i64>,
    in_flight: Bytes,
    heard: Option<Time>,
    round_trip: Option<TimeDelta>,
    train: Option<Train>,
    train_rate: Rate,
}

impl Watch {
    /// Takes an event.
    pub(crate) fn event(&mut self, now: Time, event: &Event<'_>) {
        if let Event::Feedback { reports, in_flight } = event {
            self.heard = Some(now);
            self.in_flight = *in_flight;
            for report in *reports {
                self.report(now, report);
            }
        }
    }

    fn report(&mut self, now: Time, report: &PacketReport) {
        let packet = report.packet;
        self.reported += 1;
        let PacketOutcome::Arrived { at, ecn, .. } = report.outcome else {
            self.lost += 1;
            return;
        };
        self.arrived += packet.size;
        self.marked += u64::from(ecn == Ecn::Ce);
        let trip = now.since(packet.sent);
        self.round_trip = Some(self.round_trip.map_or(trip, |least| least.min(trip)));
        let sent = i64::try_from(packet.sent.as_nanos()).unwrap_or(i64::MAX);
        let delay = at.as_nanos().saturating_sub(sent);
        self.newest = Some(delay);
        let least = |of: Option<i64>| Some(of.map_or(delay, |least| least.min(delay)));
        self.smallest = least(self.smallest);
        self.least = least(self.least);
        if !packet.kind.is_first() {
            return;
        }
        match &mut self.train {
            Some(train) if train.frame == packet.frame.0 => {
                train.last = train.last.max(at.as_nanos());
                train.behind += packet.size;
                let spread = TimeDelta::from_nanos(train.last.saturating_sub(train.first));
                if spread > TimeDelta::ZERO {
                    self.train_rate = Rate::of(train.behind, spread);
                }
            }
            train => {
                *train = Some(Train {
                    frame: packet.frame.0,
                    first: at.as_nanos(),
                    last: at.as_nanos(),
                    behind: Bytes::ZERO,
                });
            }
        }
    }

    /// The observation at `now`, under this target; the next one counts from here.
    pub(crate) fn take(&mut self, now: Time, target: Rate, interval: TimeDelta) -> Observation {
        let above = |delay: Option<i64>| match (delay, self.smallest) {
            (Some(delay), Some(smallest)) => (delay - smallest) as f64 / 1e6,
            _ => 0.0,
        };
        let share = |part: u64| {
            if self.reported == 0 {
                0.0
            } else {
                part as f64 / self.reported as f64
            }
        };
        let passed = now.since(self.since);
        let observation = Observation {
            target_mbps: target.as_mbps(),
            delivered_mbps: if passed > TimeDelta::ZERO {
                Rate::of(self.arrived, passed).as_mbps()
            } else {
                0.0
            },
            queue_delay_ms: above(self.newest),
            queue_delay_min_ms: above(self.least.or(self.newest)),
            lost: share(self.lost),
            marked: share(self.marked),
            in_flight_ms: target.transmit_time(self.in_flight).as_millis(),
            report_age_ms: self.heard.map_or(0.0, |heard| now.since(heard).as_millis()),
            round_trip_ms: self.round_trip.map_or(0.0, TimeDelta::as_millis),
            train_mbps: self.train_rate.as_mbps(),
            interval_ms: interval.as_millis(),
        };
        self.since = now;
        self.arrived = Bytes::ZERO;
        (self.reported, self.lost, self.marked) = (0, 0, 0);
        self.least = None;
        observation
    }
}

#[cfg(test)]
mod tests {
    use mimosa_facts::{FrameId, PacketKind, SentPacket, Sequence};
    use mimosa_units::PeerTime;

    use super::*;

    /// A packet of 1250 bytes of frame 0 that left and arrived at these milliseconds; the
    /// receiver's clock is an hour ahead.
    fn report(sequence: u64, sent: u64, arrived: Option<i64>, ecn: Ecn) -> PacketReport {
        PacketReport {
            packet: SentPacket {
                sequence: Sequence(sequence),
                frame: FrameId(0),
                kind: PacketKind::Media,
                size: Bytes::new(1_250),
                sent: Time::from_millis(sent),
            },
            outcome: arrived.map_or(PacketOutcome::Lost, |at| PacketOutcome::Arrived {
                at: PeerTime::from_nanos((at + 3_600_000) * 1_000_000),
                ecn,
                after_loss: false,
            }),
        }
    }

    #[test]
    fn delays_are_above_the_smallest_whatever_the_clocks() {
        let mut watch = Watch::default();
        let reports = [
            report(0, 0, Some(10), Ecn::NotEct),
            report(1, 0, Some(11), Ecn::Ce),
            report(2, 0, None, Ecn::NotEct),
            report(3, 0, Some(15), Ecn::NotEct),
        ];
        let in_flight = Bytes::new(12_500);
        let event = Event::Feedback {
            reports: &reports,
            in_flight,
        };
        watch.event(Time::from_millis(30), &event);
        let target = Rate::from_kbps(10_000);
        let interval = TimeDelta::from_millis(16);
        let seen = watch.take(Time::from_millis(40), target, interval);
        let delays = (seen.queue_delay_ms, seen.queue_delay_min_ms);
        assert_eq!(delays, (5.0, 0.0));
        assert_eq!((seen.lost, seen.marked), (0.25, 0.25));
        // 3750 bytes in 40 ms, and 2500 bytes within 5 ms after the first packet.
        assert_eq!((seen.delivered_mbps, seen.train_mbps), (0.75, 4.0));
        let times = (seen.in_flight_ms, seen.report_age_ms, seen.round_trip_ms);
        assert_eq!(times, (10.0, 10.0, 30.0));
        let next = watch.take(Time::from_millis(56), target, interval);
        let rest = (next.delivered_mbps, next.lost, next.queue_delay_min_ms);
        assert_eq!(rest, (0.0, 0.0, 5.0), "the delay is the newest packet's");
        assert_eq!(Observation::NAMES.len(), next.values().len());
    }
}
