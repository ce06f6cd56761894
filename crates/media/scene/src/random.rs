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

    /// The next 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
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
        let count = u64::try_from(count).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % count).unwrap_or(0)
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
    fn streams_are_fixed_and_apart() {
        // The generator's published first number from state 1234567.
        assert_eq!(Random(1_234_567).next(), 6_457_827_717_110_365_317);
        let first = |seed, stream| Random::new(seed, stream).next();
        assert_eq!(first(1, 2), first(1, 2));
        assert_ne!(first(1, 2), first(2, 2));
        assert_ne!(first(1, 2), first(1, 3));
    }

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
