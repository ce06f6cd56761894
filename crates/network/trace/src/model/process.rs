//! The random processes from which the models are built. Each advances in steps of a fixed time.

use crate::random::Random;

/// A stationary Gaussian process with mean 0, deviation 1 and autocorrelation
/// exp(-t / memory) (Ornstein and Uhlenbeck), stepped without error:
/// x' = a x + sqrt(1 - a^2) n, where a = exp(-step / memory) and n is normal.
pub(super) struct Drift {
    random: Random,
    value: f64,
    keeps: f64,
}

impl Drift {
    pub(super) fn new(mut random: Random, step: f64, memory: f64) -> Self {
        let keeps = if memory > 0.0 {
            libm::exp(-step / memory)
        } else {
            0.0
        };
        Self {
            value: random.normal(),
            random,
            keeps,
        }
    }

    pub(super) fn advance(&mut self) -> f64 {
        let kick = (1.0 - self.keeps * self.keeps).sqrt();
        self.value = self.keeps * self.value + kick * self.random.normal();
        self.value
    }
}

/// Times during which the rate falls to a share of itself. Their beginnings are a Poisson process,
/// they do not overlap, their durations are exponential, and each has its own share, uniform
/// between two bounds.
pub(super) struct Falls {
    random: Random,
    step: f64,
    config: FallsConfig,
    until_change: f64,
    share: f64,
    fallen: bool,
}

/// How often falls begin, how long they last, and to what share the rate falls.
pub(super) struct FallsConfig {
    pub(super) per_minute: f64,
    pub(super) mean_secs: f64,
    pub(super) shares: (f64, f64),
}

impl Falls {
    pub(super) fn new(mut random: Random, step: f64, config: FallsConfig) -> Self {
        let until_change = random.exponential(60.0 / config.per_minute);
        Self {
            random,
            step,
            config,
            until_change,
            share: 1.0,
            fallen: false,
        }
    }

    /// The mean share over the next step; 1 without a fall.
    pub(super) fn advance(&mut self) -> f64 {
        let mut left = self.step;
        let mut passed = 0.0;
        while self.until_change < left {
            passed += self.until_change * self.share;
            left -= self.until_change;
            self.turn();
        }
        self.until_change -= left;
        (passed + left * self.share) / self.step
    }

    fn turn(&mut self) {
        self.fallen = !self.fallen;
        let (low, high) = self.config.shares;
        (self.until_change, self.share) = if self.fallen {
            let lasts = self.random.exponential(self.config.mean_secs);
            (lasts, self.random.between(low, high))
        } else {
            let waits = self.random.exponential(60.0 / self.config.per_minute);
            (waits, 1.0)
        };
        // However often falls come, time passes between them.
        self.until_change = self.until_change.max(self.step / 100.0);
    }
}

/// The number of other users of the medium. Users arrive as a Poisson process and stay for an
/// exponential time, so that their number is Poisson (M/M/infinity).
pub(super) struct Others {
    random: Random,
    step: f64,
    come_per_sec: f64,
    stay_secs: f64,
    count: u32,
}

/// Most other users. More make no difference, and a mistake in the configuration would take for
/// ever.
const MOST_OTHERS: u32 = 1_000;

impl Others {
    pub(super) fn new(mut random: Random, step: f64, mean: f64, stay_secs: f64) -> Self {
        let mut count = 0;
        // The number of unit-rate arrivals within `mean` is Poisson.
        let mut passed = random.exponential(1.0);
        while passed < mean && count < MOST_OTHERS {
            count += 1;
            passed += random.exponential(1.0);
        }
        Self {
            random,
            step,
            come_per_sec: mean / stay_secs,
            stay_secs,
            count,
        }
    }

    /// The number of other users in the next step.
    pub(super) fn advance(&mut self) -> u32 {
        let stays = libm::exp(-self.step / self.stay_secs);
        let leave = (0..self.count)
            .filter(|_| self.random.uniform() >= stays)
            .count();
        self.count -= u32::try_from(leave).unwrap_or(self.count);
        // Users that come within the step and are still there at its end.
        let mut passed = self.random.exponential(1.0);
        let mean = self.come_per_sec * self.stay_secs * (1.0 - stays);
        while passed < mean && self.count < MOST_OTHERS {
            self.count += 1;
            passed += self.random.exponential(1.0);
        }
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: f64 = 0.02;
    const STEPS: u32 = 500_000;

    #[test]
    fn a_drift_has_its_memory() {
        let mut drift = Drift::new(Random::new(1, 1), STEP, 0.2);
        let values: Vec<f64> = (0..STEPS).map(|_| drift.advance()).collect();
        let mean_of = |lag: usize| {
            let products = values.iter().zip(&values[lag..]).map(|(a, b)| a * b);
            products.sum::<f64>() / values.len() as f64
        };
        assert!((mean_of(0) - 1.0).abs() < 0.03, "{}", mean_of(0));
        let expected = libm::exp(-1.0);
        assert!((mean_of(10) - expected).abs() < 0.03, "{}", mean_of(10));
    }

    #[test]
    fn falls_take_their_share_of_the_time() {
        let config = FallsConfig {
            per_minute: 12.0,
            mean_secs: 0.5,
            shares: (0.2, 0.4),
        };
        let mut falls = Falls::new(Random::new(1, 1), STEP, config);
        let mean = (0..STEPS).map(|_| falls.advance()).sum::<f64>() / f64::from(STEPS);
        // Falls take half a second of every five and a half, and in them 0.7 is missing.
        let expected = 1.0 - 0.7 * 0.5 / 5.5;
        assert!((mean - expected).abs() < 0.005, "{mean}, not {expected}");
    }

    #[test]
    fn others_are_as_many_as_said() {
        let mut others = Others::new(Random::new(1, 1), STEP, 1.5, 0.7);
        let counts: Vec<f64> = (0..STEPS).map(|_| f64::from(others.advance())).collect();
        let mean = counts.iter().sum::<f64>() / counts.len() as f64;
        let variance = counts.iter().map(|c| (c - mean) * (c - mean)).sum::<f64>();
        let variance = variance / counts.len() as f64;
        assert!((mean - 1.5).abs() < 0.06, "{mean}");
        assert!((variance - 1.5).abs() < 0.1, "{variance}");
    }
}
