//! NADA's parameters: those of Table 2 of RFC 8698 with its names, and ours.

use mimosa_units::TimeDelta;
use serde::Deserialize;

use crate::parameter::{ParameterError, require};

/// All parameters of NADA. Names in capitals are the RFC's. `RMIN` and `RMAX` are the flow's
/// limits, and `FPS` is the stream's frame rate.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// `PRIO`: weight of this flow among others. Table 2: 1.
    pub priority: f64,
    /// `XREF`: congestion signal at which the rate `RMAX` is in equilibrium. Table 2: 10 ms.
    pub reference: TimeDelta,
    /// `KAPPA`: gain of the gradual update. Table 2: 0.5.
    pub kappa: f64,
    /// `ETA`: weight of the congestion signal's change in the gradual update. Table 2: 2.
    pub eta: f64,
    /// `TAU`: longest round trip for which the gradual update is designed. Table 2: 500 ms.
    pub tau: TimeDelta,
    /// `DELTA`: time between two updates of the rate. Table 2: 100 ms.
    pub interval: TimeDelta,
    /// `LOGWIN`: length of the observation window. Table 2: 500 ms.
    pub log_window: TimeDelta,
    /// `QEPS`: queueing delay from which on there is no ramp-up. Table 2: 10 ms.
    pub ramp_up_delay: TimeDelta,
    /// `DFILT`: upper bound of the delay that the filter adds, in the ramp-up's formula. Table
    /// 2: 120 ms.
    pub filter_delay: TimeDelta,
    /// `GAMMA_MAX`: largest excess of the rate over the receiving rate in the ramp-up, as a share
    /// of the receiving rate. Table 2: 0.5.
    pub highest_ramp_up: f64,
    /// `QBOUND`: longest queueing delay that the ramp-up may cause. Table 2: 50 ms.
    pub ramp_up_bound: TimeDelta,
    /// `MULTILOSS`: number of mean loss intervals for which a loss is remembered. Table 2: 7.
    pub loss_memory: f64,
    /// `QTH`: queueing delay from which on the delay is warped, so that it counts for less, while a
    /// loss is remembered. Table 2: 50 ms.
    pub warp_delay: TimeDelta,
    /// `LAMBDA`: how steeply the warped delay falls with the queueing delay. Table 2: 0.5.
    pub warp_gain: f64,
    /// `PLRREF`: reference share of packets lost. Table 2: 0.01.
    pub loss_reference: f64,
    /// `PMRREF`: reference share of packets marked. Table 2: 0.01.
    pub mark_reference: f64,
    /// `DLOSS`: delay that the reference share of losses counts as. Table 2: 10 ms.
    pub loss_penalty: TimeDelta,
    /// `DMARK`: delay that the reference share of marks counts as. Table 2: 2 ms.
    pub mark_penalty: TimeDelta,
    /// `BETA_S`: gain with which the data that waits in the sender raises the pacing rate. Table
    /// 2: 0.1.
    pub send_gain: f64,
    /// `BETA_V`: gain with which the data that waits in the sender lowers the target. Table 2: 0.1.
    pub video_gain: f64,
    /// `ALPHA`: weight of the newest value in the smoothed shares of losses and marks. Table
    /// 2: 0.1.
    pub smoothing: f64,
    /// Number of the newest queueing delays of which the smallest counts, section 5.1.1: 15.
    pub filter_samples: usize,
    /// Length of the window of the smallest one-way delay, section 5.1.1 ("tens of minutes").
    /// *Open* in the RFC; our default is 10 min.
    pub base_delay_window: TimeDelta,
    /// Largest congestion signal. *Open* in the RFC; our default is 500 ms, `NADA_PARAM_XMAX` of
    /// `cisco/ns3-rmcat`.
    pub highest_signal: TimeDelta,
    /// Longest time that counts for one gradual update. *Open* in the RFC; our default is 500 ms,
    /// as `TAU`.
    pub longest_step: TimeDelta,
    /// Multiple of the receiving rate beyond which the gradual update does not raise the rate.
    /// *Open* in the RFC; our default is 2.
    pub application_headroom: f64,
    /// Time of silence after which the rate is halved; it is halved again each time as long. *Open*
    /// in the RFC; our default is 500 ms, twice the interval that section 6.3 calls the longest.
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
    /// Checks that every parameter has a valid value.
    ///
    /// # Errors
    ///
    /// [`ParameterError`] for the first parameter whose value is invalid.
    pub fn check(&self) -> Result<(), ParameterError> {
        // Every condition is false for NaN, so that NaN fails too.
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
