//! Pudica's parameters: the paper's constants, its ablations, and what it
//! leaves open.

use mimosa_units::{Rate, TimeDelta};
use serde::Deserialize;

use crate::parameter::ParameterError;

/// Most probes in a frame interval; more would be traffic of their own.
pub(super) const MOST_PROBES: u16 = 64;

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

/// How the bitrate changes while the smoothed BUR lies between `alpha` and one.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
pub enum Adaptation {
    /// Simultaneous additive increase and multiplicative decrease (eq. 9, 10).
    #[default]
    #[serde(rename = "ai-md")]
    Simultaneous,
    /// Additive increase alone; only draining decreases the bitrate (appendix G).
    #[serde(rename = "ai/md")]
    Classic,
}

/// How a frame's packets are paced.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum PaceMode {
    /// The pace of equation 2, which is slower on a busier link.
    #[default]
    Adaptive,
    /// A pace of a fixed multiple of the bitrate (Fig. 7a).
    Fixed,
    /// All packets leave at once (Fig. 7b).
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
    /// `2 tau / ln (B_max / 2)`: the same for every bitrate, as in Fig. 15b.
    Independent,
}

/// What a fairness step waits for.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Cadence {
    /// Feedback about any frame.
    #[default]
    Frame,
    /// Feedback about a frame encoded since the step before, as with the
    /// multiplicative increase.
    Feedback,
}

/// What a smoothed BUR above one does to the bitrate, beside beginning `tau`
/// anew.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Overuse {
    /// Nothing.
    #[default]
    Hold,
    /// A fairness step.
    Step,
}

/// Which packets of a frame count in its bitrate, `B_k` of equation 6.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum FrameSize {
    /// Packets that arrived count, so that losses make the link look busier.
    #[default]
    Arrived,
    /// All packets count, so that losses change nothing.
    Sent,
}

