//! Measures pairs of frames.

use std::cmp::Ordering;

use mimosa_quality::{Frame, FrameDifference, PlaneSize};

use super::error::QualityError;
use super::ffmpeg::Ffmpeg;
use super::frames::Frames;
use super::vmaf::Vmaf;

/// Measures pairs of frames as they come.
pub(super) struct Measure {
    has_psnr: bool,
    has_ssim: bool,
    differences: Vec<(u64, FrameDifference)>,
    vmaf: Option<Vmaf>,
}

/// The figures of all pairs.
pub(super) struct Measured {
    pub(super) has_psnr: bool,
    pub(super) has_ssim: bool,
    /// Differences of each pair, with the number of its frame.
    pub(super) differences: Vec<(u64, FrameDifference)>,
    /// VMAF of each pair, and the program that measured it.
    pub(super) vmaf: Option<(String, Vec<f64>)>,
}

impl Measure {
    /// Measures those of PSNR, SSIM and VMAF that are wanted.
    pub(super) fn new(
        [has_psnr, has_ssim, has_vmaf]: [bool; 3],
        size: PlaneSize,
        ffmpeg: &Ffmpeg,
    ) -> Result<Self, QualityError> {
        let vmaf = has_vmaf.then(|| Vmaf::start(ffmpeg, size)).transpose()?;
        Ok(Self {
            has_psnr,
            has_ssim,
            differences: Vec::new(),
            vmaf,
        })
    }

    /// Measures a pair, whose frame has this `number`.
    pub(super) fn add(
        &mut self,
        number: u64,
        reference: &Frame,
        distorted: &Frame,
    ) -> Result<(), QualityError> {
        let difference = FrameDifference::between(reference, distorted)?;
        self.differences.push((number, difference));
        if let Some(vmaf) = &mut self.vmaf {
            vmaf.add(reference, distorted);
        }
        Ok(())
    }

    /// Returns the figures of all pairs.
    pub(super) fn finish(self) -> Result<Measured, QualityError> {
        let pairs = self.differences.len();
        let vmaf = self.vmaf.map(|vmaf| vmaf.finish(pairs)).transpose()?;
        Ok(Measured {
            has_psnr: self.has_psnr,
            has_ssim: self.has_ssim,
            differences: self.differences,
            vmaf,
        })
    }
}

/// Pairs the first frame with the first, and so on.
pub(super) fn in_turn(
    reference: &mut Frames,
    distorted: &mut Frames,
    measure: &mut Measure,
) -> Result<(), QualityError> {
    loop {
        match (reference.next()?, distorted.next()?) {
            (Some(source), Some(result)) => {
                measure.add(reference.count() - 1, &source, &result)?;
            }
            (None, None) => return Ok(()),
            _ => {
                while reference.next()?.is_some() {}
                while distorted.next()?.is_some() {}
                return Err(QualityError::Counts {
                    reference: reference.path().to_owned(),
                    count: reference.count(),
                    distorted: distorted.path().to_owned(),
                    other: distorted.count(),
                });
            }
        }
    }
}

/// Pairs frames by their numbers. Returns how many are only in the first file, and how many only in
/// the second.
pub(super) fn aligned(
    reference: &mut Frames,
    distorted: &mut Frames,
    measure: &mut Measure,
) -> Result<(u64, u64), QualityError> {
    let (mut missing, mut surplus, mut pairs) = (0, 0, 0_u64);
    let mut source = numbered(reference, None)?;
    let mut result = numbered(distorted, None)?;
    loop {
        let order = match (&source, &result) {
            (None, None) => break,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((source, _)), Some((result, _))) => source.cmp(result),
        };
        if let (Ordering::Equal, Some((number, a)), Some((_, b))) = (order, &source, &result) {
            measure.add(*number, a, b)?;
            pairs += 1;
        }
        missing += u64::from(order == Ordering::Less);
        surplus += u64::from(order == Ordering::Greater);
        let number = |frame: &Option<(u64, Frame)>| frame.as_ref().map(|(number, _)| *number);
        if order != Ordering::Greater {
            source = numbered(reference, number(&source))?;
        }
        if order != Ordering::Less {
            result = numbered(distorted, number(&result))?;
        }
    }
    if pairs == 0 {
        return Err(QualityError::Disjoint {
            reference: reference.path().to_owned(),
            distorted: distorted.path().to_owned(),
        });
    }
    Ok((missing, surplus))
}

/// The next frame with its number, which has to be above `before`.
fn numbered(
    frames: &mut Frames,
    before: Option<u64>,
) -> Result<Option<(u64, Frame)>, QualityError> {
    let Some(frame) = frames.next()? else {
        return Ok(None);
    };
    let place = frames.count() - 1;
    let number = frame.number.ok_or_else(|| QualityError::Unnumbered {
        path: frames.path().to_owned(),
        frame: place,
    })?;
    if before.is_some_and(|before| number <= before) {
        return Err(QualityError::Falling {
            path: frames.path().to_owned(),
            frame: place,
            number,
        });
    }
    Ok(Some((number, frame)))
}
