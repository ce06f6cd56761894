//! Wi-Fi: a station's share of the air, at the rate which its signal allows.
//!
//! Source: the states that RFC 8869 (section 3.2) and Zhuge (SIGCOMM 2022)
//! name, contention for the air, slow shadowing and sudden falls of the
//! modulation; the classes are Zhuge's recordings in a restaurant (`wifi`) and
//! in an office (`wifi-office`).
//!
//! State, in steps of `step_secs`:
//!
//! ```text
//! rate   = mean * signal * air * fall * gap * exp(noise * n)
//! signal = min(1, exp(shade_margin + shade * s)): a drift s of memory
//!          `shade_memory_secs`; beyond the margin the best modulation is in use
//! air    = 1 / (1 + other_share * others): `others` stations that contend come
//!          and go, `others_mean` of them on the mean, each for `others_secs`
//! fall   = 1, or between `fall_low` and `fall_high` after a sudden fade
//! gap    = 1, or between 0 and `gap_high` while hardly anything passes
//! n      : a drift of memory `noise_memory_secs`: aggregation and backoff
//! ```

use super::parameter::parameters;
use super::process::{Drift, Falls, FallsConfig, Others};
use crate::random::Random;

parameters! {
    /// Parameters of the Wi-Fi model (see the file's head), fitted to its class of recordings
    /// unless said otherwise.
    Wifi {
        mean_mbps = 23.0, 0.01 to 100_000.0, "mean rate in Mbit/s without --mean";
        step_secs = 0.02, 0.001 to 1.0, "time between rows, s (chosen)";
        shade = 0.3, 0.0 to 3.0, "deviation of the shadowing's logarithm";
        shade_memory_secs = 12.0, 0.0 to 1000.0, "memory of the shadowing, s";
        shade_margin = -0.35, -5.0 to 5.0, "logarithm of the signal beyond the best modulation's need";
        others_mean = 0.4, 0.0 to 100.0, "mean number of stations that contend";
        others_secs = 7.0, 0.01 to 1000.0, "how long each of them stays, s";
        other_share = 0.3, 0.0 to 10.0, "air that each takes over what the stream takes";
        falls_per_minute = 21.0, 0.0 to 600.0, "how often a sudden fade comes";
        fall_secs = 0.2, 0.01 to 600.0, "mean length of such a fade, s";
        fall_low = 0.02, 0.0 to 1.0, "least share that it leaves";
        fall_high = 0.4, 0.0 to 1.0, "greatest share that it leaves";
        gaps_per_minute = 1.3, 0.0 to 600.0, "how often hardly anything passes";
        gap_secs = 1.5, 0.01 to 600.0, "mean length of such a gap, s";
        gap_high = 0.05, 0.0 to 1.0, "greatest share that passes then";
        noise = 0.1, 0.0 to 2.0, "deviation of the noise's logarithm";
        noise_memory_secs = 0.25, 0.0 to 100.0, "memory of the noise, s";
    }
}

impl Wifi {
    /// Parameters fitted to recordings in an office: a better signal, rarer and longer fades, and
    /// few others.
    pub(super) fn office() -> Self {
        Self {
            mean_mbps: 28.0,
            shade: 0.1,
            shade_memory_secs: 11.0,
            shade_margin: 0.0,
            others_mean: 0.1,
            others_secs: 3.0,
            other_share: 1.2,
            falls_per_minute: 6.6,
            fall_secs: 0.5,
            fall_low: 0.15,
            fall_high: 0.35,
            gaps_per_minute: 0.3,
            gap_secs: 0.7,
            noise: 0.06,
            noise_memory_secs: 0.03,
            ..Self::default()
        }
    }

    /// The rate of each step over an arbitrary mean.
    pub(super) fn rates(&self, seed: u64) -> impl FnMut() -> f64 {
        let config = self.clone();
        let step = self.step_secs;
        let mut shade = Drift::new(Random::new(seed, 1), step, self.shade_memory_secs);
        let mut others = Others::new(
            Random::new(seed, 2),
            step,
            self.others_mean,
            self.others_secs,
        );
        let mut falls = Falls::new(
            Random::new(seed, 3),
            step,
            FallsConfig {
                per_minute: self.falls_per_minute,
                mean_secs: self.fall_secs,
                shares: (self.fall_low, self.fall_high),
            },
        );
        let mut gaps = Falls::new(
            Random::new(seed, 4),
            step,
            FallsConfig {
                per_minute: self.gaps_per_minute,
                mean_secs: self.gap_secs,
                shares: (0.0, self.gap_high),
            },
        );
        let mut noise = Drift::new(Random::new(seed, 5), step, self.noise_memory_secs);
        move || {
            let signal = (config.shade_margin + config.shade * shade.advance()).min(0.0);
            let air = 1.0 / (1.0 + config.other_share * f64::from(others.advance()));
            let power = signal + config.noise * noise.advance();
            libm::exp(power) * air * falls.advance() * gaps.advance()
        }
    }
}
