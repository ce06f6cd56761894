//! How large a frame becomes at which quantiser.
//!
//! Between quantisers not far apart, the logarithm of a picture's coded size falls in a
//! straight line. Its steepness is learnt from pictures that were encoded twice.

use mimosa_units::Bytes;
use mimosa_video::Size;

/// H.264's highest quantiser.
pub(crate) const COARSEST: u8 = 51;
/// The first steepness: halvings of the size per quantiser. Six quantisers double the step
/// size of quantisation.
const STEEPNESS: f64 = 0.2;
/// The first deviation of a picture's own line from the mean line.
const DEVIATION: f64 = 0.05;
/// The bounds of a steepness that is believed. Noise that is just too small to be worth its
/// bits makes the steepest lines.
const STEEPNESSES: (f64, f64) = (0.05, 1.5);
/// The weight of a new picture in the steepness and its deviation.
const LEARNING: f64 = 0.1;
/// The number of mean deviations by which a line may be off.
const DOUBT: f64 = 2.5;
/// The share of the budget that is aimed at after one encoding of the picture.
const AIM: f64 = 0.97;
/// The share of the budget that a probe aims at: at half a step of the quantiser below the
/// budget, it shows whether the next quantiser would fit.
const PROBE_AIM: f64 = 0.93;
/// The share of the budget that the first attempt at a keyframe aims at.
const KEYFRAME_AIM: f64 = 0.85;
/// The assumed bits per pixel of the first keyframe at [`FIRST`].
const FIRST_BITS: f64 = 0.35;
/// The quantiser that [`FIRST_BITS`] holds for.
const FIRST: u8 = 26;

/// A picture that was encoded: its quantiser and its size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SizeSample {
    pub(crate) quantiser: u8,
    pub(crate) size: Bytes,
}

impl SizeSample {
    /// The number of halvings from this picture's size to `size`.
    fn halvings(self, size: Bytes) -> f64 {
        libm::log2(self.size.get().max(1) as f64 / size.get().max(1) as f64)
    }
}

/// The knowledge about sizes that an encoder gathers.
#[derive(Clone, Debug)]
pub(crate) struct Sizes {
    finest: u8,
    steepness: f64,
    deviation: f64,
    keyframe: SizeSample,
    /// The last frame that is not a keyframe.
    last: Option<SizeSample>,
}

impl Sizes {
    /// The state before the first frame, for pictures of `size` and no quantiser below
    /// `finest`.
    pub(crate) fn new(size: Size, finest: u8) -> Self {
        let bits = FIRST_BITS * size.luma_len() as f64;
        Self {
            finest,
            steepness: STEEPNESS,
            deviation: DEVIATION,
            keyframe: SizeSample {
                quantiser: FIRST,
                size: Bytes::new(1).scale(bits / 8.0),
            },
            last: None,
        }
    }

    /// The quantiser with which a frame of `budget` is probed.
    pub(crate) fn probe(&self, budget: Bytes) -> u8 {
        let last = self.last.unwrap_or(self.keyframe);
        self.nearest(last, budget.scale(PROBE_AIM))
    }

    /// The quantiser for a keyframe of `budget`, given the attempts that were too large and
    /// that did fit.
    pub(crate) fn keyframe(
        &self,
        budget: Bytes,
        large: Option<SizeSample>,
        fit: Option<SizeSample>,
    ) -> u8 {
        match (large, fit) {
            (None, None) => self.nearest(self.keyframe, budget.scale(KEYFRAME_AIM)),
            (None, Some(fit)) => self.fitting(fit, budget),
            (Some(large), None) => self
                .fitting(large, budget)
                .max(large.quantiser + 2)
                .min(COARSEST),
            (Some(large), Some(fit)) => {
                // The estimate lies on the line between the two attempts.
                let steps = f64::from(fit.quantiser) - f64::from(large.quantiser);
                let part = large.halvings(budget.scale(AIM)) / large.halvings(fit.size);
                let between = f64::from(large.quantiser) + libm::ceil(part * steps);
                self.bounded(between.max(f64::from(large.quantiser) + 1.0))
                    .min(fit.quantiser)
            }
        }
    }

    /// The lowest quantiser at which the picture of `probe` fits into `budget` as surely as
    /// the probe can say.
    pub(crate) fn fitting(&self, probe: SizeSample, budget: Bytes) -> u8 {
        let halvings = probe.halvings(budget.scale(AIM));
        let doubt = DOUBT * self.deviation;
        let (least, most) = STEEPNESSES;
        // A finer quantiser may cost more than is known, a coarser one save less.
        let steps = if probe.size > budget {
            libm::ceil(halvings / (self.steepness - doubt).max(least)).max(1.0)
        } else {
            libm::ceil(halvings / (self.steepness + doubt).min(most)).min(0.0)
        };
        self.bounded(f64::from(probe.quantiser) + steps)
    }

