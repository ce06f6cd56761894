//! Learning sizes and times by exponentially weighted means.
//!
//! Sizes are compared at equal quality. A frame of size F with mean squared error D would
//! have had F (D / D')^beta at the error D' of others. Therefore a frame that was planned
//! small, or encoded with more work, still shows how large its content made it. Without the
//! error, nothing is learnt about sizes.

use mimosa_facts::Complexity;
use mimosa_units::{Bytes, TimeDelta};

use crate::complexity::ace_c::Config;

/// The bounds of predictions. A cut is thirty times as large as other frames, but no plan
/// gives it more than the buffer.
const RELATIVE: (f64, f64) = (0.0, 30.0);
/// Frames whose predicted size is at least this are large.
const LARGE: f64 = 1.3;
/// The weight of a new large frame at c0 in their mean.
const LARGE_WEIGHT: f64 = 0.1;
const WEIGHT: (f64, f64) = (0.2, 5.0);
const OFFSET: (f64, f64) = (-0.5, 1.0);
/// The highest phi that is believed; more is an error of the prediction.
const MOST_REDUCTION: f64 = 0.4;
/// The least error in use: closer pictures differ only by rounding.
const LEAST_ERROR: f64 = 0.1;

/// A mean that forgets old values.
#[derive(Clone, Copy, Debug, Default)]
struct Mean(Option<f64>);

impl Mean {
    fn take(&mut self, value: f64, weight: f64) {
        self.0 = Some(self.0.map_or(value, |mean| mean + weight * (value - mean)));
    }
}

/// A frame that was encoded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EncodedSample {
    /// The amount of the picture that was new.
    pub(crate) measured: f64,
    /// The predicted size.
    pub(crate) relative: f64,
    pub(crate) complexity: Complexity,
    pub(crate) size: Bytes,
    /// The mean squared error of the brightness.
    pub(crate) distortion: Option<f64>,
    pub(crate) took: TimeDelta,
    pub(crate) is_keyframe: bool,
    /// Whether the frame had all it needed at the finest quantiser, below its planned size.
    pub(crate) is_satisfied: bool,
}

/// The model of sizes and times.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    learning: f64,
    mean_weight: f64,
    reduction_weight: f64,
    slope: f64,
    measured: Mean,
    /// The mean size at equal quality.
    size: Mean,
    /// The mean logarithm of the error.
    error: Mean,
    weight: f64,
    offset: f64,
    /// The mean ratio of actual to predicted size, of large frames at c0.
    large: Mean,
    /// The phi of each level.
    reductions: [f64; 4],
    /// The mean time of c0 in seconds, and the mean deviation from it.
    time: Mean,
    deviation: f64,
    /// The time of each level relative to c0's.
    work: [f64; 4],
}

impl Model {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            learning: config.learning,
            mean_weight: 1.0 / config.mean_frames.max(1.0),
            reduction_weight: config.reduction_learning,
            slope: config.slope,
            measured: Mean::default(),
            size: Mean::default(),
            error: Mean::default(),
            weight: config.weight,
            offset: config.offset,
            large: Mean::default(),
            reductions: config.reductions,
            time: Mean::default(),
            deviation: 0.0,
            work: config.work,
        }
    }

    /// The size of a frame with so much new, relative to the mean (equation 4).
    pub(crate) fn relative(&self, measured: f64) -> f64 {
        let (least, most) = RELATIVE;
        match self.measured.0 {
            Some(mean) if mean > 0.0 => self.weight * measured / mean + self.offset,
            Some(_) if measured > 0.0 => most,
            _ => 1.0,
        }
        .clamp(least, most)
    }

    /// The size that a frame `relative` times as large as others has at c0.
    pub(crate) fn size(&self, relative: f64) -> Option<Bytes> {
        Some(Bytes::from_f64(relative * self.size.0?))
    }

    /// The part of a frame's size that `level` saves.
    pub(crate) const fn reduction(&self, level: Complexity) -> f64 {
        self.reductions[level as usize]
    }

    /// The time of `level` relative to c0's.
    pub(crate) const fn work(&self, level: Complexity) -> f64 {
        self.work[level as usize]
    }

    /// The time that `level` takes more than c0; `None` while c0's is unknown.
    pub(crate) fn extra(&self, level: Complexity) -> Option<TimeDelta> {
        let time = self.time.0?;
        Some(TimeDelta::from_secs(
            time * (self.work[level as usize] - 1.0),
        ))
    }

    /// The time that nearly no frame exceeds at `level`.
    pub(crate) fn longest(&self, level: Complexity) -> Option<TimeDelta> {
        let time = self.time.0? + 2.0 * self.deviation;
        Some(TimeDelta::from_secs(time * self.work[level as usize]))
    }

    pub(crate) fn learn(&mut self, seen: &EncodedSample) {
        if seen.is_keyframe {
            return;
        }
        let level = seen.complexity as usize;
        let took = seen.took.as_secs();
        match (seen.complexity, self.time.0) {
            (Complexity::C0, mean) => {
                let apart = mean.map_or(0.0, |mean| (took - mean).abs());
                self.deviation += self.mean_weight * (apart - self.deviation);
                self.time.take(took, self.learning);
            }
            (_, Some(time)) if time > 0.0 => {
                let work = (took / time).max(1.0);
                self.work[level] += self.learning * (work - self.work[level]);
            }
            _ => {}
        }
        if let Some(error) = seen.distortion.filter(|_| !seen.is_satisfied) {
            self.learn_size(seen, libm::log(error.max(LEAST_ERROR)));
        }
        if seen.complexity == Complexity::C0 {
            self.measured.take(seen.measured, self.mean_weight);
        }
    }

    /// Learns from a frame's size; `error` is a logarithm.
    fn learn_size(&mut self, seen: &EncodedSample, error: f64) {
        let usual = self.error.0.unwrap_or(error);
        let at_equal_quality = seen.size.get() as f64 * libm::exp(self.slope * (error - usual));
        if let (Some(mean), Some(measured)) = (self.size.0, self.measured.0)
            && mean > 0.0
            && measured > 0.0
        {
            let relative = (at_equal_quality / mean).min(RELATIVE.1);
            if seen.complexity == Complexity::C0 {
                if seen.relative >= LARGE {
                    self.large.take(relative / seen.relative, LARGE_WEIGHT);
                }
                // The step reduces the mistake by `learning`, shared by both.
                let share = (seen.measured / measured).min(RELATIVE.1);
                let step = self.learning * (relative - seen.relative) / (1.0 + share * share);
                self.weight = (self.weight + step * share).clamp(WEIGHT.0, WEIGHT.1);
                self.offset = (self.offset + step).clamp(OFFSET.0, OFFSET.1);
            } else if let Some(large) = self.large.0
                && seen.relative * large > 0.0
            {
                let reduction = &mut self.reductions[seen.complexity as usize];
                let found = (1.0 - relative / (seen.relative * large)).clamp(-1.0, 1.0);
                *reduction = (*reduction + self.reduction_weight * (found - *reduction))
                    .clamp(0.0, MOST_REDUCTION);
            }
        }
        // The means are of frames at c0 only: the savings of other levels are too
        // uncertain.
        if seen.complexity == Complexity::C0 {
            self.size.take(at_equal_quality, self.mean_weight);
            self.error.take(error, self.mean_weight);
        }
    }
}
