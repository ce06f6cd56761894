//! C3G's parameters: the paper's, and those that the paper leaves open.

use mimosa_units::{Rate, TimeDelta};
use serde::Deserialize;

use crate::parameter::{ParameterError, require};

/// The event after which the network state dictionary and the exploration gain begin anew.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Forget {
    /// A drain: in the paper's words, an increase "has caused drainNeeded".
    #[default]
    Drain,
    /// Congestion by equation 1 alone: in the paper's words, "since congestion was last detected".
    Congestion,
}

/// All parameters. `Default` gives the paper's values where the paper has them (each with its
/// section), and ours where it is silent (marked *open*).
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Δt of the paper: time between two runs of the control loop. *Open* in the paper; our
    /// default is 100 ms, three frames at the paper's 30 fps. The paper's own times point to a
    /// third of a second: a fall is drained after one to two periods, which its Fig. 10a has at
    /// 0.4 to 0.8 s (section VI-C), and a lost frame, acknowledged when the control loop runs,
    /// has a latency of up to 350 ms (V-B). The suite `c3g` of the lab has both.
    pub period: TimeDelta,
    /// `RTVL_th` of the paper: the longest acceptable round-trip video latency (RTVL).
    /// Section IV-A: 100 ms.
    pub threshold: TimeDelta,
    /// Time from a frame's first packet until the frame is shown, complete or not.
    /// Section V-B: 100 ms.
    pub presentation_timeout: TimeDelta,
    /// How long ε remembers a difference of sent and received bitrate that came without a
    /// rising RTVL. *Open* in the paper ("periodically updated"); our default is 10 s.
    pub epsilon_window: TimeDelta,
    /// Longest drain, also where the paper's formula has no finite one. *Open* in the paper;
    /// our default is 2 s.
    pub longest_drain: TimeDelta,
    /// Whether the data sent in a period are those to which its arrivals can belong, a smallest round
    /// trip earlier. Section V-A has windows that are not aligned, by both propagation delays, and section
    /// VII aligned ones as the next step; our default is true.
    pub aligned: bool,
    /// The event after which exploration begins anew. *Open*: section IV-B says both; our
    /// default is a drain.
    pub forget: Forget,
    /// `g_max` of the paper: the highest exploration gain. Section IV-B: 50.
    pub highest_gain: u32,
    /// `λ_exp,min` of the paper: the step of the rate at gain one. Rates are rounded to
    /// multiples of it in the network state dictionary. Section IV-B: 10 kbit/s.
    pub smallest_step: Rate,
    /// a of the paper: weight of the mean RTVL, in ms, in the rating of a rate. Section IV-B: 1.
    pub weight_mean: f64,
    /// b of the paper: weight of the standard deviation of RTVL, in ms, in the rating.
    /// Section IV-B: 10.
    pub weight_deviation: f64,
    /// c of the paper: weight of the largest RTVL, in ms, in the rating. Section IV-B: 1.
    pub weight_max: f64,
    /// d of the paper: weight of the queued data in the rating. Section IV-B: 2; the unit is
    /// *open*, and ours is per kB.
    pub weight_queued: f64,
    /// e of the paper: weight of the share of retransmissions in the rating. Section V-B;
    /// *open*: our default is 1000, so that 1 % counts as 10 ms.
    pub weight_resent: f64,
    /// f of the paper: weight of the share of packets lost in the rating. Section V-B; *open*:
    /// our default is 1000, as for retransmissions.
    pub weight_lost: f64,
    /// Lowest ratio of sent to target bitrate (section V-C) that is believed. Below it, the
    /// encoder is limited by its content: exploration does not raise the target, and a target
    /// for a sent bitrate is at most that bitrate divided by this ratio. *Open* in the paper;
    /// our default is 0.5.
    pub lowest_ratio: f64,
    /// Weight of the newest frame in the ratio of sent to target bitrate. *Open* in the paper;
    /// our default is 1/16.
    pub ratio_weight: f64,
    /// Age of the oldest frame on its way above which silence is congestion, as long as no RTVL
    /// is known. *Open* in the paper; our default is 1 s.
    pub silence: TimeDelta,
    /// Share of the earlier target to which the controller returns after silence, when no
    /// arrival has shown the capacity. *Open* in the paper; our default is 0.5.
    pub after_silence: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            period: TimeDelta::from_millis(100),
            threshold: TimeDelta::from_millis(100),
            presentation_timeout: TimeDelta::from_millis(100),
            epsilon_window: TimeDelta::from_millis(10_000),
            longest_drain: TimeDelta::from_millis(2_000),
            aligned: true,
            forget: Forget::Drain,
            highest_gain: 50,
            smallest_step: Rate::from_kbps(10),
            weight_mean: 1.0,
            weight_deviation: 10.0,
            weight_max: 1.0,
            weight_queued: 2.0,
            weight_resent: 1_000.0,
            weight_lost: 1_000.0,
            lowest_ratio: 0.5,
            ratio_weight: 1.0 / 16.0,
            silence: TimeDelta::from_millis(1_000),
            after_silence: 0.5,
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
        let is_span = |span: TimeDelta| {
            (TimeDelta::from_millis(1)..=TimeDelta::from_millis(100_000)).contains(&span)
        };
        let span = "from 1 ms to 100 s";
        require(is_span(self.period), "period", span)?;
        require(is_span(self.threshold), "threshold", span)?;
        require(
            is_span(self.presentation_timeout),
            "presentation_timeout",
            span,
        )?;
        require(is_span(self.epsilon_window), "epsilon_window", span)?;
        require(is_span(self.longest_drain), "longest_drain", span)?;
        require(is_span(self.silence), "silence", span)?;
        let is_gain = (1..=10_000).contains(&self.highest_gain);
        require(is_gain, "highest_gain", "from 1 to 10000")?;
        require(
            self.smallest_step > Rate::ZERO,
            "smallest_step",
            "above zero",
        )?;
        for (key, weight) in [
            ("weight_mean", self.weight_mean),
            ("weight_deviation", self.weight_deviation),
            ("weight_max", self.weight_max),
            ("weight_queued", self.weight_queued),
            ("weight_resent", self.weight_resent),
            ("weight_lost", self.weight_lost),
        ] {
            require((0.0..=1e6).contains(&weight), key, "from 0 to 1000000")?;
        }
        let share = "from 0.001 to 1";
        for (key, value) in [
            ("lowest_ratio", self.lowest_ratio),
            ("ratio_weight", self.ratio_weight),
            ("after_silence", self.after_silence),
        ] {
            require((1e-3..=1.0).contains(&value), key, share)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_nothing_is_refused_by_name() {
        assert_eq!(Config::default().check(), Ok(()));
        let plain = Config::default();
        #[rustfmt::skip]
        let wrong = [
            ("period", Config { period: TimeDelta::ZERO, ..plain }),
            ("highest_gain", Config { highest_gain: 0, ..plain }),
            ("smallest_step", Config { smallest_step: Rate::ZERO, ..plain }),
            ("weight_deviation", Config { weight_deviation: f64::NAN, ..plain }),
            ("lowest_ratio", Config { lowest_ratio: 0.0, ..plain }),
        ];
        for (key, config) in wrong {
            assert_eq!(config.check().unwrap_err().key, key);
        }
    }
}
