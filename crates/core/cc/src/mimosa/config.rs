//! Mimosa's parameters.

use mimosa_units::TimeDelta;
use serde::Deserialize;

use crate::parameter::{ParameterError, require};

/// More probes than this in a frame interval would be traffic of their own.
const MOST_PROBES: u16 = 64;

/// All parameters. Those without a source were chosen by the scoreboard, seeds 1 to 16
/// (`docs/algorithms/mimosa-controller.md`).
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
    /// The same of a flow that is alone, and the link's rate. Later, lost packets at a frame's
    /// end are sent again later as well.
    pub alone_pace_gain: f64,
    /// How much of the spread of the link's own rate others must exceed: R is a mean of six
    /// frames, and the error of such a mean 1 / sqrt(6) of that of one.
    pub spread_part: f64,
    /// How much longer than the smallest delay the mean one is without a queue, in times by
    /// which the gaps of trains are uneven: 1.6 where delays are equally distributed.
    pub noise_gain: f64,
    /// The most of it, in frame intervals.
    pub most_noise: f64,
    /// Packets at a frame's start that leave together.
    pub lead: u16,
    /// Probes after each frame. Pudica, section 4.1, has 4.
    pub probes: u16,
    /// The most that probes may add to a frame, but for one.
    pub probe_share: f64,
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
    /// Packets that follow one another so many times faster than the link was seen to serve
    /// were held up, and not queued.
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
            alone_pace_gain: 1.2,
            spread_part: 0.4,
            noise_gain: 1.6,
            most_noise: 0.25,
            lead: 4,
            probes: 6,
            probe_share: 0.05,
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
            ("spread_part", self.spread_part),
            ("noise_gain", self.noise_gain),
            ("most_noise", self.most_noise),
            ("probe_share", self.probe_share),
        ] {
            require((0.0..=2.0).contains(&gain), key, "from 0 to 2")?;
        }
        for (key, times) in [
            ("pace_gain", self.pace_gain),
            ("alone_pace_gain", self.alone_pace_gain),
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
