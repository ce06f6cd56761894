//! Pudica's parameters: the paper's constants, its ablations, and what it
//! leaves open.

use mimosa_units::{Rate, TimeDelta};
use serde::Deserialize;

use crate::parameter::ParameterError;

/// More probes than this in a frame interval would be traffic of their own.
const MOST_PROBES: u16 = 64;

/// How the bandwidth utilisation ratio (BUR) of a frame is measured.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    /// Equations 1 and 3 to 5: the frame's delay above the minimum, corrected
    /// by the probes.
    #[default]
    Pudica,
    /// The bitrate over SQP's estimate of available bandwidth (Tab. 3 and 4):
    /// minimum delay over two smoothed RTTs.
    Sqp,
    /// The bitrate over Salsify's estimate of capacity (Tab. 3 and 4): moving
    /// average of the gaps between arrivals.
    Salsify,
}

/// What is done while the smoothed BUR lies between `alpha` and one.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
pub enum Adaptation {
    /// Simultaneous additive increase and multiplicative decrease (eq. 9, 10).
    #[default]
    #[serde(rename = "ai-md")]
    Simultaneous,
    /// Additive increase alone; decrease by draining (appendix G).
    #[serde(rename = "ai/md")]
    Classic,
}

/// How a frame's packets are paced.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum PaceMode {
    /// Equation 2: slower as the link gets busier.
    #[default]
    Adaptive,
    /// A fixed multiple of the bitrate (Fig. 7a).
    Fixed,
    /// All at once (Fig. 7b).
    Burst,
}

/// How the additive term of equation 10 grows with the frame count `tau`.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// `2 tau / ln B`: linear, as appendix C calls it.
    #[default]
    Linear,
    /// `2^tau / ln B`: as the published text reads.
    Exponential,
}

/// All parameters. `Default` gives the paper's values where it has them
/// (section, equation or table named at each) and ours where it is silent
/// (marked *open*).
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How BUR is measured. Section 4.1; the others are section 5.5's.
    pub estimator: Estimator,
    /// Window of the minimum one-way delay. Section 4.1: 10 s.
    pub min_delay_window: TimeDelta,
    /// Pacing. Section 4.1, equation 2.
    pub pacing: PaceMode,
    /// `gamma_p`: how much faster than its own delay a frame is sent. 1.25.
    pub pace_gain: f64,
    /// Pace multiplier in `fixed` mode. Fig. 7a, as SQP: 2.
    pub fixed_multiplier: f64,
    /// Probe packets after each frame. Section 4.1: 4.
    pub probes: u16,
    /// `T_wd`: how far back smoothing looks. Section 4.2: 200 ms.
    pub smoothing_window: TimeDelta,
    /// alpha: below it efficiency, above it fairness. Section 4.2: 0.85.
    pub alpha: f64,
    /// `gamma_MI`: gain of the multiplicative increase. Equation 8: 0.3.
    pub increase_gain: f64,
    /// Fairness control. Equations 9 and 10.
    pub adaptation: Adaptation,
    /// `gamma_MD`: the multiplicative part of a fairness step. Equation 10: 0.05.
    pub decrease_gain: f64,
    /// How the additive part grows. *Open*: the text is garbled there.
    pub growth: Growth,
    /// Frames that count as one in `tau`. *Open*: 1.
    pub growth_frames: f64,
    /// Least share of the bitrate by which a fairness step moves. *Open*
    /// ("we enforce both upper and lower bounds"): -0.05.
    pub lowest_step: f64,
    /// Greatest share by which a fairness step moves. *Open*: 0.05.
    pub highest_step: f64,
    /// `tau` begins anew this often. Section 4.2: 5 s.
    pub restart_every: TimeDelta,
    /// Step of the additive increase in `ai/md`. *Open*: 0.5 Mbit/s.
    pub additive_step: Rate,
    /// Whether a frame that met a queue makes the next one smaller. Section 4.3.
    pub fallback: bool,
    /// zeta: by how much. Section 4.3: 0.15.
    pub fallback_ratio: f64,
    /// *Next delay* that makes the next frame smaller, in frame intervals above
    /// the minimum round trip. *Open* ("significant"): 2.
    pub next_delay: f64,
    /// Whether queues are drained. Section 4.3.
    pub drain: bool,
    /// Consecutive frames above one that start it. Section 4.3: 3.
    pub drain_after: u32,
    /// Time in which a drain aims to be done. Equation 11: 200 ms.
    pub drain_time: TimeDelta,
    /// Silence after which the bitrate is halved and a drain begins, in frame
    /// intervals above the minimum round trip. *Open*: 10.
    pub frame_timeout: f64,
    /// No increase beyond this multiple of the newest acknowledged frame's own
    /// bitrate, so that an encoder with little to show cannot raise the target
    /// untested. *Open*: 4, above what equation 8 asks for from a tenth of the
    /// link's rate.
    pub application_headroom: f64,
    /// A drain this long, in which the delay of each frame's first packet was
    /// steady, means a longer path: the minimum delay is measured anew. *Open*;
    /// zero for never: 1 s.
    pub path_change_after: TimeDelta,
    /// How steady. *Open*: 2 ms.
    pub path_change_jitter: TimeDelta,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            estimator: Estimator::Pudica,
            min_delay_window: TimeDelta::from_millis(10_000),
            pacing: PaceMode::Adaptive,
            pace_gain: 1.25,
            fixed_multiplier: 2.0,
            probes: 4,
            smoothing_window: TimeDelta::from_millis(200),
            alpha: 0.85,
            increase_gain: 0.3,
            adaptation: Adaptation::Simultaneous,
            decrease_gain: 0.05,
            growth: Growth::Linear,
            growth_frames: 1.0,
            lowest_step: -0.05,
            highest_step: 0.05,
            restart_every: TimeDelta::from_millis(5_000),
            additive_step: Rate::from_kbps(500),
            fallback: true,
            fallback_ratio: 0.15,
            next_delay: 2.0,
            drain: true,
            drain_after: 3,
            drain_time: TimeDelta::from_millis(200),
            frame_timeout: 10.0,
            application_headroom: 4.0,
            path_change_after: TimeDelta::from_millis(1_000),
            path_change_jitter: TimeDelta::from_millis(2),
        }
    }
}

