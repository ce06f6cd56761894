//! Figures of a direction for each of its queues: counts from the beginning, and
//! the rate and delays of the last whole second.

use hdrhistogram::Histogram;
use mimosa_facts::{Fate, LinkPacket, Passage};
use mimosa_units::{Bytes, Ecn, Rate, Time, TimeDelta};

/// The shortest time for which rate and delays are gathered before they are shown.
const WINDOW: TimeDelta = TimeDelta::from_millis(1_000);
/// The longest delay that is counted as it is: longer ones count as one minute.
const LONGEST_NANOS: u64 = 60_000_000_000;

/// Quantiles of the delays of many packets.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Delays {
    /// Median of the delays.
    pub p50: TimeDelta,
    /// 95th percentile of the delays.
    pub p95: TimeDelta,
    /// 99th percentile of the delays.
    pub p99: TimeDelta,
    /// 99.9th percentile of the delays.
    pub p999: TimeDelta,
    /// The longest delay.
    pub most: TimeDelta,
}

/// A distribution of delays, counted one by one in bounded memory.
#[derive(Clone, Debug, PartialEq)]
pub struct DelayCount {
    /// The histogram of the delays in nanoseconds; `None` only if it could not be made.
    counts: Option<Histogram<u64>>,
}

impl Default for DelayCount {
    /// A distribution with a precision of two significant digits.
    fn default() -> Self {
        Self::new(2)
    }
}

impl DelayCount {
    /// A distribution without delays, with a precision of `digits` significant
    /// digits, at most five.
    #[must_use]
    pub fn new(digits: u8) -> Self {
        Self {
            counts: Histogram::new_with_bounds(1, LONGEST_NANOS, digits.min(5)).ok(),
        }
    }

    /// Adds a delay; one below zero counts as zero.
    pub fn note(&mut self, delay: TimeDelta) {
        if let Some(counts) = &mut self.counts {
            counts.saturating_record(delay.as_nanos().max(0).unsigned_abs());
        }
    }

    /// The delay that the share `share` of all delays, from 0 to 1, does not
    /// exceed; `None` when there is no delay.
    #[must_use]
    pub fn at(&self, share: f64) -> Option<TimeDelta> {
        let counts = self.counts.as_ref().filter(|counts| !counts.is_empty())?;
        let nanos = counts.value_at_quantile(share).min(counts.max());
        Some(TimeDelta::from_nanos(nanos.cast_signed()))
    }

    /// The longest delay; zero when there is no delay.
    #[must_use]
    pub fn most(&self) -> TimeDelta {
        self.at(1.0).unwrap_or(TimeDelta::ZERO)
    }

    /// The usual quantiles; `None` when there is no delay.
    #[must_use]
    pub fn delays(&self) -> Option<Delays> {
        Some(Delays {
            p50: self.at(0.5)?,
            p95: self.at(0.95)?,
            p99: self.at(0.99)?,
            p999: self.at(0.999)?,
            most: self.at(1.0)?,
        })
    }

    fn clear(&mut self) {
        if let Some(counts) = &mut self.counts {
            counts.reset();
        }
    }
}

/// The figures of one queue within a direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lane {
    /// Packets that passed the link.
    pub passed: u64,
    /// Bytes of the packets that passed the link.
    pub bytes: Bytes,
    /// Packets that the queue dropped.
    pub dropped: u64,
    /// Packets that the queue marked, among those that passed the link.
    pub marked: u64,
    /// Packets that were lost on the path.
    pub lost: u64,
    /// Times that packets waited in the queue, from the beginning.
    pub waits: DelayCount,
    /// The rate at which packets passed the link in the last whole second.
    pub rate: Rate,
    /// Quantiles of the times that packets waited in the last whole second;
    /// `None` when nothing passed.
    pub delays: Option<Delays>,
    /// Bytes that passed in the present second, which is not yet whole.
    gathered: Bytes,
    /// Times that packets waited in the present second.
    recent: DelayCount,
}

impl Lane {
    fn note(&mut self, passage: &Passage<LinkPacket>) {
        let Some(started) = passage.started else {
            self.dropped += 1;
            return;
        };
        self.passed += 1;
        self.bytes += passage.size;
        self.gathered += passage.size;
        self.lost += u64::from(passage.fate == Fate::Lost);
        let is_marked = passage.ecn == Ecn::Ce && passage.sent_ecn != Ecn::Ce;
        self.marked += u64::from(is_marked);
        let wait = started.since(passage.offered);
        self.waits.note(wait);
        self.recent.note(wait);
    }

