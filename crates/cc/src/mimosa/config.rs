//! Mimosa's parameters.

use mimosa_units::TimeDelta;
use serde::Deserialize;

use crate::parameter::{ParameterError, require};

/// More probes than this in a frame interval would be traffic of their own.
const MOST_PROBES: u16 = 64;

/// All parameters. Those without a source were chosen by the scoreboard, seeds 1 to 16
/// (`docs/mimosa.md`).
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// R*: the busy share that a flow alone aims at.
    pub target_share: f64,
    /// How much less that is beside others.
    pub shared_drop: f64,
    /// The others' part of the load up to which it is taken for noise.
    pub alone: f64,
    /// The others' part of the load from which the share is less by all of that.
    pub shared_from: f64,
    /// How much of a queue that stands adds to the load.
    pub standing_gain: f64,
    /// How far back the busy share is averaged.
    pub smoothing_window: TimeDelta,
    /// g below `knee`: how much of the distance to R* a round covers, as an exponent.
    pub far_gain: f64,
    /// g from `knee` on.
    pub near_gain: f64,
    /// The part of R* at which the gain changes.
    pub knee: f64,
    /// beta: how much more a flow without a share of the link grows in a round than one
    /// that has all of it, as an exponent.
    pub pull: f64,
    /// How much faster than its own busy time a frame is sent. Pudica, equation 2, has 1.25;
    /// more slowly it sees more of others.
    pub pace_gain: f64,
    /// Packets at a frame's start that leave together.
    pub lead: u16,
    /// Probes after each frame. Pudica, section 4.1, has 4.
    pub probes: u16,
    /// Backlog that makes the next frame smaller, as a part of a frame.
    pub backlog_share: f64,
    /// Age of the oldest frame on its way that halves the next one, in frame intervals
    /// above the smallest round trip. Pudica's open value: 2.
    pub overdue: f64,
    /// Age from which frames are as small as can be.
    pub stalled: f64,
    /// Age from which most frames are skipped.
    pub skipping: f64,
    /// Silence after which the bitrate is halved, in the same measure. Pudica's open value:
    /// 10.
    pub silence: f64,
    /// Share of lost packets in a round from which the bitrate falls: more than the 5 % that
    /// a radio may lose by itself.
    pub loss: f64,
    /// A packet that follows the one before it so many times faster than the link was seen
    /// to serve was held up, and not queued.
    pub release: f64,
    /// Window of the smallest delay.
    pub min_delay_window: TimeDelta,
    /// Competitive mode: as much of a queue that others let stand is not answered. Zero:
    /// every queue is.
    pub delay_budget: TimeDelta,
    /// No rise beyond this multiple of the newest acknowledged frame's own bitrate. As
    /// Pudica's.
    pub application_headroom: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            target_share: 0.97,
            shared_drop: 0.2,
            alone: 0.15,
            shared_from: 0.3,
            standing_gain: 0.1,
            smoothing_window: TimeDelta::from_millis(100),
            far_gain: 1.0,
            near_gain: 0.3,
            knee: 0.9,
            pull: 0.08,
            pace_gain: 1.1,
            lead: 4,
            probes: 6,
            backlog_share: 0.25,
            overdue: 2.0,
            stalled: 3.5,
            skipping: 6.0,
            silence: 10.0,
            loss: 0.08,
            release: 1.6,
            min_delay_window: TimeDelta::from_millis(3_000),
            delay_budget: TimeDelta::ZERO,
            application_headroom: 1.5,
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
        for (key, share) in [
            ("target_share", self.target_share),
            ("knee", self.knee),
            ("shared_from", self.shared_from),
            ("loss", self.loss),
        ] {
            require((0.01..=1.0).contains(&share), key, "from 0.01 to 1")?;
        }
        for (key, gain) in [
            ("far_gain", self.far_gain),
            ("near_gain", self.near_gain),
            ("pull", self.pull),
            ("shared_drop", self.shared_drop),
            ("standing_gain", self.standing_gain),
        ] {
            require((0.0..=2.0).contains(&gain), key, "from 0 to 2")?;
        }
        for (key, times) in [
            ("pace_gain", self.pace_gain),
            ("release", self.release),
            ("application_headroom", self.application_headroom),
        ] {
            require((1.0..=100.0).contains(&times), key, "from 1 to 100")?;
        }
        for (key, intervals) in [
            ("backlog_share", self.backlog_share),
            ("overdue", self.overdue),
            ("stalled", self.stalled),
            ("skipping", self.skipping),
            ("silence", self.silence),
        ] {
            require((0.0..=1e4).contains(&intervals), key, "from 0 to 10000")?;
        }
        for (key, window) in [
            ("smoothing_window", self.smoothing_window),
            ("min_delay_window", self.min_delay_window),
        ] {
            require(window > TimeDelta::ZERO, key, "longer than zero")?;
        }
        require(
            self.shared_drop < self.target_share,
            "shared_drop",
            "below `target_share`",
        )?;
        require(
            (0.0..self.shared_from).contains(&self.alone),
            "alone",
            "at least 0 and below `shared_from`",
        )?;
        require(self.probes <= MOST_PROBES, "probes", "at most 64")
    }
}
