//! The sound of a session.

use mimosa_facts::SessionFrame;
use mimosa_units::TimeDelta;
use serde::Serialize;

use crate::spread::Spread;

/// Number of samples in a millisecond.
const SAMPLES_PER_MS: f64 = 48.0;

/// The numbers of the sound that the page played.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sound {
    /// The skew in milliseconds: how much later sound was heard than the picture of the same moment
    /// was seen.
    pub skew_ms: Spread,
    /// Largest skew in either direction, in milliseconds.
    pub furthest_ms: f64,
    /// Sound that the page had made up at the end, in milliseconds.
    pub made_up_ms: f64,
}

impl Sound {
    /// The sound of `frames`; `None` if the page reported nothing.
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