    /// Records a frame that was encoded, whether it is used or not.
    pub(crate) fn observe(&mut self, known: SizeSample, is_keyframe: bool) {
        if is_keyframe {
            self.keyframe = known;
        } else {
            self.last = Some(known);
        }
    }

    /// Records a picture that was encoded twice.
    pub(crate) fn compare(&mut self, one: SizeSample, other: SizeSample) {
        let steps = f64::from(other.quantiser) - f64::from(one.quantiser);
        if steps == 0.0 {
            return;
        }
        let (least, most) = STEEPNESSES;
        let seen = (one.halvings(other.size) / steps).max(least).min(most);
        self.deviation += LEARNING * ((seen - self.steepness).abs() - self.deviation);
        self.steepness += LEARNING * (seen - self.steepness);
    }

    /// The quantiser at which a picture like `known` comes nearest to `size`.
    fn nearest(&self, known: SizeSample, size: Bytes) -> u8 {
        let steps = known.halvings(size) / self.steepness;
        self.bounded(libm::round(f64::from(known.quantiser) + steps))
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between the finest and COARSEST"
    )]
    fn bounded(&self, quantiser: f64) -> u8 {
        quantiser
            .max(f64::from(self.finest))
            .min(f64::from(COARSEST)) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Bytes = Bytes::new(10_000);

    fn known(quantiser: u8, bytes: u64) -> SizeSample {
        SizeSample {
            quantiser,
            size: Bytes::new(bytes),
        }
    }

    fn sizes() -> Sizes {
        Sizes::new(Size::new(1280, 720).unwrap(), 10)
    }

    /// Returns sizes that have learnt that six quantisers halve the size, without
    /// deviation.
    fn certain() -> Sizes {
        let mut sizes = sizes();
        for _ in 0..200 {
            sizes.compare(known(20, 8_000), known(26, 4_000));
        }
        sizes
    }

    #[test]
    fn a_frame_is_probed_where_the_last_one_was() {
        let mut sizes = certain();
        sizes.observe(known(30, 9_300), false);
        assert_eq!(sizes.probe(BUDGET), 30);
        assert_eq!(sizes.probe(BUDGET.scale(0.5)), 36);
        assert_eq!(sizes.probe(BUDGET.scale(2.0)), 24);
        assert_eq!(sizes.probe(BUDGET.scale(1e6)), 10, "the finest");
        assert_eq!(sizes.probe(Bytes::new(1)), COARSEST);
        sizes.observe(known(40, 30_000), true);
        assert_eq!(sizes.probe(BUDGET), 30, "a keyframe says nothing of others");
    }

    #[test]
    fn a_probe_that_fits_is_repeated_and_another_is_corrected() {
        let sizes = certain();
        for (bytes, quantiser) in [
            (10_000, 30),
            (9_000, 30),
            (8_500, 29),
            (4_700, 24),
            (10_001, 31),
            (11_500, 32),
            (20_000, 37),
        ] {
            let fitting = sizes.fitting(known(30, bytes), BUDGET);
            assert_eq!(fitting, quantiser, "{bytes} bytes at 30");
        }
    }

    #[test]
    fn who_is_in_doubt_takes_longer_steps_down_and_shorter_ones_up() {
        let mut doubtful = certain();
        for number in 0..100 {
            let bytes = if number % 2 == 0 { 5_000 } else { 3_000 };
            doubtful.compare(known(20, 8_000), known(26, bytes));
        }
        let certain = certain();
        for bytes in [3_000, 20_000] {
            let probe = known(30, bytes);
            let (one, other) = (
                certain.fitting(probe, BUDGET),
                doubtful.fitting(probe, BUDGET),
            );
            assert!(other > one, "{other} for {one} after {bytes} bytes");
        }
    }

    #[test]
    fn a_keyframe_that_does_not_fit_becomes_coarser_each_time() {
        let sizes = sizes();
        let first = sizes.keyframe(BUDGET, None, None);
        let second = sizes.keyframe(BUDGET, Some(known(first, 10_001)), None);
        assert!(second >= first + 2, "{second} after {first}");
        let last = sizes.keyframe(BUDGET, Some(known(50, 10_001)), None);
        assert_eq!(last, COARSEST);
    }

    #[test]
    fn a_keyframe_that_is_too_coarse_becomes_finer() {
        let sizes = sizes();
        let finer = sizes.keyframe(BUDGET, None, Some(known(40, 1_000)));
        assert!((26..35).contains(&finer), "{finer}");
        let between = |large, fit| sizes.keyframe(BUDGET, Some(large), Some(fit));
        assert_eq!(between(known(24, 40_000), known(36, 2_500)), 31);
        assert_eq!(between(known(24, 10_100), known(25, 2_500)), 25);
        // 720p at 10 Mbit/s has 0.18 bits per pixel.
        assert_eq!(sizes.keyframe(Bytes::new(20_833), None, None), 32);
    }
}