/// Parameters of Pudica. The defaults are the paper's values where it has them
/// (section, equation, table or figure named at each), and ours where it is
/// silent (marked *open*).
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How the BUR is measured. Section 4.1: Pudica's own estimator; the others
    /// are those of section 5.5.
    pub estimator: Estimator,
    /// Window of the minimum one-way delay. Section 4.1: 10 s.
    pub min_delay_window: TimeDelta,
    /// How a frame's packets are paced. Section 4.1, equation 2: adaptively.
    pub pacing: PaceMode,
    /// `gamma_p` of the paper: ratio of the time for which a frame keeps the link
    /// busy, by the newest BUR, to the time over which the frame is sent.
    /// Equation 2: 1.25.
    pub pace_gain: f64,
    /// Pace multiplier in `fixed` mode and with SQP's estimator. Fig. 7a: 2, as
    /// SQP has it.
    pub fixed_multiplier: f64,
    /// Number of probe packets after each frame, at most 64. Section 4.1: 4.
    pub probes: u16,
    /// Multiple of the noise floor by which a probe's delay is lessened before it
    /// counts; zero for equation 4 as it stands. *Not in the paper*; our default
    /// is 1, the mean of what a probe meets without a queue.
    pub noise_floor: f64,
    /// Window over which the noise floor is the smallest. *Not in the paper*; our
    /// default is that of the minimum delay, 10 s.
    pub noise_window: TimeDelta,
    /// `T_wd` of the paper: time over which BUR samples are smoothed. Section
    /// 4.2: 200 ms.
    pub smoothing_window: TimeDelta,
    /// Which packets of a frame count in `B_k` of equation 6. Section 6: those that
    /// arrived.
    pub frame_size: FrameSize,
    /// alpha of the paper: smoothed BUR up to which the bitrate rises by a
    /// factor, and above which it moves towards the fair share. Section 4.2:
    /// 0.85.
    pub alpha: f64,
    /// `gamma_MI` of the paper: gain of the multiplicative increase. Equation 8:
    /// 0.3.
    pub increase_gain: f64,
    /// How the bitrate changes while the smoothed BUR lies between `alpha` and
    /// one. Equations 9 and 10.
    pub adaptation: Adaptation,
    /// `gamma_MD` of the paper: the multiplicative part of a fairness step.
    /// Equation 10: 0.05.
    pub decrease_gain: f64,
    /// How the additive part of a fairness step grows. *Open* in the paper, whose
    /// text is garbled there; our default is linear.
    pub growth: Growth,
    /// Number of frames that count as one in `tau`. *Open* in the paper; our
    /// default is 1.
    pub growth_frames: f64,
    /// What a fairness step waits for. Section 4.2 says of the multiplicative
    /// increase alone that the next adjustment is postponed until its own
    /// feedback, and counts `tau` in frames: any frame's feedback.
    pub cadence: Cadence,
    /// What a smoothed BUR above one does to the bitrate. Section 4: AI-MD is for
    /// a smoothed BUR that is "high but not more than one", so nothing; taken
    /// alone, "when the smoothed BUR is above alpha" (4.2) has a fairness step.
    pub overuse: Overuse,
    /// Largest rise by a fairness step. *Open* in the paper, which bounds A, in
    /// Mbit/s, on both sides and names no bounds; our default is 1 Mbit/s, 2 % of
    /// the paper's `B_max`: `A` of equation 10 begins within 1.25 Mbit/s at every
    /// bitrate, so that the bound limits little more than its growth.
    pub largest_rise: Rate,
    /// Largest fall by a fairness step. *Open* in the paper; our default is 1
    /// Mbit/s, as for the rise.
    pub largest_fall: Rate,
    /// Lowest fairness step as a share of the bitrate, which counts where it is
    /// nearer to zero than `largest_fall`. *Not in the paper*, whose links are
    /// faster; our default is -0.1, so that 1 Mbit/s is no leap at 2 Mbit/s.
    pub lowest_share: f64,
    /// Highest fairness step as a share of the bitrate, which counts where it is
    /// below `largest_rise`. *Not in the paper*; our default is 0.1.
    pub highest_share: f64,
    /// Time after which `tau` begins anew at zero. Section 4.2: 5 s.
    pub restart_every: TimeDelta,
    /// Step of the additive increase with `ai/md`. *Open* in the paper; our
    /// default is 0.5 Mbit/s.
    pub additive_step: Rate,
    /// Whether a frame that met a queue or is overdue makes the next one smaller.
    /// Section 4.3.
    pub fallback: bool,
    /// zeta of the paper: share by which such a frame makes the next one smaller.
    /// Section 4.3: 0.15.
    pub fallback_ratio: f64,
    /// *Next delay*, the age of the oldest frame on its way, above which the next
    /// frame is smaller; in frame intervals above the minimum round trip. *Open*
    /// in the paper ("significant"); our default is 2.
    pub next_delay: f64,
    /// Whether queues are drained. Section 4.3.
    pub drain: bool,
    /// Number of consecutive frames with a BUR above one that starts a drain.
    /// Section 4.3: 3.
    pub drain_after: u32,
    /// Time in which a drain aims to empty the queue. Equation 11: 200 ms.
    pub drain_time: TimeDelta,
    /// Silence after which the bitrate is halved and a drain begins, in frame
    /// intervals above the minimum round trip. *Open* in the paper; our default
    /// is 10.
    pub frame_timeout: f64,
    /// Multiple of the newest acknowledged frame's own bitrate beyond which the
    /// bitrate does not rise, so that an encoder with little to show cannot raise
    /// the target untested. *Open* in the paper; our default is 4, more than
    /// equation 8 asks for at a tenth of the link's rate.
    pub application_headroom: f64,
    /// Time that a drain must have lasted, and for which the delay of each
    /// frame's first packet must then have been steady, before the path counts as
    /// longer and the minimum delay is measured anew; zero for never. *Open* in
    /// the paper; our default is 1 s.
    pub path_change_after: TimeDelta,
    /// Largest difference between delays that count as steady for
    /// `path_change_after`. *Open* in the paper; our default is 2 ms.
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
            noise_floor: 1.0,
            noise_window: TimeDelta::from_millis(10_000),
            smoothing_window: TimeDelta::from_millis(200),
            frame_size: FrameSize::Arrived,
            alpha: 0.85,
            increase_gain: 0.3,
            adaptation: Adaptation::Simultaneous,
            decrease_gain: 0.05,
            growth: Growth::Linear,
            growth_frames: 1.0,
            cadence: Cadence::Frame,
            overuse: Overuse::Hold,
            largest_rise: Rate::from_kbps(1_000),
            largest_fall: Rate::from_kbps(1_000),
            lowest_share: -0.1,
            highest_share: 0.1,
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
    /// Checks that the formulas are valid with the parameters.
    ///
    /// # Errors
    ///
    /// [`ParameterError`] for the first parameter whose value is invalid.
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
            ("lowest_share", self.lowest_share, self.lowest_share > -1.0 && self.lowest_share <= 0.0, "above -1 and at most zero"),
            ("highest_share", self.highest_share, self.highest_share >= 0.0, "zero or more"),
            ("fallback_ratio", self.fallback_ratio, (0.0..1.0).contains(&self.fallback_ratio), share),
            ("next_delay", self.next_delay, self.next_delay > 0.0, positive),
            ("probes", f64::from(self.probes), self.probes <= MOST_PROBES, "at most 64"),
            ("noise_floor", self.noise_floor, self.noise_floor >= 0.0, "zero or more"),
            ("noise_window", self.noise_window.as_secs(), self.noise_window > TimeDelta::ZERO, "longer than zero seconds"),
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
