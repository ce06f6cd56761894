//! SQP's parameters.

use mimosa_units::{Rate, TimeDelta};
use serde::Deserialize;

use crate::parameter::{ParameterError, require};

/// All parameters of SQP. `Default` gives the paper's values where the paper has them, and ours
/// where it is silent (marked *open*).
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// `m` of the paper: pacing rate, as a multiple of the bitrate. The paper's default is 2.
    pub pace: f64,
    /// `T` of the paper: share of a sample at which the bitrate aims. The paper's default is 0.9.
    pub target: f64,
    /// `delta` of the paper: size of the bitrate's step. The paper's default is 320 kbit/s.
    pub step: Rate,
    /// `r` of the paper: weight of a higher rate against the delay of a rate that is too high. The
    /// paper's default is 0.25.
    pub reward: f64,
    /// Length of the window of the smallest one-way delay, in smoothed round trips. The paper's
    /// default is 2; with 0.5, as in a public port to Rust, SQP does what Pudica's paper shows of it.
    pub min_delay_rtts: f64,
    /// Multiple of the newest frame's own bitrate beyond which the bitrate does not rise. *Open* in
    /// the paper; our default is 4.
    pub application_headroom: f64,
    /// Time without news of an arrival, after a packet has left, after which the bitrate is halved;
    /// it is halved again each time as long. *Open* in the paper; our default is 500 ms.
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
    /// Checks that every parameter has a valid value.
    ///
    /// # Errors
    ///
    /// [`ParameterError`] for the first parameter whose value is invalid.
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
