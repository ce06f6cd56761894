//! Proactive increase (section IV-B): the exploration gain, the rating of the channel, the
//! network state dictionary, and the decision tree over it.

use std::collections::BTreeMap;

use mimosa_units::{Bytes, Rate, TimeDelta};

use super::config::Config;
use super::monitor::{Period, Samples, share};

/// The most rates remembered in the dictionary; beyond them the lowest is forgotten.
const MOST_STATES: usize = 4_096;

/// The candidate rate that the decision tree chooses.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Choice {
    /// λ+: a step above the rate explored.
    Up,
    /// λ=: the rate explored.
    Keep,
    /// λ-: a step below the rate explored.
    Down,
}

/// The choice of the decision tree of section IV-B, from the rating just measured (`now`)
/// and the ratings remembered for λ= (`same`) and λ+ (`higher`), if there are any. A smaller
/// rating is better.
pub(super) fn choose(now: f64, same: Option<f64>, higher: Option<f64>) -> Choice {
    match (same, higher) {
        (_, Some(higher)) if higher > now => Choice::Up,
        (None, None) => Choice::Up,
        (Some(same), None) if same > now => Choice::Up,
        (None, Some(_)) | (Some(_), None) => Choice::Keep,
        (Some(same), Some(_)) if same > now => Choice::Keep,
        (Some(_), Some(_)) => Choice::Down,
    }
}

/// The measurements of the present exploration period, and the memory of earlier ones.
#[derive(Debug)]
pub(super) struct Exploration {
    gain: u32,
    states: BTreeMap<u64, f64>,
    periods: u32,
    rtvl: Samples,
    /// Sum of the sizes of the frames encoded, in bytes.
    size: f64,
    /// Sum of the intervals of the frames encoded, in seconds.
    interval: f64,
    queued: f64,
    sent: f64,
    resent: f64,
    packets: f64,
    packets_lost: f64,
}

impl Exploration {
    pub(super) fn new() -> Self {
        Self {
            gain: 1,
            states: BTreeMap::new(),
            periods: 0,
            rtvl: Samples::default(),
            size: 0.0,
            interval: 0.0,
            queued: 0.0,
            sent: 0.0,
            resent: 0.0,
            packets: 0.0,
            packets_lost: 0.0,
        }
    }

    #[cfg(test)]
    pub(super) const fn gain(&self) -> u32 {
        self.gain
    }

    #[cfg(test)]
    pub(super) fn states(&self) -> usize {
        self.states.len()
    }

    /// Forgets the gain and the ratings after congestion, since the channel that they
    /// describe has changed.
    pub(super) fn forget(&mut self) {
        self.gain = 1;
        self.states.clear();
        self.restart();
    }

    /// Begins the exploration period anew, with the gain and the ratings kept.
    pub(super) fn restart(&mut self) {
        let states = std::mem::take(&mut self.states);
        *self = Self {
            gain: self.gain,
            states,
            ..Self::new()
        };
    }

    pub(super) fn frame(&mut self, size: Bytes, interval: TimeDelta) {
        if interval > TimeDelta::ZERO {
            self.size += size.get() as f64;
            self.interval += interval.as_secs();
        }
    }

    /// Adds a control period. When the exploration period is over, returns the choice and
    /// the factor from the rate explored to the one chosen; `None` before, or if frames or
    /// RTVL are missing.
    pub(super) fn period(&mut self, config: &Config, period: &Period) -> Option<(Choice, f64)> {
        self.periods = self.periods.saturating_add(1);
        self.rtvl.merge(&period.rtvl);
        self.queued += period.growth();
        self.sent += period.sent.get() as f64;
        self.resent += period.resent.get() as f64;
        self.packets += period.packets;
        self.packets_lost += period.packets_lost;
        // T_exp = (g_max - g + 1) Δt
        let length = config.highest_gain.saturating_sub(self.gain) + 1;
        if self.periods < length {
            return None;
        }
        let ended = self.end(config);
        self.restart();
        ended
    }

