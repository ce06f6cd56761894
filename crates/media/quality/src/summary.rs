//! Figures of a whole clip.

use mimosa_units::nearest_rank;

use crate::difference::{FrameDifference, psnr};

/// The distribution of a figure over frames, of which more is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distribution {
    /// The mean over the frames.
    pub mean: f64,
    /// The value that one frame in a hundred has or is below.
    pub p1: f64,
    /// The value of the worst frame.
    pub least: f64,
}

impl Distribution {
    /// The distribution of these values; `None` if there are none.
    #[must_use]
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_unstable_by(f64::total_cmp);
        Some(Self {
            mean: values.iter().sum::<f64>() / values.len() as f64,
            p1: nearest_rank(&values, 0.01)?,
            least: *values.first()?,
        })
    }

    /// The PSNR of frames with these squared errors. Its mean is the PSNR of the mean
    /// error, because one frame without any error would make the mean of the decibels
    /// infinite.
    #[must_use]
    pub fn of_errors(errors: impl IntoIterator<Item = f64>) -> Option<Self> {
        let errors: Vec<f64> = errors.into_iter().collect();
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        let of_frames = Self::of(errors.into_iter().map(psnr))?;
        Some(Self {
            mean: psnr(mean),
            ..of_frames
        })
    }
}

/// The figures of a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The PSNR in decibels: Y, U, V.
    pub psnr: [Distribution; 3],
    /// The PSNR of the error weighted 6:1:1, in decibels.
    pub weighted_psnr: Distribution,
    /// The SSIM: Y, U, V.
    pub ssim: [Distribution; 3],
    /// The SSIM weighted 6:1:1.
    pub weighted_ssim: Distribution,
}

impl Summary {
    /// The figures of these frames; `None` if there are none.
    #[must_use]
    pub fn of(frames: &[FrameDifference]) -> Option<Self> {
        let psnr = |plane: usize| {
            let errors = frames.iter().map(|frame| frame.squared_error[plane]);
            Distribution::of_errors(errors)
        };
        let ssim = |plane: usize| {
            let values = frames.iter().map(|frame| frame.similarity[plane]);
            Distribution::of(values)
        };
        let errors = frames.iter().map(FrameDifference::weighted_error);
        let values = frames.iter().map(FrameDifference::weighted_similarity);
        Some(Self {
            psnr: [psnr(0)?, psnr(1)?, psnr(2)?],
            weighted_psnr: Distribution::of_errors(errors)?,
            ssim: [ssim(0)?, ssim(1)?, ssim(2)?],
            weighted_ssim: Distribution::of(values)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_a_hundred_is_the_first_percentile() {
        let of = |count: u32| Distribution::of((1..=count).rev().map(f64::from));
        assert_eq!(of(0), None);
        let one = |mean, p1| {
            Some(Distribution {
                mean,
                p1,
                least: 1.0,
            })
        };
        assert_eq!(of(1), one(1.0, 1.0));
        assert_eq!(of(100), one(50.5, 1.0));
        assert_eq!(of(101), one(51.0, 2.0));
        assert_eq!(of(1_000), one(500.5, 10.0));
    }

    #[test]
    fn the_mean_of_psnr_is_over_errors() {
        let errors = [0.0, 65_025.0 / 50.0];
        let distribution = Distribution::of_errors(errors).unwrap();
        // The mean error is a hundredth of the largest one.
        assert!((distribution.mean - 20.0).abs() < 1e-12);
        // 10 log10(50).
        assert!((distribution.least - 16.989_700_043_360_2).abs() < 1e-9);
        assert_eq!(Distribution::of_errors([]), None);
        let none = Distribution::of_errors([0.0, 0.0]).unwrap();
        assert!(none.mean.is_infinite() && none.least.is_infinite());
    }

    #[test]
    fn each_plane_has_its_own_figures() {
        let frame = FrameDifference {
            squared_error: [1.0, 10.0, 100.0],
            similarity: [0.9, 0.8, 0.7],
        };
        let summary = Summary::of(&[frame, frame]).unwrap();
        let decibels = summary.psnr.map(|plane| plane.mean - psnr(1.0));
        for (got, expected) in decibels.into_iter().zip([0.0, -10.0, -20.0]) {
            assert!((got - expected).abs() < 1e-9, "{got} for {expected}");
        }
        // (6 + 10 + 100) / 8.
        assert!((summary.weighted_psnr.mean - psnr(14.5)).abs() < 1e-9);
        assert!((summary.ssim[2].least - 0.7).abs() < 1e-12);
        assert!((summary.weighted_ssim.p1 - 0.8625).abs() < 1e-12);
    }
}
