//! Competition with flows that fill the queue (section 2.2): a detector, and a delta that
//! follows losses.
//!
//! If all flows are Copa's, the queue is nearly empty once in five round trips
//! (section 3). If it is not, other flows fill it: then 1 / delta grows by one packet a
//! round trip and halves with a loss, as the window of a flow that fills the queue does.
//!
//! *Deviation.* The paper's sender obeys its window at once, an encoder with its next frame. The
//! detector therefore counts loops, each of which is a round trip and a frame's interval.

use mimosa_units::{Time, TimeDelta};

use super::config::Config;
use crate::windowed_min::WindowedMin;

/// Number of loops in which the queue has to be nearly empty once.
const DETECTION_LOOPS: u32 = 5;
/// Number of loops whose largest round trip shows how much round trips vary.
const VARIATION_LOOPS: u32 = 4;
/// Largest queueing delay of a nearly empty queue, as a share of the variation of round trips.
const NEARLY_EMPTY: f64 = 0.1;

/// The present mode, default or competitive, and its delta.
#[derive(Debug)]
pub(super) struct Mode {
    is_on: bool,
    default_delta: f64,
    /// 1 / delta in the competitive mode; `None` in the default mode.
    packets: Option<f64>,
    lowest: WindowedMin,
    /// The largest round trips, negated.
    highest: WindowedMin,
    /// When 1 / delta last changed.
    grown: Time,
    /// When a loss last halved 1 / delta in this competitive mode; `None` if none has.
    halved: Option<Time>,
}

/// The measurements of the path when a packet is acknowledged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    /// The smoothed round trip.
    pub(super) smoothed: TimeDelta,
    /// The smallest round trip of the long term.
    pub(super) smallest: TimeDelta,
    /// Interval between frames.
    pub(super) interval: TimeDelta,
    /// The window in packets, which 1 / delta does not exceed.
    pub(super) window: f64,
}

