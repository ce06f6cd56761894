//! The observation window, with the packets that arrived, were lost or were marked and their
//! delays, and the loss intervals.

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

/// Number of slots in the window, which slides in steps of one slot.
const SLOTS: usize = 25;

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    bytes: Bytes,
    arrived: f64,
    lost: f64,
    marked: f64,
    highest_delay: TimeDelta,
}

/// Sums over the packets of the last `LOGWIN`.
#[derive(Debug)]
pub(super) struct Log {
    slots: [Slot; SLOTS],
    current: usize,
    ends: Time,
    window: TimeDelta,
    slot: TimeDelta,
}

impl Log {
    pub(super) fn new(window: TimeDelta) -> Self {
        Self {
            slots: [Slot::default(); SLOTS],
            current: 0,
            ends: Time::ZERO,
            window,
            slot: (window / 25).max(TimeDelta::from_nanos(1)),
        }
    }

    pub(super) fn arrived(&mut self, size: Bytes, delay: TimeDelta, is_marked: bool) {
        let slot = &mut self.slots[self.current];
        slot.bytes += size;
        slot.arrived += 1.0;
        slot.marked += if is_marked { 1.0 } else { 0.0 };
        slot.highest_delay = slot.highest_delay.max(delay);
    }

    pub(super) fn lost(&mut self) {
        self.slots[self.current].lost += 1.0;
    }

    /// Moves the end of the window to `now`.
    pub(super) fn advance(&mut self, now: Time) {
        for _ in 0..SLOTS {
            if now < self.ends {
                return;
            }
            self.current = (self.current + 1) % SLOTS;
            self.slots[self.current] = Slot::default();
            self.ends += self.slot;
        }
        if now >= self.ends {
            self.ends = now + self.slot;
        }
    }

    fn sum(&self, value: impl Fn(&Slot) -> f64) -> f64 {
        self.slots.iter().map(value).sum()
    }

    /// Returns the receiving rate over the window, `r_recv`.
    pub(super) fn receiving(&self) -> Rate {
        Rate::of(self.slots.iter().map(|slot| slot.bytes).sum(), self.window)
    }

    /// Returns the share of packets lost, and the share of arrivals that were marked.
    pub(super) fn shares(&self) -> (f64, f64) {
        let (arrived, lost) = (self.sum(|slot| slot.arrived), self.sum(|slot| slot.lost));
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let marked = self.sum(|slot| slot.marked);
        (share(lost, arrived + lost), share(marked, arrived))
    }

    /// Whether nothing was lost in the window and every queueing delay was below `delay`.
    pub(super) fn is_calm(&self, delay: TimeDelta) -> bool {
        let is_calm = |slot: &Slot| slot.lost == 0.0 && slot.highest_delay < delay;
        self.slots.iter().all(is_calm)
    }
}

/// Weights of the loss intervals of which the mean is taken, newest first (RFC 5348, section 5.4).
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// Loss intervals: the numbers of packets between loss events.
#[derive(Debug, Default)]
pub(super) struct LossIntervals {
    /// Complete loss intervals, newest first.
    complete: Vec<f64>,
    /// Number of packets since the last loss event began.
    pub(super) current: f64,
    began: Option<Time>,
}

impl LossIntervals {
    pub(super) fn packet(&mut self) {
        self.current += 1.0;
    }

    /// Records a loss. Losses within a round trip of the first one are one event (RFC 5348, section
    /// 5.2).
    pub(super) fn lost(&mut self, now: Time, rtt: TimeDelta) {
        if self.began.is_some_and(|at| now.since(at) <= rtt) {
            return;
        }
        self.began = Some(now);
        self.complete.truncate(WEIGHTS.len() - 1);
        self.complete.insert(0, self.current);
        self.current = 0.0;
    }

    /// Returns the mean loss interval in packets, `loss_int`; `None` before the first loss.
    pub(super) fn mean(&self) -> Option<f64> {
        if self.complete.is_empty() {
            return None;
        }
        let weighted = |values: &mut dyn Iterator<Item = f64>| -> f64 {
            values
                .zip(WEIGHTS)
                .map(|(value, weight)| value * weight)
                .sum()
        };
        let count = self.complete.len();
        let weights: f64 = WEIGHTS.iter().take(count).sum();
        let newest = std::iter::once(self.current).chain(self.complete.iter().copied());
        let with_current = weighted(&mut newest.take(count));
        let complete = weighted(&mut self.complete.iter().copied());
        Some((with_current.max(complete) / weights).max(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_forgets_what_is_older() {
        let (at, ms) = (Time::from_millis, TimeDelta::from_millis);
        let mut log = Log::new(ms(500));
        for time in (0..1_000).step_by(10) {
            log.advance(at(time));
            log.arrived(Bytes::new(1_250), ms(3), time % 100 == 0);
        }
        // 1250 bytes every 10 ms are 1 Mbit/s.
        assert_eq!(log.receiving(), Rate::from_kbps(1_000));
        assert_eq!(log.shares(), (0.0, 0.1));
        assert!(log.is_calm(ms(4)) && !log.is_calm(ms(3)));
        log.lost();
        assert!(!log.is_calm(ms(4)));
        log.advance(at(2_000));
        assert_eq!((log.receiving(), log.shares()), (Rate::ZERO, (0.0, 0.0)));
        assert!(log.is_calm(ms(1)));
    }

    #[test]
    fn the_mean_interval_weighs_the_newest_four_most() {
        let (at, rtt) = (Time::from_millis, TimeDelta::from_millis(20));
        let mut losses = LossIntervals::default();
        assert_eq!(losses.mean(), None);
        for (event, packets) in [100.0, 200.0].into_iter().enumerate() {
            losses.current = packets;
            losses.lost(at(1_000 * event as u64), rtt);
            losses.lost(at(1_000 * event as u64 + 20), rtt);
        }
        assert_eq!(losses.mean(), Some(150.0));
        // A long interval without a loss counts before it ends.
        losses.current = 1_000.0;
        assert_eq!(losses.mean(), Some(600.0));
        for event in 2..9 {
            losses.current = 50.0;
            losses.lost(at(1_000 * event), rtt);
        }
        // There are seven intervals of 50, and the oldest of 200 with a weight of 0.2.
        assert_eq!(losses.mean(), Some((5.8 * 50.0 + 0.2 * 200.0) / 6.0));
    }
}
