//! SQP's parameters.

use mimosa_units::{Rate, TimeDelta};
use serde::Deserialize;

use crate::parameter::{ParameterError, require};

/// All parameters. `Default` gives the paper's values where it has them, and ours where it
/// is silent (marked *open*).
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// `m`: packets leave at this multiple of the bitrate. The paper's 2.
    pub pace: f64,
    /// `T`: the share of a sample that is aimed at. The paper's 0.9.
    pub target: f64,
    /// `delta`: the length of one step. The paper's 320 kbit/s.
    pub step: Rate,
    /// `r`: what a higher rate is worth against the delay of one too high. The paper's 0.25.
    pub reward: f64,
    /// Window of the smallest one-way delay, in smoothed round trips. The paper's 2.
    pub min_delay_rtts: f64,
    /// The bitrate rises up to this multiple of the newest frame's own. *Open*.
    pub application_headroom: f64,
    /// After so long without news of an arrival the bitrate is halved, and again each time as
    /// long. *Open*.
    pub feedback_timeout: TimeDelta,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            pace: 2.0,
            target: 0.9,
            step: Rate::from_kbps(320),
            reward: 0.25,
            min_delay_rtts: 2.0,
            application_headroom: 4.0,
            feedback_timeout: TimeDelta::from_millis(500),
        }
    }
}

impl Config {
    /// Refuses what means nothing.
    ///
    /// # Errors
    ///
    /// [`ParameterError`].
    pub fn check(&self) -> Result<(), ParameterError> {
        require((1.0..=1e3).contains(&self.pace), "pace", "from 1 to 1000")?;
        let is_share = self.target > 0.0 && self.target <= 1.0;
        require(is_share, "target", "above 0, at most 1")?;
        require(self.step > Rate::ZERO, "step", "above zero")?;
        require(
            (0.0..=100.0).contains(&self.reward),
            "reward",
            "from 0 to 100",
        )?;
        require(
            (0.01..=1e3).contains(&self.min_delay_rtts),
            "min_delay_rtts",
            "from 0.01 to 1000",
        )?;
        require(
            (1.0..=1e3).contains(&self.application_headroom),
            "application_headroom",
            "from 1 to 1000",
        )?;
        require(
            self.feedback_timeout > TimeDelta::ZERO,
            "feedback_timeout",
            "above zero",
        )
    }
}