    fn end_window(&mut self, lasted: TimeDelta) {
        self.rate = Rate::of(self.gathered, lasted);
        self.delays = self.recent.delays();
        self.gathered = Bytes::ZERO;
        self.recent.clear();
    }
}

/// Gathers the figures of one direction from the passages of its packets.
#[derive(Clone, Debug)]
pub struct Monitor {
    lanes: Vec<Lane>,
    since: Time,
}

impl Monitor {
    /// A monitor of a direction whose queue has `lanes` queues, at least one, from `now` on.
    #[must_use]
    pub fn new(lanes: usize, now: Time) -> Self {
        Self {
            lanes: vec![Lane::default(); lanes.max(1)],
            since: now,
        }
    }

    /// Counts a passage. A passage through a queue beyond the last counts for the last queue.
    pub fn note(&mut self, passage: &Passage<LinkPacket>) {
        let last = self.lanes.len() - 1;
        if let Some(lane) = self.lanes.get_mut(passage.packet.queue.min(last)) {
            lane.note(passage);
        }
    }

    /// Ends the present second if it is over at `now`.
    pub fn timer(&mut self, now: Time) {
        let lasted = now.since(self.since);
        if lasted < WINDOW {
            return;
        }
        self.since = now;
        for lane in &mut self.lanes {
            lane.end_window(lasted);
        }
    }

    /// The figures of the queues, in the order of their numbers.
    #[must_use]
    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }
}

#[cfg(test)]
mod tests {
    use mimosa_facts::Header;

    use super::*;

    fn passage(lane: usize, wait: Option<i64>, ecn: Ecn) -> Passage<LinkPacket> {
        let offered = Time::from_millis(5);
        Passage {
            packet: LinkPacket {
                is_forward: true,
                header: Header::of_flow(0, Header::UDP, 0),
                rtp: None,
                queue: lane,
                backlog: Bytes::ZERO,
            },
            size: Bytes::new(1_250),
            sent_ecn: Ecn::Ect1,
            ecn,
            offered,
            started: wait.map(|ms| offered + TimeDelta::from_millis(ms)),
            finished: None,
            fate: Fate::Dropped,
        }
    }

    #[test]
    fn rare_delays_are_told_from_the_longest() {
        let mut delays = DelayCount::new(3);
        assert_eq!((delays.delays(), delays.most()), (None, TimeDelta::ZERO));
        for (count, millis) in [(9_980, 1), (15, 10), (5, 100)] {
            for _ in 0..count {
                delays.note(TimeDelta::from_millis(millis));
            }
        }
        let Delays {
            p50,
            p99,
            p999,
            most,
            ..
        } = delays.delays().unwrap();
        let millis = [p50, p99, p999, most].map(|delay| delay.as_nanos() / 1_000_000);
        assert_eq!(millis, [1, 1, 10, 100]);
    }

    #[test]
    fn a_second_is_shown_when_it_is_over_and_the_whole_stays() {
        let mut monitor = Monitor::new(2, Time::ZERO);
        for wait in 1..=100 {
            monitor.note(&passage(1, Some(wait), Ecn::Ect1));
        }
        monitor.note(&passage(1, Some(3), Ecn::Ce));
        monitor.note(&passage(0, None, Ecn::Ect1));
        monitor.timer(Time::from_millis(999));
        assert_eq!(monitor.lanes()[1].delays, None);
        monitor.timer(Time::from_millis(1_000));
        let lane = &monitor.lanes()[1];
        assert_eq!((lane.passed, lane.marked, lane.dropped), (101, 1, 0));
        assert_eq!(lane.rate, Rate::from_bps(101 * 10_000));
        let delays = lane.delays.unwrap();
        // The quantiles have a precision of two digits.
        assert!(
            (49.0..=51.0).contains(&delays.p50.as_millis()),
            "{delays:?}"
        );
        assert!((98.0..=100.0).contains(&delays.p99.as_millis()));
        assert_eq!(monitor.lanes()[0].dropped, 1);
        monitor.timer(Time::from_millis(2_000));
        let lane = &monitor.lanes()[1];
        assert_eq!((lane.rate, lane.delays), (Rate::ZERO, None));
        assert!(lane.waits.at(0.99) > Some(TimeDelta::from_millis(95)));
    }
}
