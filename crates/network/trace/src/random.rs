//! Seeded randomness that is the same on every machine: `SplitMix64` (Steele,
//! Lea and Flood, "Fast splittable pseudorandom number generators", 2014).

/// One stream of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// Stream number `stream` of `seed`.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut random = Self(seed ^ stream.wrapping_mul(0xd1b5_4a32_d192_ed03));
        Self(random.next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Uniform from 0 to below 1.
    pub(crate) fn uniform(&mut self) -> f64 {
        // 53 bits: every value is exact.
        (self.next() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
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
    fn streams_are_fixed_and_apart() {
        // The generator's published first number from state 1234567.
        assert_eq!(Random(1_234_567).next(), 6_457_827_717_110_365_317);
        let first = |seed, stream| Random::new(seed, stream).next();
        assert_eq!(first(1, 2), first(1, 2));
        assert_ne!(first(1, 2), first(2, 2));
        assert_ne!(first(1, 2), first(1, 3));
    }

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
