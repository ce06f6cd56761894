//! ACE-C: more work for the frames that would be late for their size.
//!
//! From "ACE: Sending Burstiness Control for High-Quality Real-time Communication"
//! (SIGCOMM 2025), sections 4.2 and 5.1, appendix A. Before a frame is encoded its
//! size over that of others is predicted from its picture, rho = w S / S' + offset
//! (equation 4). A level of complexity c makes it smaller by phi(c) at equal
//! quality and takes longer by dTe(c). The level with the greatest gain
//! rho phi(c) / f - dTe(c) is taken (equation 2), and the size that is planned
//! lowered by phi(c) (section 5.1), or the encoder would spend what it saves on
//! quality.
//!
//! # Deviations
//!
//! - What is sent is not rho over the frame rate but the planned size over the
//!   bandwidth: the same where frames are as large as planned in the mean, and right
//!   where the bandwidth has just changed.
//! - S is measured after a search for motion, as libx264's own prediction is; the
//!   plain difference of equation 3 is [`Kind::Difference`].
//! - Sizes are learnt at equal quality (see `model`). The paper learns from the size
//!   itself, which here is the planned one whatever the content was.
//! - w and offset share a step of 0.5 of the mistake in proportion to their parts in
//!   it (normalised least mean squares). phi has a step of 0.05: predictions are off
//!   by a fifth, and phi is less than that. It is learnt beside large frames at c0, of
//!   which there is one in sixteen for that alone. Times have 0.5, as in the paper.
//! - A gain below [`Config::least_gain`] is left: the work is certain, the gain is not.
//! - A level whose time would exceed [`Config::time_share`] of the frame interval is
//!   not taken. The paper has no such bound, and 33 ms between frames.

use mimosa_units::{Bytes, Rate, TimeDelta};
use mimosa_video::{Complexity, EncodedFrame, Picture};

use crate::bucket::Bucket;
use crate::measure::{Kind, Measure};
use crate::model::{Model, Seen};

/// Below this part of its planned size a frame had all it needed.
const SATISFIED: f64 = 0.6;

/// The algorithm's parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// What pictures are compared with.
    pub kind: Kind,
    /// Budgets that the encoder's buffer holds. One: each frame has its budget, no
    /// more, and no frame is ever oversized.
    pub buffer_frames: u32,
    /// The greatest level to use; [`Complexity::C0`] leaves the sizes alone.
    pub most: Complexity,
    /// Weight of a new frame for w, offset and times: the paper's alpha.
    pub learning: f64,
    /// The first w, and the first offset.
    pub weight: f64,
    /// See `weight`.
    pub offset: f64,
    /// Frames that means are of: the paper's n, which it leaves open.
    pub mean_frames: f64,
    /// The first phi, by level from c0 on.
    pub reductions: [f64; 4],
    /// Weight of a new frame for phi.
    pub reduction_learning: f64,
    /// The first times over c0's, by level.
    pub work: [f64; 4],
    /// Of frames that a level would be worth it for, every so many stay at c0: what a
    /// level saves shows beside these. Zero for none.
    pub compare_every: u32,
    /// By which power of its error a frame's size falls.
    pub slope: f64,
    /// A gain below this is not worth certain work.
    pub least_gain: TimeDelta,
    /// The part of the frame interval that encoding may take.
    pub time_share: f64,
}

impl Default for Config {
    /// A buffer of six frames, all levels; phi and times as measured on two games and
    /// a synthetic scene at 1280x720 (`docs/ace-c.md`).
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

/// What a frame is to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// How much work to put in.
    pub complexity: Complexity,
    /// The size to encode it for.
    pub size: Bytes,
    /// Its predicted size over that of others: the paper's rho.
    pub relative: f64,
    /// The time by which it is there sooner than at c0: the paper's gain.
    pub gain: TimeDelta,
    /// What is new of its picture.
    measured: f64,
}

/// The controller of complexity, for one encoder.
#[derive(Clone, Debug)]
pub struct AceC {
    config: Config,
    measure: Measure,
    model: Model,
    bucket: Bucket,
    /// Frames that a level was worth it for.
    worthwhile: u32,
}

impl AceC {
    /// One that has seen nothing.
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

    /// Plans a frame of `picture`: `budget` is what frames have in the mean, at
    /// `bandwidth`, `interval` apart. With `is_limit` this one may have no more.
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
                // A picture that needs less than it may have saves less.
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

    /// What `level` is thought to save at equal quality: the paper's phi.
    #[must_use]
    pub const fn saves(&self, level: Complexity) -> f64 {
        self.model.reduction(level)
    }

    /// The time that `level` is thought to take, over c0's.
    #[must_use]
    pub const fn work(&self, level: Complexity) -> f64 {
        self.model.work(level)
    }

    /// The frame of `plan` has been encoded in `took`.
    pub fn encoded(&mut self, plan: &Plan, frame: &EncodedFrame, took: TimeDelta) {
        let size = Bytes::new(frame.data.len() as u64);
        self.bucket.took(size);
        self.model.learn(&Seen {
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