    fn end(&mut self, config: &Config) -> Option<(Choice, f64)> {
        let mean = self.mean_rate()?;
        let rating = self.rating(config, mean)?;
        let step = self.step(config);
        let key = |rate: Rate| {
            let smallest = config.smallest_step.as_bps().max(1);
            rate.as_bps().saturating_add(smallest / 2) / smallest
        };
        let (same, higher) = (key(mean), key(mean + step));
        let choice = choose(
            rating,
            self.states.get(&same).copied(),
            self.states.get(&higher).copied(),
        );
        let rate = match choice {
            Choice::Up => mean + step,
            Choice::Keep => mean,
            Choice::Down => mean - step,
        };
        self.gain = match choice {
            Choice::Up => self.gain.saturating_add(1).min(config.highest_gain),
            Choice::Keep => self.gain,
            Choice::Down => self.gain.saturating_sub(1).max(1),
        };
        self.states.insert(same, rating);
        if self.states.len() > MOST_STATES {
            self.states.pop_first();
        }
        Some((choice, rate.ratio(mean)))
    }

    /// The step of the rate: `λ_exp` = g `λ_exp,min`.
    fn step(&self, config: &Config) -> Rate {
        config.smallest_step.scale(f64::from(self.gain))
    }

    /// The mean bitrate of the frames encoded, which counts each frame whole; `None` without
    /// a frame.
    fn mean_rate(&self) -> Option<Rate> {
        (self.interval > 0.0 && self.size > 0.0)
            .then(|| Rate::from_mbps(self.size * 8e-6 / self.interval))
            .filter(|rate| *rate > Rate::ZERO)
    }

    /// The rating R, with RTVL in ms, queued data in kB and bitrates in kbit/s; `None`
    /// without an RTVL.
    fn rating(&self, config: &Config, mean: Rate) -> Option<f64> {
        let rtvl = &self.rtvl;
        let badness = config.weight_mean * rtvl.mean()?
            + config.weight_deviation * rtvl.deviation()
            + config.weight_max * rtvl.max
            + config.weight_queued * self.queued.max(0.0) / 1e3
            + config.weight_resent * share(self.resent, self.sent)
            + config.weight_lost * share(self.packets_lost, self.packets);
        Some(badness / (mean.as_mbps() * 1e3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_that_of_section_4_b() {
        let (better, worse) = (Some(0.5), Some(2.0));
        #[rustfmt::skip]
        let cases = [
            ("A.a", None, None, Choice::Up),
            ("A.b, worse then", None, worse, Choice::Up),
            ("A.b, better then", None, better, Choice::Keep),
            ("B.a, worse then", worse, None, Choice::Up),
            ("B.a, better then", better, None, Choice::Keep),
            ("B.b.1", better, worse, Choice::Up),
            ("B.b.2, worse then", worse, better, Choice::Keep),
            ("B.b.2, better then", better, better, Choice::Down),
        ];
        for (name, same, higher, expected) in cases {
            assert_eq!(choose(1.0, same, higher), expected, "{name}");
        }
    }

    #[test]
    fn the_rating_is_equation_3_with_retransmissions_and_losses() {
        let mut exploration = Exploration::new();
        exploration.frame(Bytes::new(2_500), TimeDelta::from_millis(20));
        for rtvl in [20.0, 40.0] {
            exploration.rtvl.push(TimeDelta::ZERO, rtvl);
        }
        exploration.queued = 5_000.0;
        exploration.sent = 100.0;
        exploration.resent = 2.0;
        exploration.packets = 100.0;
        exploration.packets_lost = 1.0;
        let mean = exploration.mean_rate().unwrap();
        assert_eq!(mean, Rate::from_kbps(1_000));
        // 30 + 10 * 10 + 40 + 2 * 5 + 1000 * 0.02 + 1000 * 0.01, over 1000 kbit/s
        let rating = exploration.rating(&Config::default(), mean).unwrap();
        assert!((rating - 0.21).abs() < 1e-9, "{rating}");
    }

    #[test]
    fn a_rate_that_does_worse_than_before_is_left_downwards() {
        let config = Config {
            highest_gain: 1,
            ..Config::default()
        };
        let mut exploration = Exploration::new();
        // The rates are 1000, 1010 and again 1000 kbit/s, with a higher latency each time.
        for (size, rtvl, expected, rate) in [
            (2_500_u32, 20.0, Choice::Up, 1_010.0),
            (2_525, 30.0, Choice::Up, 1_020.0),
            (2_500, 50.0, Choice::Down, 990.0),
        ] {
            exploration.frame(Bytes::new(size.into()), TimeDelta::from_millis(20));
            let mut period = Period::default();
            period.rtvl.push(TimeDelta::ZERO, rtvl);
            let (choice, factor) = exploration.period(&config, &period).unwrap();
            assert_eq!(choice, expected);
            let explored = f64::from(size) * 0.4;
            assert!((explored * factor - rate).abs() < 1e-6, "{factor}");
        }
    }
}
