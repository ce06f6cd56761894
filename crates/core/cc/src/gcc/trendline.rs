//! The trend of the delay, and whether it means that the link is overused
//! (`TrendlineEstimator`).

use std::collections::VecDeque;

use mimosa_units::{PeerTime, TimeDelta};

use super::config::Config;
use super::inter_arrival::Deltas;

/// Largest factor of the trend, which is multiplied by the number of groups seen (`kMinNumDeltas`).
const MOST_DELTAS: u32 = 60;
/// Longest time that counts for one change of the threshold (`kMaxTimeDeltaMs`).
const LONGEST_STEP: TimeDelta = TimeDelta::from_millis(100);
/// Largest number of groups kept when the window is a time: the most that libwebrtc accepts.
const MOST_GROUPS: usize = 200;

/// The use of the link, as the delay shows it (`BandwidthUsage`).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Usage {
    /// The delay does not change.
    #[default]
    Normal,
    /// The delay rises: a queue grows.
    Over,
    /// The delay falls: a queue empties.
    Under,
}

/// A line fitted to the smoothed delay, whose slope is compared with a threshold that adapts.
#[derive(Debug)]
pub(super) struct Trendline {
    deltas: u32,
    first_arrival: Option<PeerTime>,
    accumulated: f64,
    smoothed: f64,
    /// Arrival and smoothed delay of each group, in ms.
    window: VecDeque<(f64, f64)>,
    previous_trend: f64,
    threshold: f64,
    threshold_at: Option<PeerTime>,
    /// For how long the trend has been above the threshold; `None` if it is not.
    over: Option<TimeDelta>,
    overs: u32,
    usage: Usage,
}

impl Trendline {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            deltas: 0,
            first_arrival: None,
            accumulated: 0.0,
            smoothed: 0.0,
            window: VecDeque::new(),
            previous_trend: 0.0,
            threshold: config.threshold,
            threshold_at: None,
            over: None,
            overs: 0,
            usage: Usage::Normal,
        }
    }

    pub(super) const fn usage(&self) -> Usage {
        self.usage
    }

    /// Takes the `deltas` of a group to the one before. The packet after the group arrived at `at`.
    pub(super) fn add(&mut self, config: &Config, deltas: Deltas, at: PeerTime) {
        self.deltas = (self.deltas + 1).min(MOST_DELTAS);
        let first = *self.first_arrival.get_or_insert(at);
        self.accumulated += (deltas.arrival - deltas.sent).as_millis();
        self.smoothed =
            config.smoothing * self.smoothed + (1.0 - config.smoothing) * self.accumulated;
        self.window
            .push_back(((at - first).as_millis(), self.smoothed));
        let is_full = self.trim(config);
        let trend = if is_full {
            slope(&self.window).unwrap_or(self.previous_trend)
        } else {
            self.previous_trend
        };
        self.detect(config, trend, deltas.sent, at);
    }

    /// Drops the groups outside of the window. Returns whether a line can be fitted.
    fn trim(&mut self, config: &Config) -> bool {
        let Some(time) = config.window_time else {
            let groups = config.window as usize;
            if self.window.len() > groups {
                self.window.pop_front();
            }
            return self.window.len() == groups;
        };
        let newest = self.window.back().map_or(0.0, |group| group.0);
        let from = newest - time.as_millis();
        while self.window.front().is_some_and(|group| group.0 < from)
            || self.window.len() > MOST_GROUPS
        {
            self.window.pop_front();
        }
        self.window.len() >= 2
    }

    fn detect(&mut self, config: &Config, trend: f64, sent: TimeDelta, at: PeerTime) {
        if self.deltas < 2 {
            self.usage = Usage::Normal;
            return;
        }
        let modified = f64::from(self.deltas) * trend * config.trend_gain;
        if modified > self.threshold {
            let over = match self.over {
                // The trend counts as above the threshold for half of the time since the group
                // before.
                None => sent / 2,
                Some(over) => over + sent,
            };
            self.over = Some(over);
            self.overs = self.overs.saturating_add(1);
            if over > config.overuse_time && self.overs > 1 && trend >= self.previous_trend {
                self.over = Some(TimeDelta::ZERO);
                self.overs = 0;
                self.usage = Usage::Over;
            }
        } else {
            self.over = None;
            self.overs = 0;
            self.usage = if modified < -self.threshold {
                Usage::Under
            } else {
                Usage::Normal
            };
        }
        self.previous_trend = trend;
        self.adapt(config, modified.abs(), at);
    }

    fn adapt(&mut self, config: &Config, modified: f64, at: PeerTime) {
        let since = at - self.threshold_at.unwrap_or(at);
        self.threshold_at = Some(at);
        if modified > self.threshold + config.threshold_spike {
            return;
        }
        let gain = if modified < self.threshold {
            config.threshold_down
        } else {
            config.threshold_up
        };
        let step = since.clamp(TimeDelta::ZERO, LONGEST_STEP).as_millis();
        self.threshold += gain * (modified - self.threshold) * step;
        self.threshold = self
            .threshold
            .clamp(config.threshold_min, config.threshold_max);
    }
}

