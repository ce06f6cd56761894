//! The sound of a session.

use mimosa_facts::SessionFrame;
use mimosa_units::TimeDelta;
use serde::Serialize;

use crate::spread::Spread;

/// Samples in a millisecond.
const SAMPLES_PER_MS: f64 = 48.0;

/// The sound as the page heard it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sound {
    /// By how much later it was heard than the picture of the same time was seen, in
    /// milliseconds.
    pub skew_ms: Spread,
    /// The same, either way: the furthest that the two were apart.
    pub furthest_ms: f64,
    /// How much the page had made up at the end, in milliseconds.
    pub made_up_ms: f64,
}

impl Sound {
    /// That of `frames`; `None` when the page told nothing.
    pub(crate) fn of(frames: &[SessionFrame]) -> Option<Self> {
        let skews = || frames.iter().filter_map(skew_ms);
        Some(Self {
            skew_ms: Spread::of(skews())?,
            furthest_ms: skews().map(f64::abs).fold(0.0, f64::max),
            made_up_ms: frames.iter().filter_map(made_up_ms).fold(0.0, f64::max),
        })
    }
}

pub(crate) fn skew_ms(frame: &SessionFrame) -> Option<f64> {
    frame.sound_skew.map(TimeDelta::as_millis)
}

pub(crate) fn made_up_ms(frame: &SessionFrame) -> Option<f64> {
    Some(frame.sound_concealed? as f64 / SAMPLES_PER_MS)
}
