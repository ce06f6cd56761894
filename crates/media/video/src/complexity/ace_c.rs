//! ACE-C: more encoding work for frames that would be late because of their size.
//!
//! Source: "ACE: Sending Burstiness Control for High-Quality Real-time Communication"
//! (SIGCOMM 2025), sections 4.2 and 5.1, appendix A. Before a frame is encoded, its size
//! relative to other frames is predicted from its picture, rho = w S / S' + offset
//! (equation 4). A level of complexity c makes it smaller by phi(c) at equal quality and
//! takes longer by dTe(c). The level with the greatest gain rho phi(c) / f - dTe(c) is
//! taken (equation 2), and the planned size is lowered by phi(c) (section 5.1); otherwise
//! the encoder would spend the savings on quality.
//!
//! # Deviations
//!
//! - Transmission time is not rho over the frame rate but the planned size over the
//!   bandwidth. Both are equal where frames are as large as planned in the mean; only the
//!   latter is right where the bandwidth has just changed.
//! - S is measured after a search for motion, as in libx264's own prediction; the plain
//!   difference of equation 3 is [`Kind::Difference`].
//! - Sizes are learnt at equal quality (see `model`). The paper learns from the size
//!   itself, which in this implementation is the planned one whatever the content is.
//! - w and offset share a step of 0.5 of the error in proportion to their parts in it
//!   (normalised least mean squares). phi has a step of 0.05, because predictions are off by
//!   a fifth and phi is less than that. It is learnt from comparison with large frames at c0;
//!   for this purpose, one frame in sixteen stays at c0. Times have a step of 0.5, as in the
//!   paper.
//! - A gain below [`Config::least_gain`] is ignored: the work is certain, the gain is not.
//! - A level whose time would exceed [`Config::time_share`] of the frame interval is
//!   not taken. The paper has no such bound, and 33 ms between frames.

use crate::{EncodedFrame, Picture};
use mimosa_facts::Complexity;
use mimosa_units::{Bytes, Rate, TimeDelta};

use crate::complexity::bucket::Bucket;
use crate::complexity::measure::{Kind, Measure};
use crate::complexity::model::{EncodedSample, Model};

/// A frame below this part of its planned size had all the bits it needed.
const SATISFIED: f64 = 0.6;

/// The algorithm's parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The reference that pictures are compared with.
    pub kind: Kind,
    /// The number of budgets that the encoder's buffer holds. With one, each frame has its
    /// own budget and no frame is oversized.
    pub buffer_frames: u32,
    /// The highest level in use; [`Complexity::C0`] leaves the sizes alone.
    pub most: Complexity,
    /// The weight of a new frame for w, offset and times: the paper's alpha.
    pub learning: f64,
    /// The initial value of w.
    pub weight: f64,
    /// The initial value of the offset.
    pub offset: f64,
    /// The number of frames that means extend over: the paper's n, which it leaves open.
    pub mean_frames: f64,
    /// The initial phi, by level from c0 on.
    pub reductions: [f64; 4],
    /// The weight of a new frame for phi.
    pub reduction_learning: f64,
    /// The initial times relative to c0's, by level.
    pub work: [f64; 4],
    /// One of this many frames that a level would be worth it for stays at c0, so that the
    /// savings of the level can be measured against it. Zero for none.
    pub compare_every: u32,
    /// The power of a frame's error by which its size falls.
    pub slope: f64,
    /// The least gain that is worth certain work.
    pub least_gain: TimeDelta,
    /// The part of the frame interval that encoding may take.
    pub time_share: f64,
}

impl Default for Config {
    /// A buffer of six frames and all levels; phi and times are those measured on two games
    /// and a synthetic scene at 1280x720 (`docs/algorithms/ace-c.md`).
    fn default() -> Self {
        Self {
            kind: Kind::Motion,
            buffer_frames: 6,
            most: Complexity::C2,
            learning: 0.5,
            weight: 1.0,
            offset: 0.0,
            mean_frames: 30.0,
            reductions: [0.0, 0.06, 0.12, 0.15],
            reduction_learning: 0.05,
            compare_every: 16,
            work: [1.0, 1.4, 2.15, 2.4],
            slope: 0.8,
            least_gain: TimeDelta::from_millis(1),
            time_share: 0.9,
        }
    }
}