impl Mode {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            is_on: config.mode_switching,
            default_delta: config.delta,
            packets: None,
            lowest: WindowedMin::new(TimeDelta::ZERO),
            highest: WindowedMin::new(TimeDelta::ZERO),
            grown: Time::ZERO,
            halved: None,
        }
    }

    /// The present delta: the weight of delay against throughput.
    pub(super) fn delta(&self) -> f64 {
        self.packets
            .map_or(self.default_delta, |packets| 1.0 / packets)
    }

    /// Whether the mode is the competitive one, in which 1 / delta follows losses.
    pub(super) const fn is_competitive(&self) -> bool {
        self.packets.is_some()
    }

    /// Takes an acknowledgement that came after `rtt`, and chooses the mode.
    pub(super) fn acknowledged(&mut self, now: Time, rtt: TimeDelta, path: &Path) {
        if !self.is_on {
            return;
        }
        let Path {
            smoothed,
            smallest,
            interval,
            window,
        } = *path;
        self.lowest
            .set_window((smoothed + interval) * DETECTION_LOOPS);
        self.highest
            .set_window((smoothed + interval) * VARIATION_LOOPS);
        self.lowest.add(now, rtt);
        self.highest.add(now, -rtt);
        let lowest = self.lowest.get().unwrap_or(rtt);
        let highest = -self.highest.get().unwrap_or(-rtt);
        let variation = (highest - smallest).scale(NEARLY_EMPTY);
        if lowest - smallest <= variation {
            self.packets = None;
            self.halved = None;
            return;
        }
        let least = 1.0 / self.default_delta;
        match &mut self.packets {
            None => {
                self.packets = Some(least);
                self.grown = now;
            }
            Some(packets) if now.since(self.grown) >= smoothed => {
                *packets = (*packets + 1.0).min(window).max(least);
                self.grown = now;
            }
            Some(_) => {}
        }
    }

    /// Takes a loss. Returns whether the loss halved 1 / delta, at the lowest to its
    /// default; that happens at most once in a round trip.
    pub(super) fn lost(&mut self, now: Time, smoothed: TimeDelta) -> bool {
        let Some(packets) = &mut self.packets else {
            return false;
        };
        if self.halved.is_some_and(|at| now.since(at) < smoothed) {
            return false;
        }
        *packets = (*packets / 2.0).max(1.0 / self.default_delta);
        self.halved = Some(now);
        self.grown = now;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(i64) -> TimeDelta = TimeDelta::from_millis;
    const EMPTY: TimeDelta = TimeDelta::from_millis(20);
    /// A path whose five loops are 100 ms.
    const PATH: Path = Path {
        smoothed: EMPTY,
        smallest: EMPTY,
        interval: TimeDelta::ZERO,
        window: 100.0,
    };

    fn mode() -> Mode {
        Mode::new(&Config {
            mode_switching: true,
            ..Config::default()
        })
    }

    /// Gives `mode` round trips of `rtts` in turn, one each millisecond, for `time` ms
    /// after `from`. Returns the end.
    fn come(mode: &mut Mode, from: u64, time: u64, rtts: &[i64]) -> u64 {
        for (ms, rtt) in (from..from + time).zip(rtts.iter().cycle()) {
            mode.acknowledged(Time::from_millis(ms), MS(*rtt), &PATH);
        }
        from + time
    }

    #[test]
    fn nearly_empty_is_a_tenth_of_what_round_trips_vary_by() {
        // 10 ms of variation: 1 ms of queue is nearly empty, 2 ms are not.
        for (lowest, competes) in [(20, false), (21, false), (22, true)] {
            let mut mode = mode();
            // The first round trips leave the window of 5 x 20 ms before the end.
            let now = come(&mut mode, 0, 20, &[20]);
            come(&mut mode, now, 200, &[lowest, 30]);
            assert_eq!(mode.is_competitive(), competes, "{lowest} ms");
        }
    }

    #[test]
    fn a_queue_has_five_round_trips_to_empty_once() {
        let mut mode = mode();
        let now = come(&mut mode, 0, 20, &[20]);
        // A window of twenty slots ends up to one slot early.
        let now = come(&mut mode, now, 94, &[30]);
        assert!(!mode.is_competitive(), "after 94 ms");
        come(&mut mode, now, 7, &[30]);
        assert!(mode.is_competitive(), "after 101 ms");
    }

    #[test]
    fn a_link_without_any_variation_is_nobody_elses() {
        let mut mode = mode();
        come(&mut mode, 0, 1_000, &[20]);
        assert!(!mode.is_competitive());
        assert_eq!(mode.delta().to_bits(), 0.5_f64.to_bits());
    }

    #[test]
    fn one_over_delta_grows_by_a_packet_a_round_trip_and_halves_with_a_loss() {
        let mut mode = mode();
        mode.packets = Some(2.0);
        mode.grown = Time::ZERO;
        mode.lowest.add(Time::ZERO, MS(30));
        let packets = |mode: &Mode| 1.0 / mode.delta();
        // From 2 packets: one more after each 20 ms. The window caps it.
        let now = come(&mut mode, 1, 200, &[30]);
        assert!((packets(&mode) - 12.0).abs() < 1e-9, "{}", packets(&mode));
        assert!(mode.lost(Time::from_millis(now), EMPTY));
        assert!((packets(&mode) - 6.0).abs() < 1e-9);
        // More losses of the same round trip are one.
        assert!(!mode.lost(Time::from_millis(now + 19), EMPTY));
        assert!((packets(&mode) - 6.0).abs() < 1e-9);
        // 6, 3, 2 and no less: delta is at most its default.
        for round in 1..=3 {
            assert!(mode.lost(Time::from_millis(now + 20 * round), EMPTY));
        }
        assert!((packets(&mode) - 2.0).abs() < 1e-9);
        // Growth begins anew with the last loss: the first packet is added 20 ms after it.
        let now = now + 60;
        come(&mut mode, now, 20, &[30]);
        assert!((packets(&mode) - 2.0).abs() < 1e-9);
        come(&mut mode, now + 20, 1, &[30]);
        assert!((packets(&mode) - 3.0).abs() < 1e-9);
    }

    #[test]
    fn one_over_delta_is_no_more_than_the_window() {
        let mut mode = mode();
        let mut now = come(&mut mode, 0, 20, &[20]);
        for _ in 0..10 {
            now = come(&mut mode, now, 1_000, &[30]);
        }
        assert!((1.0 / mode.delta() - 100.0).abs() < 1e-9);
    }

    #[test]
    fn an_empty_queue_brings_the_default_back() {
        let mut mode = mode();
        let now = come(&mut mode, 0, 20, &[20]);
        let now = come(&mut mode, now, 400, &[30]);
        assert!(mode.delta() < 0.1, "{}", mode.delta());
        come(&mut mode, now, 1, &[20]);
        assert!(!mode.is_competitive());
        assert_eq!(mode.delta().to_bits(), 0.5_f64.to_bits());
        assert!(!mode.lost(Time::from_millis(now + 1), EMPTY));
    }

    #[test]
    fn without_the_option_nothing_switches() {
        let mut mode = Mode::new(&Config::default());
        let now = come(&mut mode, 0, 20, &[20]);
        come(&mut mode, now, 1_000, &[30]);
        assert!(!mode.is_competitive());
    }
}
