//! NADA's parameters: Table 2 of RFC 8698, with its names.

use mimosa_units::TimeDelta;
use serde::Deserialize;

use crate::parameter::{ParameterError, require};

/// All parameters. `RMIN` and `RMAX` are the limits, `FPS` is the stream's.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// `PRIO`: weight among flows. 1.
    pub priority: f64,
    /// `XREF`: the congestion signal at which `RMAX` is right. 10 ms.
    pub reference: TimeDelta,
    /// `KAPPA`: speed of the gradual update. 0.5.
    pub kappa: f64,
    /// `ETA`: weight of the signal's change in it. 2.
    pub eta: f64,
    /// `TAU`: the longest round trip it is made for. 500 ms.
    pub tau: TimeDelta,
    /// `DELTA`: time between updates. 100 ms.
    pub interval: TimeDelta,
    /// `LOGWIN`: what is looked back at. 500 ms.
    pub log_window: TimeDelta,
    /// `QEPS`: above it a queueing delay ends the ramp-up. 10 ms.
    pub ramp_up_delay: TimeDelta,
    /// `DFILT`: bound on the filter's own delay. 120 ms.
    pub filter_delay: TimeDelta,
    /// `GAMMA_MAX`: most growth in a step of the ramp-up. 0.5.
    pub highest_ramp_up: f64,
    /// `QBOUND`: most queue that the ramp-up may make. 50 ms.
    pub ramp_up_bound: TimeDelta,
    /// `MULTILOSS`: loss intervals for which a loss is remembered. 7.
    pub loss_memory: f64,
    /// `QTH`: delay above which it is warped while losses are remembered. 50 ms.
    pub warp_delay: TimeDelta,
    /// `LAMBDA`: how steeply. 0.5.
    pub warp_gain: f64,
    /// `PLRREF`: reference share of losses. 0.01.
    pub loss_reference: f64,
    /// `PMRREF`: reference share of marks. 0.01.
    pub mark_reference: f64,
    /// `DLOSS`: what that many losses count as. 10 ms.
    pub loss_penalty: TimeDelta,
    /// `DMARK`: what that many marks count as. 2 ms.
    pub mark_penalty: TimeDelta,
    /// `BETA_S`: how much a waiting frame speeds the pace up. 0.1.
    pub send_gain: f64,
    /// `BETA_V`: how much it lowers the target. 0.1.
    pub video_gain: f64,
    /// `ALPHA`: smoothing of the shares of losses and marks. 0.1.
    pub smoothing: f64,
    /// Samples of which the smallest delay counts, section 5.1.1: 15.
    pub filter_samples: usize,
    /// Window of the smallest one-way delay, section 5.1.1 ("tens of minutes"). *Open*:
    /// 10 min.
    pub base_delay_window: TimeDelta,
    /// Most of the congestion signal. *Open*: 500 ms, the origin's `NADA_PARAM_XMAX`.
    pub highest_signal: TimeDelta,
    /// The longest time that counts for one step. *Open*: 500 ms, as `TAU`.
    pub longest_step: TimeDelta,
    /// No gradual growth beyond this multiple of the receiving rate. *Open*: 2.
    pub application_headroom: f64,
    /// Silence after which the rate is halved, and again each time as long. *Open*:
    /// 500 ms, twice the interval that section 6.3 calls the longest.
    pub feedback_timeout: TimeDelta,
}

impl Default for Config {
    fn default() -> Self {
        let ms = TimeDelta::from_millis;
        Self {
            priority: 1.0,
            reference: ms(10),
            kappa: 0.5,
            eta: 2.0,
            tau: ms(500),
            interval: ms(100),
            log_window: ms(500),
            ramp_up_delay: ms(10),
            filter_delay: ms(120),
            highest_ramp_up: 0.5,
            ramp_up_bound: ms(50),
            loss_memory: 7.0,
            warp_delay: ms(50),
            warp_gain: 0.5,
            loss_reference: 0.01,
            mark_reference: 0.01,
            loss_penalty: ms(10),
            mark_penalty: ms(2),
            send_gain: 0.1,
            video_gain: 0.1,
            smoothing: 0.1,
            filter_samples: 15,
            base_delay_window: ms(600_000),
            highest_signal: ms(500),
            longest_step: ms(500),
            application_headroom: 2.0,
            feedback_timeout: ms(500),
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
        // Ranges rather than comparisons, so that NaN fails too.
        for (key, weight) in [
            ("priority", self.priority),
            ("kappa", self.kappa),
            ("eta", self.eta),
            ("loss_memory", self.loss_memory),
            ("warp_gain", self.warp_gain),
        ] {
            let is_weight = weight > 0.0 && weight <= 1e3;
            require(is_weight, key, "above zero and at most 1000")?;
        }
        for (key, share) in [
            ("loss_reference", self.loss_reference),
            ("mark_reference", self.mark_reference),
            ("smoothing", self.smoothing),
        ] {
            let is_share = (1e-6..=1.0).contains(&share);
            require(is_share, key, "from 0.000001 to 1")?;
        }
        for (key, gain) in [
            ("highest_ramp_up", self.highest_ramp_up),
            ("send_gain", self.send_gain),
            ("video_gain", self.video_gain),
        ] {
            require((0.0..=10.0).contains(&gain), key, "from 0 to 10")?;
        }
        for (key, time) in [
            ("reference", self.reference),
            ("tau", self.tau),
            ("interval", self.interval),
            ("log_window", self.log_window),
            ("ramp_up_delay", self.ramp_up_delay),
            ("ramp_up_bound", self.ramp_up_bound),
            ("warp_delay", self.warp_delay),
            ("base_delay_window", self.base_delay_window),
            ("highest_signal", self.highest_signal),
            ("longest_step", self.longest_step),
            ("feedback_timeout", self.feedback_timeout),
        ] {
            let least = TimeDelta::from_millis(1);
            require(time >= least, key, "1ms or longer")?;
        }
        let headroom = self.application_headroom;
        require(
            (1.0..=1e3).contains(&headroom),
            "application_headroom",
            "from 1 to 1000",
        )?;
        require(
            (1..=1_000).contains(&self.filter_samples),
            "filter_samples",
            "from 1 to 1000",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_valid_and_nonsense_is_named() {
        assert_eq!(Config::default().check(), Ok(()));
        let wrong = [
            (
                "kappa",
                Config {
                    kappa: f64::NAN,
                    ..Config::default()
                },
            ),
            (
                "tau",
                Config {
                    tau: TimeDelta::ZERO,
                    ..Config::default()
                },
            ),
            (
                "filter_samples",
                Config {
                    filter_samples: 0,
                    ..Config::default()
                },
            ),
        ];
        for (key, config) in wrong {
            assert_eq!(config.check().unwrap_err().key, key);
        }
    }
}
