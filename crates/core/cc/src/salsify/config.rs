//! Salsify's parameters.

use mimosa_units::TimeDelta;
use serde::Deserialize;

use crate::parameter::{ParameterError, require};

/// All parameters of Salsify. `Default` gives alfalfa's values where alfalfa has them, Pudica's for
/// the delay budget, and ours where both are silent (marked *open*).
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Delay within which a frame has to arrive and be acknowledged. `None`, the default, stands
    /// for one frame interval plus the smallest round trip (Pudica, section 5.1: `L + D_min`).
    /// `salsify-sender.cc`, `target_size`: 100 ms.
    pub budget: Option<TimeDelta>,
    /// Length of the window of the smallest round trip. *Open*; our default is ten minutes. With
    /// Pudica's 10 s, several flows take their own standing queue for the path's delay, and the
    /// queue grows until packets are lost.
    pub min_rtt_window: TimeDelta,
    /// Weight of the newest packet in the mean gap and the mean size. `salsify-receiver.cc`,
    /// `ALPHA`: 0.1.
    pub smoothing: f64,
    /// Pacing rate, as a multiple of the target; zero sends each frame in one burst.
    /// `salsify-sender.cc`, `inter_send_delay`: 5.
    pub pace: f64,
    /// Longest gap between the departures of two packets of a frame. `salsify-sender.cc`,
    /// `inter_send_delay`: 2 ms.
    pub longest_gap: TimeDelta,
    /// Number of frames skipped in a row after which one is sent at the lowest rate.
    /// `salsify-sender.cc`, `MAX_SKIPPED`: 3.
    pub most_skipped: u32,
    /// Largest target, as a multiple of the bitrate of the largest frame lately. *Open*; our
    /// default is 4.
    pub application_headroom: f64,
    /// Time without news of an arrival, after a packet has left, after which the estimate is
    /// halved; it is halved again each time as long. *Open*; our default is 500 ms.
    pub feedback_timeout: TimeDelta,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            budget: None,
            min_rtt_window: TimeDelta::from_millis(600_000),
            smoothing: 0.1,
            pace: 5.0,
            longest_gap: TimeDelta::from_millis(2),
            most_skipped: 3,
            application_headroom: 4.0,
            feedback_timeout: TimeDelta::from_millis(500),
        }
    }
}

impl Config {
    /// Checks that every parameter has a valid value.
    ///
    /// # Errors
    ///
    /// [`ParameterError`] for the first parameter whose value is invalid.
    pub fn check(&self) -> Result<(), ParameterError> {
        let is_above = |span: TimeDelta| span > TimeDelta::ZERO;
        require(self.budget.is_none_or(is_above), "budget", "above zero")?;
        require(
            is_above(self.min_rtt_window),
            "min_rtt_window",
            "above zero",
        )?;
        let is_weight = self.smoothing > 0.0 && self.smoothing <= 1.0;
        require(is_weight, "smoothing", "above 0, at most 1")?;
        let is_pace = self.pace == 0.0 || (1.0..=1e3).contains(&self.pace);
        require(is_pace, "pace", "zero, or from 1 to 1000")?;
        require(is_above(self.longest_gap), "longest_gap", "above zero")?;
        require(
            (1.0..=1e3).contains(&self.application_headroom),
            "application_headroom",
            "from 1 to 1000",
        )?;
        require(
            is_above(self.feedback_timeout),
            "feedback_timeout",
            "above zero",
        )
    }
}
