//! Random numbers for pictures, over the random streams that every crate shares.

use mimosa_units::random::SplitMix;

/// One stream of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Random(SplitMix);

impl Random {
    /// Stream number `stream` of `seed`.
    pub(crate) const fn new(seed: u64, stream: u64) -> Self {
        Self(SplitMix::stream(seed, stream))
    }

    /// The next 64 bits.
    pub(crate) const fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A uniform number from 0 to below 1.
    pub(crate) fn uniform(&mut self) -> f32 {
        // 24 bits: every value is exact.
        (self.next() >> 40) as f32 / 16_777_216.0
    }

    /// A uniform number from `low` to below `high`.
    pub(crate) fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.uniform()
    }

    /// A number from 0 to `count - 1`; 0 where `count` is zero.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        usize::try_from(self.0.below(count)).unwrap_or(0)
    }
}

/// A number from 0 to below 1 that belongs to a point of a lattice.
pub(crate) fn lattice(column: u32, row: u32, seed: u32) -> f32 {
    let mixed = column.wrapping_mul(0x9e37_79b1) ^ row.wrapping_mul(0x85eb_ca77) ^ seed;
    let mixed = (mixed ^ (mixed >> 15)).wrapping_mul(0x2c1b_3c6d);
    let mixed = (mixed ^ (mixed >> 12)).wrapping_mul(0x297a_2d39);
    ((mixed ^ (mixed >> 15)) >> 8) as f32 / 16_777_216.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_in_their_range() {
        let mut random = Random::new(7, 0);
        let mut sum = 0.0;
        for _ in 0..10_000 {
            let value = random.uniform();
            assert!((0.0..1.0).contains(&value));
            sum += value;
            assert!(random.below(3) < 3);
        }
        assert!((4_800.0..5_200.0).contains(&sum), "{sum}");
        assert_eq!(random.below(0), 0);
    }
}