impl Config {
    /// Refuses parameters with which the formulas mean nothing.
    ///
    /// # Errors
    ///
    /// [`ParameterError`] with the first such parameter.
    pub fn check(&self) -> Result<(), ParameterError> {
        let positive = "a number above zero";
        let share = "a share between zero and one";
        #[rustfmt::skip]
        let checks = [
            ("pace_gain", self.pace_gain, self.pace_gain >= 1.0, "one or more"),
            ("fixed_multiplier", self.fixed_multiplier, self.fixed_multiplier >= 1.0, "one or more"),
            ("alpha", self.alpha, self.alpha > 0.0 && self.alpha < 1.0, share),
            ("increase_gain", self.increase_gain, self.increase_gain > 0.0, positive),
            ("decrease_gain", self.decrease_gain, (0.0..1.0).contains(&self.decrease_gain), share),
            ("growth_frames", self.growth_frames, self.growth_frames > 0.0, positive),
            ("lowest_step", self.lowest_step, self.lowest_step > -1.0 && self.lowest_step <= 0.0, "above -1 and at most zero"),
            ("highest_step", self.highest_step, self.highest_step >= 0.0, "zero or more"),
            ("fallback_ratio", self.fallback_ratio, (0.0..1.0).contains(&self.fallback_ratio), share),
            ("next_delay", self.next_delay, self.next_delay > 0.0, positive),
            ("probes", f64::from(self.probes), self.probes <= MOST_PROBES, "at most 64"),
            ("drain_after", f64::from(self.drain_after), self.drain_after > 0, "one or more"),
            ("drain_time", self.drain_time.as_secs(), self.drain_time > TimeDelta::ZERO, "longer than zero seconds"),
            ("smoothing_window", self.smoothing_window.as_secs(), self.smoothing_window > TimeDelta::ZERO, "longer than zero seconds"),
            ("min_delay_window", self.min_delay_window.as_secs(), self.min_delay_window > TimeDelta::ZERO, "longer than zero seconds"),
            ("restart_every", self.restart_every.as_secs(), self.restart_every > TimeDelta::ZERO, "longer than zero seconds"),
            ("frame_timeout", self.frame_timeout, self.frame_timeout > 0.0, positive),
            ("application_headroom", self.application_headroom, self.application_headroom >= 1.0, "one or more"),
        ];
        // `!valid` rather than the reverse comparison, so that NaN fails too.
        for (key, value, valid, must) in checks {
            if !valid || value.is_infinite() {
                return Err(ParameterError {
                    key,
                    must,
                    value: Some(value),
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_valid_and_nonsense_is_named() {
        assert_eq!(Config::default().check(), Ok(()));
        let wrong = Config {
            alpha: f64::NAN,
            ..Config::default()
        };
        let error = wrong.check().unwrap_err();
        assert_eq!(
            error.to_string(),
            "`alpha` must be a share between zero and one, but is NaN"
        );
    }
}
