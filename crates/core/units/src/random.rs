//! Pseudorandom numbers from a seed, which are the same on every machine.

/// The number that is added to the state for each output: the fractional part of the golden ratio, times 2^64.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// `bits`, mixed so that every bit of the result depends on all bits: the last step of
/// [`SplitMix`].
#[must_use]
pub const fn mix(bits: u64) -> u64 {
    let mixed = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// A stream of numbers from the generator `SplitMix64` (Steele, Lea and Flood, "Fast splittable
/// pseudorandom number generators", 2014), whose output is fixed by its definition.
///
/// The generator is not for secrets: the numbers that follow can be computed from one number.
#[derive(Clone, Debug)]
pub struct SplitMix(u64);

impl SplitMix {
    /// The stream whose first state is `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Stream number `stream` of `seed`. The streams of one seed look independent of each other.
    #[must_use]
    pub const fn stream(seed: u64, stream: u64) -> Self {
        // Our choice: any odd constant other than `STEP` gives each stream a start of its own.
        // This one is 2^64 divided by the root of x^4 = x + 1, which spreads as evenly as `STEP`
        // does.
        let mut random = Self(seed ^ stream.wrapping_mul(0xd1b5_4a32_d192_ed03));
        Self(random.next_u64())
    }

    /// The next 64 random bits.
    pub const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// The next number, uniform in [0, 1).
    pub const fn uniform(&mut self) -> f64 {
        // 53 bits: every value is exact.
        (self.next_u64() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// The next number, from 0 to `count - 1`; 0 when `count` is zero.
    ///
    /// Small numbers are more frequent, by a share of at most `count / 2^64`.
    pub const fn below(&mut self, count: u64) -> u64 {
        match self.next_u64().checked_rem(count) {
            Some(number) => number,
            None => 0,
        }
    }

    /// True with probability `1 / count`; always true when `count` is zero.
    pub const fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    /// The next number, of any magnitude: every length in bits is about equally likely.
    pub const fn any(&mut self) -> u64 {
        let shift = self.below(64);
        self.next_u64() >> shift
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_fixed_and_apart() {
        // The generator's published first number from state 1234567.
        assert_eq!(
            SplitMix::new(1_234_567).next_u64(),
            6_457_827_717_110_365_317
        );
        let first = |seed, stream| SplitMix::stream(seed, stream).next_u64();
        // Pinned: a change here would change every trace and every scene.
        assert_eq!(first(1, 2), 17_796_950_451_753_512_596);
        assert_ne!(first(1, 2), first(2, 2));
        assert_ne!(first(1, 2), first(1, 3));
    }

    #[test]
    fn numbers_stay_in_their_range_and_fill_it() {
        let mut random = SplitMix::stream(7, 0);
        let (mut sum, mut counts, mut hits) = (0.0, [0; 3], 0);
        let mut bits = [0; 65];
        for _ in 0..10_000 {
            let value = random.uniform();
            assert!((0.0..1.0).contains(&value));
            sum += value;
            let Ok(face) = usize::try_from(random.below(3)) else {
                panic!("a number below 3 is small");
            };
            counts[face] += 1;
            hits += u32::from(random.one_in(10));
            bits[64 - random.any().leading_zeros() as usize] += 1;
        }
        assert!((4_900.0..5_100.0).contains(&sum), "{sum}");
        assert!(counts.iter().all(|count| (3_200..3_500).contains(count)));
        assert!((900..1_100).contains(&hits), "{hits}");
        assert!(bits[1..].iter().all(|count| *count > 50), "{bits:?}");
        assert_eq!(random.below(0), 0);
    }
}
