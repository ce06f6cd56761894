//! The difference between two frames: squared error and structural similarity.
//!
//! The squared error is a mean over the samples of a plane. PSNR follows from it: 10
//! log10(255^2 / error) decibels.
//!
//! SSIM follows Wang, Bovik, Sheikh and Simoncelli, "Image quality assessment: from error
//! visibility to structural similarity" (2004), equation 13, with K1 = 0.01, K2 = 0.03 and
//! L = 255, and the variances of a sample (equation 15).
//!
//! Deviations: the window is a flat square of 8x8 and not a Gaussian of 11x11, and it moves
//! by 4 samples and not by one. Columns and rows at the right and lower edge that fill no
//! step are left out. The filter `ssim` of `ffmpeg` and libx264 use the same windows. Their
//! C1 is a 64th of the paper's, so their figures for dark pictures are a little lower.

use crate::frame::{Frame, PlaneSize};
use crate::similarity::similarity;

/// The weights of Y, U and V in a figure for all three.
const WEIGHTS: [f64; 3] = [6.0, 1.0, 1.0];
/// The smallest side of a picture whose colour planes hold a window.
const LEAST: usize = 16;

/// The reason why two frames cannot be compared.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DifferenceError {
    /// The frames differ in size.
    #[error(
        "pictures of {reference} and of {other}; only pictures of the same size can be compared"
    )]
    Sizes {
        /// The size of the first frame.
        reference: PlaneSize,
        /// The size of the second frame.
        other: PlaneSize,
    },
    /// The frames are smaller than the windows.
    #[error("pictures of {size}; the smallest that can be compared is {LEAST}x{LEAST}")]
    TooSmall {
        /// The size of both frames.
        size: PlaneSize,
    },
}

/// The difference between two frames, for each plane: Y, U, V.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameDifference {
    /// The mean of the squared differences of samples.
    pub squared_error: [f64; 3],
    /// The mean structural similarity of windows; 1 for equal planes.
    pub similarity: [f64; 3],
}

impl FrameDifference {
    /// Compares `other` with `reference`.
    ///
    /// # Errors
    ///
    /// [`DifferenceError`] when their sizes differ or are below 16x16.
    pub fn between(reference: &Frame, other: &Frame) -> Result<Self, DifferenceError> {
        let size = reference.size();
        if size != other.size() {
            return Err(DifferenceError::Sizes {
                reference: size,
                other: other.size(),
            });
        }
        if size.width < LEAST || size.height < LEAST {
            return Err(DifferenceError::TooSmall { size });
        }
        let mut difference = Self {
            squared_error: [0.0; 3],
            similarity: [0.0; 3],
        };
        let planes = reference.planes().into_iter().zip(other.planes());
        for (plane, (size, (reference, other))) in size.planes().into_iter().zip(planes).enumerate()
        {
            difference.squared_error[plane] = squared_error(reference, other);
            difference.similarity[plane] = similarity(size.width, reference, other);
        }
        Ok(difference)
    }

    /// The mean of the squared errors, with Y, U and V weighted 6:1:1.
    #[must_use]
    pub fn weighted_error(&self) -> f64 {
        weighted(self.squared_error)
    }

    /// The mean of the similarities, with Y, U and V weighted 6:1:1.
    #[must_use]
    pub fn weighted_similarity(&self) -> f64 {
        weighted(self.similarity)
    }
}

fn weighted(planes: [f64; 3]) -> f64 {
    let sum: f64 = planes
        .iter()
        .zip(WEIGHTS)
        .map(|(value, weight)| value * weight)
        .sum();
    sum / WEIGHTS.iter().sum::<f64>()
}

/// The peak signal-to-noise ratio in decibels; infinite for an error of zero.
#[must_use]
pub fn psnr(squared_error: f64) -> f64 {
    if squared_error > 0.0 {
        10.0 * libm::log10(255.0 * 255.0 / squared_error)
    } else {
        f64::INFINITY
    }
}

