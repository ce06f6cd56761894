//! The quantiser that a frame begins with.
//!
//! libx264 corrects the quantiser from row to row, so it need not be exact, but the closer
//! it is, the more even is the picture.

use mimosa_units::Bytes;
use mimosa_video::Size;

/// H.264's highest quantiser.
const COARSEST: f64 = 51.0;
/// The rise of the quantiser when a frame may have half the size. A rise of six doubles the
/// step size of quantisation and so nearly halves the bits of a busy picture; a smaller
/// rise is safer for other pictures.
const PER_HALVING: f64 = 4.0;
/// The assumed bits per pixel of the first keyframe at [`FIRST`].
const FIRST_BITS: f64 = 0.25;
/// The quantiser that [`FIRST_BITS`] holds for.
const FIRST: f64 = 26.0;
/// The addition to the quantiser when two attempts were too large.
const CAUTION: f64 = 6.0;

/// A frame that was encoded: its mean quantiser and its bits.
#[derive(Clone, Copy, Debug)]
struct SizeSample {
    quantiser: f64,
    bits: f64,
}

/// The last frames of both kinds.
#[derive(Clone, Debug)]
pub(crate) struct InitialQuantiser {
    finest: u8,
    keyframe: SizeSample,
    other: Option<SizeSample>,
}

impl InitialQuantiser {
    /// The state before the first frame, for pictures of `size` and no quantiser below
    /// `finest`.
    pub(crate) fn new(size: Size, finest: u8) -> Self {
        Self {
            finest,
            keyframe: SizeSample {
                quantiser: FIRST,
                bits: FIRST_BITS * size.luma_len() as f64,
            },
            other: None,
        }
    }

    /// The quantiser to begin a frame of `ask` with, after `attempts` that were too large.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between the finest and COARSEST"
    )]
    pub(crate) fn quantiser(&self, ask: Bytes, keyframe: bool, attempts: u32) -> u8 {
        let known = match self.other {
            Some(other) if !keyframe => Some(other),
            _ if keyframe => Some(self.keyframe),
            _ => None,
        };
        let mut quantiser = known.map_or(self.keyframe.quantiser, |known| {
            let halvings = libm::log2(known.bits.max(1.0) / (ask.bits().max(1) as f64));
            known.quantiser + PER_HALVING * halvings
        });
        if attempts >= 2 {
            quantiser += CAUTION;
        }
        quantiser.max(f64::from(self.finest)).min(COARSEST).round() as u8
    }

    /// Records a frame that came out at `size` with a mean quantiser of `quantiser`.
    pub(crate) fn observe(&mut self, keyframe: bool, quantiser: f32, size: Bytes) {
        let known = SizeSample {
            quantiser: f64::from(quantiser),
            bits: size.bits() as f64,
        };
        if keyframe {
            self.keyframe = known;
        } else {
            self.other = Some(known);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beginning() -> InitialQuantiser {
        InitialQuantiser::new(Size::new(1280, 720).unwrap(), 10)
    }

    #[test]
    fn the_first_keyframe_begins_by_bits_per_pixel() {
        // 720p at 10 Mbit/s has 0.18 bits per pixel.
        let quantiser = |bytes| beginning().quantiser(Bytes::new(bytes), true, 0);
        assert_eq!(quantiser(20_833), 28);
        assert!(quantiser(100_000) < 20, "{}", quantiser(100_000));
        assert_eq!(quantiser(30), 51);
        assert_eq!(quantiser(u64::MAX), 10);
    }

    #[test]
    fn a_frame_begins_where_one_of_its_kind_ended() {
        let mut beginning = beginning();
        let size = Bytes::new(10_000);
        beginning.observe(true, 30.0, size);
        assert_eq!(
            beginning.quantiser(size, false, 0),
            30,
            "nothing better is known"
        );
        beginning.observe(false, 25.0, size);
        assert_eq!(beginning.quantiser(size, false, 0), 25);
        assert_eq!(beginning.quantiser(size, true, 0), 30);
        assert_eq!(beginning.quantiser(size.scale(0.5), false, 0), 29);
        assert_eq!(beginning.quantiser(size.scale(4.0), false, 0), 17);
    }

    #[test]
    fn a_third_attempt_is_cautious() {
        let mut beginning = beginning();
        beginning.observe(false, 25.0, Bytes::new(10_000));
        let quantiser = |attempts| beginning.quantiser(Bytes::new(10_000), false, attempts);
        assert_eq!((quantiser(1), quantiser(2)), (25, 31));
    }
}
