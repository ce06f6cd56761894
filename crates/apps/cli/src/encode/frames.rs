//! One frame of a clip as it was encoded.

use std::fmt;

use mimosa_facts::Complexity;
use mimosa_units::{Bytes, TimeDelta};

use super::latency::Waits;

/// A row of `frames.csv`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) frame: u64,
    pub(crate) complexity: Complexity,
    /// Its predicted size over that of others.
    pub(crate) relative: f64,
    pub(crate) planned: Bytes,
    pub(crate) coded: Bytes,
    /// What the chosen level is thought to bring.
    pub(crate) gain: TimeDelta,
    pub(crate) prediction: TimeDelta,
    pub(crate) encoding: TimeDelta,
    pub(crate) waits: Waits,
    /// By level: what it is thought to save, and its time over c0's, after this frame.
    pub(crate) saves: [f64; 4],
    pub(crate) work: [f64; 4],
    pub(crate) attempts: u32,
    pub(crate) quantiser: f32,
    /// Mean squared error of the brightness.
    pub(crate) distortion: f64,
    pub(crate) is_keyframe: bool,
}

impl Row {
    /// The first line of the table.
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
