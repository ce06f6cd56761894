//! The figures of one encoded frame of a clip.

use std::fmt;

use mimosa_facts::Complexity;
use mimosa_units::{Bytes, TimeDelta};

use super::latency::Waits;

/// A row of `frames.csv`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) frame: u64,
    pub(crate) complexity: Complexity,
    /// The frame's predicted size as a share of the others'.
    pub(crate) relative: f64,
    pub(crate) planned: Bytes,
    pub(crate) coded: Bytes,
    /// The time that the chosen level is expected to save.
    pub(crate) gain: TimeDelta,
    pub(crate) prediction: TimeDelta,
    pub(crate) encoding: TimeDelta,
    pub(crate) waits: Waits,
    /// By level: the expected saving, and the encoding time relative to c0, after this frame.
    pub(crate) saves: [f64; 4],
    pub(crate) work: [f64; 4],
    pub(crate) attempts: u32,
    pub(crate) quantiser: f32,
    /// Mean squared error of the luma plane.
    pub(crate) distortion: f64,
    pub(crate) is_keyframe: bool,
}

impl Row {
    /// Header line of `frames.csv`: the names of its columns.
    pub(crate) const HEADER: &str = "frame,complexity,predicted_share,planned_bytes,coded_bytes,\
        gain_ms,prediction_ms,encoding_ms,queue_ms,pace_ms,latency_ms,attempts,quantiser,\
        squared_error,keyframe";
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{},{},{:.4},{},{},{:.3},{:.3},{:.3},{:.3},{:.3},{:.3},{},{:.2},{:.4},{}",
            self.frame,
            self.complexity.name(),
            self.relative,
            self.planned.get(),
            self.coded.get(),
            self.gain.as_millis(),
            self.prediction.as_millis(),
            self.encoding.as_millis(),
            self.waits.queue.as_millis(),
            self.waits.pace.as_millis(),
            self.waits.total.as_millis(),
            self.attempts,
            self.quantiser,
            self.distortion,
            self.is_keyframe,
        )
    }
}