/// The mean of the squared differences.
fn squared_error(reference: &[u8], other: &[u8]) -> f64 {
    // 4096 squares of at most 255^2 fit into 32 bits.
    const PIECE: usize = 4_096;
    let pieces = reference.chunks(PIECE).zip(other.chunks(PIECE));
    let sum: u64 = pieces
        .map(|(reference, other)| {
            let squares = reference.iter().zip(other).map(|(reference, other)| {
                let difference = u32::from(reference.abs_diff(*other));
                difference * difference
            });
            u64::from(squares.sum::<u32>())
        })
        .sum();
    sum as f64 / reference.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(width: usize, height: usize, samples: [u8; 3]) -> Frame {
        let size = PlaneSize { width, height };
        let planes = size.planes().into_iter().zip(samples);
        let data = planes.flat_map(|(size, sample)| vec![sample; size.area()]);
        Frame::new(size, data.collect()).unwrap()
    }

    fn is_near(got: f64, expected: f64) -> bool {
        (got - expected).abs() < 1e-9
    }

    fn assert_near(got: [f64; 3], expected: [f64; 3]) {
        let mut pairs = got.into_iter().zip(expected);
        assert!(
            pairs.all(|(got, expected)| is_near(got, expected)),
            "{got:?} for {expected:?}"
        );
    }

    #[test]
    fn flat_pictures_differ_as_worked_out_by_hand() {
        let reference = frame(32, 16, [100, 128, 128]);
        let other = frame(32, 16, [110, 128, 131]);
        let difference = FrameDifference::between(&reference, &other).unwrap();
        assert_near(difference.squared_error, [100.0, 0.0, 9.0]);
        // (6 * 100 + 0 + 9) / 8.
        assert!(is_near(difference.weighted_error(), 76.125));
        // 10 log10(65025 / 100).
        assert!(is_near(psnr(100.0), 28.130_803_608_679_1));
        // Without variance only the brightness counts:
        // (2 * 100 * 110 + 6.5025) / (100^2 + 110^2 + 6.5025).
        let [y, u, v] = difference.similarity;
        assert!(is_near(y, 22_006.502_5 / 22_106.502_5), "{y}");
        assert!(is_near(u, 1.0), "{u}");
        // (2 * 128 * 131 + 6.5025) / (128^2 + 131^2 + 6.5025).
        assert!(is_near(v, 33_542.502_5 / 33_551.502_5), "{v}");
        let expected = (6.0 * y + u + v) / 8.0;
        assert!(is_near(difference.weighted_similarity(), expected));
    }

    #[test]
    fn the_same_picture_has_no_difference() {
        let size = PlaneSize {
            width: 17,
            height: 19,
        };
        let data: Vec<_> = (0..size.frame_len())
            .map(|i| (i * 7 + i / 13).to_le_bytes()[0])
            .collect();
        let frame = Frame::new(size, data).unwrap();
        let difference = FrameDifference::between(&frame, &frame).unwrap();
        assert_near(difference.squared_error, [0.0; 3]);
        assert_near(difference.similarity, [1.0; 3]);
        assert!(psnr(difference.weighted_error()).is_infinite());
    }

    #[test]
    fn the_largest_difference_is_not_cut_off() {
        let black = frame(128, 96, [0, 0, 0]);
        let white = frame(128, 96, [255, 255, 255]);
        let difference = FrameDifference::between(&black, &white).unwrap();
        assert_near(difference.squared_error, [65_025.0; 3]);
        assert!(is_near(psnr(65_025.0), 0.0));
    }

    #[test]
    fn sizes_that_cannot_be_compared_are_refused() {
        let between = |a: &Frame, b: &Frame| {
            let error = FrameDifference::between(a, b).unwrap_err();
            error.to_string()
        };
        assert_eq!(
            between(&frame(32, 16, [0; 3]), &frame(16, 32, [0; 3])),
            "pictures of 32x16 and of 16x32; only pictures of the same size can be compared"
        );
        let small = frame(32, 15, [0; 3]);
        assert_eq!(
            between(&small, &small),
            "pictures of 32x15; the smallest that can be compared is 16x16"
        );
    }
}
