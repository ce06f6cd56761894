//! The distributions of the models, over the random streams that every crate shares.

use mimosa_units::random::SplitMix;

/// One stream of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Random(SplitMix);

impl Random {
    /// Stream number `stream` of `seed`.
    pub(crate) const fn new(seed: u64, stream: u64) -> Self {
        Self(SplitMix::stream(seed, stream))
    }

    /// Uniform from 0 to below 1.
    pub(crate) const fn uniform(&mut self) -> f64 {
        self.0.uniform()
    }

    /// Uniform from `low` to below `high`.
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// Exponential with this mean.
    pub(crate) fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.uniform())
    }

    /// Normal with mean 0 and standard deviation 1 (Box and Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * libm::log(1.0 - self.uniform())).sqrt();
        radius * libm::cos(std::f64::consts::TAU * self.uniform())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_have_their_moments() {
        let mut random = Random::new(1, 0);
        let mut close = |draw: fn(&mut Random) -> f64, mean: f64, deviation: f64| {
            let draws: Vec<f64> = (0..100_000).map(|_| draw(&mut random)).collect();
            let n = draws.len() as f64;
            let found = draws.iter().sum::<f64>() / n;
            let variance = draws.iter().map(|x| (x - found) * (x - found)).sum::<f64>() / n;
            assert!((found - mean).abs() < 0.02, "mean {found}, not {mean}");
            assert!((variance.sqrt() - deviation).abs() < 0.03, "{variance}");
        };
        close(Random::uniform, 0.5, 1.0 / 12f64.sqrt());
        close(|r| r.between(1.0, 3.0), 2.0, 2.0 / 12f64.sqrt());
        close(|r| r.exponential(2.0), 2.0, 2.0);
        close(Random::normal, 0.0, 1.0);
    }
}
