//! AV1's quantisers on H.264's scale.
//!
//! A quantiser of AV1 has the level 4 + 6 log2(step), with its step of quantisation in
//! levels of brightness. H.264's quantisers follow this rule in table 8-15; AV1's
//! `Ac_Qlookup` (section 7.12.2 of its specification) has eight times the step.

/// The steps of SVT-AV1's quantisers 0 to 63 in eighths of a level of brightness.
const STEPS: [u16; 64] = [
    4, 11, 15, 19, 23, 27, 31, 35, 39, 43, 47, 51, 55, 59, 63, 67, 71, 75, 79, 83, 87, 91, 95, 99,
    104, 112, 120, 128, 136, 144, 152, 164, 176, 188, 200, 215, 231, 247, 265, 285, 305, 329, 353,
    380, 408, 440, 474, 510, 550, 593, 639, 689, 743, 801, 864, 933, 1007, 1087, 1173, 1267, 1369,
    1479, 1628, 1828,
];

/// One of SVT-AV1's quantisers, 1 to 63; 0 would be lossless.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Quantiser(u8);

impl Quantiser {
    /// The finest quantiser with loss.
    pub(crate) const FINEST: Self = Self(1);
    /// The coarsest quantiser.
    pub(crate) const COARSEST: Self = Self(63);

    /// The number that SVT-AV1 takes.
    pub(crate) const fn number(self) -> u8 {
        self.0
    }

    /// The level on H.264's scale, 6.8 to 51.0.
    pub(crate) fn level(self) -> f64 {
        let step = STEPS.get(usize::from(self.0)).copied().unwrap_or(1828);
        4.0 + 6.0 * libm::log2(f64::from(step) / 8.0)
    }

    /// The finest quantiser that is not finer than `level`, on H.264's scale; the coarsest
    /// one if all are finer.
    pub(crate) fn not_finer_than(level: f64) -> Self {
        (Self::FINEST.0..Self::COARSEST.0)
            .map(Self)
            .find(|quantiser| quantiser.level() >= level)
            .unwrap_or(Self::COARSEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_steps_have_equal_levels() {
        // H.264's step is 1 at quantiser 4 and doubles with every sixth one.
        for (level, number) in [(1.0, 1), (17.0, 8), (28.0, 27), (40.0, 48), (51.0, 63)] {
            assert_eq!(
                Quantiser::not_finer_than(level),
                Quantiser(number),
                "{level}"
            );
        }
        let [finest, coarsest] = [Quantiser::FINEST, Quantiser::COARSEST].map(Quantiser::level);
        assert!((6.7..6.8).contains(&finest), "{finest}");
        assert!((51.0..51.1).contains(&coarsest), "{coarsest}");
        assert!((1..63).all(|number| Quantiser(number).level() < Quantiser(number + 1).level()));
    }
}