/// The plan for a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// The amount of encoding work.
    pub complexity: Complexity,
    /// The size that the frame is encoded for.
    pub size: Bytes,
    /// The predicted size relative to other frames: the paper's rho.
    pub relative: f64,
    /// The time by which the frame arrives sooner than at c0: the paper's gain.
    pub gain: TimeDelta,
    /// The amount of the picture that is new.
    measured: f64,
}

/// The controller of complexity, for one encoder.
#[derive(Clone, Debug)]
pub struct AceC {
    config: Config,
    measure: Measure,
    model: Model,
    bucket: Bucket,
    /// The number of frames that a level was worth it for.
    worthwhile: u32,
}

impl AceC {
    /// A controller that has seen no frame.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self {
            measure: Measure::new(config.kind),
            model: Model::new(&config),
            bucket: Bucket::new(config.buffer_frames),
            worthwhile: 0,
            config,
        }
    }

    /// Plans a frame of `picture`: `budget` is the mean size of frames at `bandwidth`,
    /// `interval` apart. With `is_limit`, this frame may have no more than `budget`.
    pub fn plan(
        &mut self,
        picture: &Picture,
        budget: Bytes,
        is_limit: bool,
        bandwidth: Rate,
        interval: TimeDelta,
    ) -> Plan {
        let measured = self.measure.of(picture) as f64;
        let relative = self.model.relative(measured);
        self.bucket.pour(budget);
        let planned = self.bucket.plan(relative);
        let size = if is_limit {
            planned.min(budget)
        } else {
            planned
        };
        let expected = self
            .model
            .size(relative)
            .map_or(size, |expected| expected.min(size));
        let stay = Plan {
            complexity: Complexity::C0,
            size,
            relative,
            gain: TimeDelta::ZERO,
            measured,
        };
        let best = Complexity::ALL
            .into_iter()
            .filter(|level| *level <= self.config.most && *level > Complexity::C0)
            .filter_map(|level| {
                let longest = self.model.longest(level)?;
                if longest > interval.scale(self.config.time_share) {
                    return None;
                }
                let reduction = self.model.reduction(level);
                // A picture that needs less than its budget saves less.
                let saved = expected.scale(reduction);
                Some(Plan {
                    complexity: level,
                    size: size.scale(1.0 - reduction),
                    gain: bandwidth.transmit_time(saved) - self.model.extra(level)?,
                    ..stay
                })
            })
            .filter(|plan| plan.gain >= self.config.least_gain)
            .fold(
                stay,
                |best, plan| if plan.gain > best.gain { plan } else { best },
            );
        if best.complexity > Complexity::C0 {
            self.worthwhile += 1;
            if self.config.compare_every > 0
                && self.worthwhile.is_multiple_of(self.config.compare_every)
            {
                return stay;
            }
        }
        best
    }

    /// The part of a frame's size that `level` is assumed to save at equal quality: the
    /// paper's phi.
    #[must_use]
    pub const fn saves(&self, level: Complexity) -> f64 {
        self.model.reduction(level)
    }

    /// The time that `level` is assumed to take, relative to c0's.
    #[must_use]
    pub const fn work(&self, level: Complexity) -> f64 {
        self.model.work(level)
    }

    /// Records that the frame of `plan` was encoded in `took`.
    pub fn encoded(&mut self, plan: &Plan, frame: &EncodedFrame, took: TimeDelta) {
        let size = Bytes::new(frame.data.len() as u64);
        self.bucket.took(size);
        self.model.learn(&EncodedSample {
            measured: plan.measured,
            relative: plan.relative,
            complexity: plan.complexity,
            size,
            distortion: frame.distortion,
            took,
            is_keyframe: frame.is_keyframe,
            is_satisfied: size < plan.size.scale(SATISFIED),
        });
    }
}

#[cfg(test)]
mod tests;
