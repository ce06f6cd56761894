//! 4G: a cell's scheduler serves one of several users over a fading channel.
//!
//! Source: RFC 8869 (section 2.1: LTE with users that come and go under a
//! proportional-fair scheduler) for the states; the classes are Zhuge's 4G
//! recordings (`4g`; SIGCOMM 2022) and Mahimahi's from moving cars
//! (`4g-driving`; Winstein and others, NSDI 2013, and Netravali and others,
//! USENIX ATC 2015).
//!
//! State, in steps of `step_secs`:
//!
//! ```text
//! rate   = mean * exp(shade * s + fade * f) * served * fall * gap
//! s, f   : drifts of memory `shade_memory_secs` and `fade_memory_secs`:
//!          shadowing, and what is left of fast fading after the scheduler
//! served = 1 / (1 + others): a proportional-fair scheduler gives each of the
//!          users the same time; `others_mean` more of them on the mean, each for
//!          `others_secs`
//! fall   = 1, or between `fall_low` and `fall_high` after a sudden fade
//! gap    = 1, or 0 during a handover or out of coverage
//! ```

use super::parameter::parameters;
use super::process::{Drift, Falls, FallsConfig, Others};
use crate::random::Random;

parameters! {
    /// Parameters of the 4G model (see the file's head), fitted to its class of recordings unless
    /// said otherwise.
    Lte {
        mean_mbps = 18.0, 0.01 to 100_000.0, "mean rate in Mbit/s without --mean";
        step_secs = 0.02, 0.001 to 1.0, "time between rows, s (chosen)";
        shade = 0.22, 0.0 to 3.0, "deviation of the shadowing's logarithm";
        shade_memory_secs = 11.0, 0.0 to 1000.0, "memory of the shadowing, s";
        fade = 0.19, 0.0 to 3.0, "deviation of the fading's logarithm";
        fade_memory_secs = 0.05, 0.0 to 100.0, "memory of the fading, s";
        others_mean = 0.23, 0.0 to 100.0, "mean number of other users";
        others_secs = 1.6, 0.01 to 1000.0, "how long each of them stays, s";
        falls_per_minute = 35.0, 0.0 to 600.0, "how often a sudden fade comes";
        fall_secs = 0.17, 0.01 to 600.0, "mean length of such a fade, s";
        fall_low = 0.17, 0.0 to 1.0, "least share that it leaves";
        fall_high = 0.38, 0.0 to 1.0, "greatest share that it leaves";
        gaps_per_minute = 0.15, 0.0 to 600.0, "how often nothing passes";
        gap_secs = 0.05, 0.01 to 600.0, "mean length of such a gap, s";
    }
}

impl Lte {
    /// Parameters fitted to recordings in moving cars: stronger fading, and gaps several times a
    /// minute.
    pub(super) fn driving() -> Self {
        Self {
            mean_mbps: 5.5,
            shade: 0.5,
            shade_memory_secs: 9.0,
            fade: 0.4,
            fade_memory_secs: 0.03,
            others_mean: 0.13,
            others_secs: 0.5,
            falls_per_minute: 21.0,
            fall_secs: 0.23,
            fall_low: 0.01,
            fall_high: 0.21,
            gaps_per_minute: 4.6,
            gap_secs: 0.38,
            ..Self::default()
        }
    }

    /// The rate of each step over an arbitrary mean.
    pub(super) fn rates(&self, seed: u64) -> impl FnMut() -> f64 {
        let config = self.clone();
        let step = self.step_secs;
        let mut shade = Drift::new(Random::new(seed, 11), step, self.shade_memory_secs);
        let mut fade = Drift::new(Random::new(seed, 12), step, self.fade_memory_secs);
        let mut others = Others::new(
            Random::new(seed, 13),
            step,
            self.others_mean,
            self.others_secs,
        );
        let mut falls = Falls::new(
            Random::new(seed, 14),
            step,
            FallsConfig {
                per_minute: self.falls_per_minute,
                mean_secs: self.fall_secs,
                shares: (self.fall_low, self.fall_high),
            },
        );
        let mut gaps = Falls::new(
            Random::new(seed, 15),
            step,
            FallsConfig {
                per_minute: self.gaps_per_minute,
                mean_secs: self.gap_secs,
                shares: (0.0, 0.0),
            },
        );
        move || {
            let power = config.shade * shade.advance() + config.fade * fade.advance();
            let served = 1.0 / (1.0 + f64::from(others.advance()));
            libm::exp(power) * served * falls.advance() * gaps.advance()
        }
    }
}