/// Returns the slope of the least-squares line; `None` if all groups arrived at the same time.
fn slope(points: &VecDeque<(f64, f64)>) -> Option<f64> {
    let count = points.len() as f64;
    let (x_sum, y_sum) = points
        .iter()
        .fold((0.0, 0.0), |(x, y), point| (x + point.0, y + point.1));
    let (x_mean, y_mean) = (x_sum / count, y_sum / count);
    let (mut numerator, mut denominator) = (0.0, 0.0);
    for &(x, y) in points {
        numerator += (x - x_mean) * (y - y_mean);
        denominator += (x - x_mean) * (x - x_mean);
    }
    (denominator > 0.0).then(|| numerator / denominator)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds `groups` groups, sent every 10 ms, each with `growth` ms more delay than the one
    /// before. Arrivals follow `from`, in ns. Returns the last arrival, in ns.
    fn feed(
        trendline: &mut Trendline,
        config: &Config,
        from: i64,
        groups: i64,
        growth: f64,
    ) -> i64 {
        let mut at = from;
        for _ in 0..groups {
            let arrival = TimeDelta::from_secs((10.0 + growth) / 1e3);
            at += arrival.as_nanos();
            let deltas = Deltas {
                sent: TimeDelta::from_millis(10),
                arrival,
            };
            trendline.add(config, deltas, PeerTime::from_nanos(at));
        }
        at
    }

    #[test]
    fn a_line_is_fitted_by_least_squares() {
        let points: VecDeque<_> = [(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)].into();
        assert_eq!(slope(&points), Some(2.0));
        assert_eq!(slope(&[(1.0, 0.0), (1.0, 9.0)].into()), None);
    }

    /// The window is full with the 20th group; overuse takes 10 ms more and a second group.
    #[test]
    fn overuse_needs_a_full_window_and_a_rise() {
        let config = Config::default();
        let mut trendline = Trendline::new(&config);
        let at = feed(&mut trendline, &config, 0, 19, 5.0);
        assert_eq!(trendline.usage(), Usage::Normal, "19 groups");
        feed(&mut trendline, &config, at, 3, 5.0);
        assert_eq!(trendline.usage(), Usage::Over);
    }

    #[test]
    fn a_falling_delay_is_underuse_and_a_steady_one_is_normal() {
        let config = Config::default();
        let mut trendline = Trendline::new(&config);
        let at = feed(&mut trendline, &config, 0, 40, 3.0);
        assert_eq!(trendline.usage(), Usage::Over);
        let at = feed(&mut trendline, &config, at, 60, -3.0);
        assert_eq!(trendline.usage(), Usage::Under);
        feed(&mut trendline, &config, at, 120, 0.0);
        assert_eq!(trendline.usage(), Usage::Normal);
    }

    /// By the formula, the threshold of 12.5 falls by 3.9 % of its distance to zero each ms, down
    /// to 6.
    #[test]
    fn the_threshold_falls_to_its_lowest_without_a_trend() {
        let config = Config::default();
        let mut trendline = Trendline::new(&config);
        feed(&mut trendline, &config, 0, 2, 0.0);
        assert!(
            (trendline.threshold - 12.5).abs() < 1e-9,
            "no time has passed"
        );
        feed(&mut trendline, &config, 20_000_000, 1, 0.0);
        let expected = 12.5 - 0.039 * 12.5 * 10.0;
        assert!((trendline.threshold - expected).abs() < 1e-9);
        feed(&mut trendline, &config, 30_000_000, 1, 0.0);
        assert!((trendline.threshold - 6.0).abs() < 1e-9);
    }

    /// Bursts make few groups: at 30 groups a second, a window of 20 groups is full after 667 ms,
    /// and one of 200 ms holds 6 groups.
    #[test]
    fn a_window_in_time_sees_bursts_sooner() {
        let by_time = Config {
            window_time: Some(TimeDelta::from_millis(200)),
            ..Config::default()
        };
        let groups_until_over = |config: &Config| {
            let mut trendline = Trendline::new(config);
            let mut at = 0;
            for group in 1..100 {
                let growth = if group <= 60 { 0.0 } else { 4.0 };
                let arrival = TimeDelta::from_secs((33.0 + growth) / 1e3);
                at += arrival.as_nanos();
                let sent = TimeDelta::from_millis(33);
                trendline.add(config, Deltas { sent, arrival }, PeerTime::from_nanos(at));
                if trendline.usage() == Usage::Over {
                    return group - 60;
                }
            }
            0
        };
        let (time, count) = (
            groups_until_over(&by_time),
            groups_until_over(&Config::default()),
        );
        assert!(time >= 2 && time < count, "{time} groups, and {count}");
    }
}
