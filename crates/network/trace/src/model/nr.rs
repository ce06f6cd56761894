//! 5G: a wider channel, in and out of the line of sight, blocked by bodies.
//!
//! Source: published figures, since no class of recordings was at hand to fit
//! this model to. Alternation with exponential unblocked times is that of
//! Gapeyenko and others, "On the temporal effects of mobile blockers in urban
//! millimeter-wave cellular scenarios" (2017); lengths and depths of blockages
//! are those of `MacCartney`, Rappaport and Rangan, "Rapid fading due to human
//! blockage in pedestrian crowds at 5G millimeter-wave frequencies" (GLOBECOM
//! 2017): 260 to 299 ms and 11.5 to 15.8 dB. At 15 to 25 dB of signal over noise
//! such a loss leaves 0.2 to 0.5 of log2(1 + S/N). That handovers between 5G
//! cells take 108 ms is from Xu and others, "Understanding operational 5G"
//! (SIGCOMM 2020). Shadowing, fading and the scheduler are those of the 4G model.
//!
//! State, in steps of `step_secs`:
//!
//! ```text
//! rate    = mean * exp(shade * s + fade * f) * served * hidden * blocked * gap
//! s, f    : drifts of memory `shade_memory_secs` and `fade_memory_secs`
//! served  = 1 / (1 + others), as for 4G
//! hidden  = 1 in the line of sight; out of it between `hidden_low` and
//!           `hidden_high`
//! blocked = 1, or between `blocked_low` and `blocked_high` behind a body
//! gap     = 1, or 0 during a handover
//! ```

use super::parameter::parameters;
use super::process::{Drift, Falls, FallsConfig, Others};
use crate::random::Random;

parameters! {
    /// Parameters of the 5G model (see the file's head), chosen unless said otherwise.
    Nr {
        mean_mbps = 300.0, 0.01 to 100_000.0, "mean rate in Mbit/s without --mean";
        step_secs = 0.02, 0.001 to 1.0, "time between rows, s";
        shade = 0.22, 0.0 to 3.0, "deviation of the shadowing's logarithm (4G)";
        shade_memory_secs = 11.0, 0.0 to 1000.0, "memory of the shadowing, s (4G)";
        fade = 0.19, 0.0 to 3.0, "deviation of the fading's logarithm (4G)";
        fade_memory_secs = 0.05, 0.0 to 100.0, "memory of the fading, s (4G)";
        others_mean = 0.23, 0.0 to 100.0, "mean number of other users (4G)";
        others_secs = 1.6, 0.01 to 1000.0, "how long each of them stays, s (4G)";
        hidden_per_minute = 3.0, 0.0 to 600.0, "how often the line of sight is lost";
        hidden_secs = 5.0, 0.01 to 600.0, "mean time until it is back, s";
        hidden_low = 0.3, 0.0 to 1.0, "least share that is left meanwhile";
        hidden_high = 0.6, 0.0 to 1.0, "greatest share that is left meanwhile";
        blocked_per_minute = 6.0, 0.0 to 600.0, "how often a body blocks the beam";
        blocked_secs = 0.28, 0.01 to 600.0, "mean length of such a blockage, s (GLOBECOM 2017)";
        blocked_low = 0.2, 0.0 to 1.0, "least share that it leaves (GLOBECOM 2017)";
        blocked_high = 0.5, 0.0 to 1.0, "greatest share that it leaves (GLOBECOM 2017)";
        handovers_per_minute = 1.0, 0.0 to 600.0, "how often the cell changes";
        handover_secs = 0.11, 0.01 to 600.0, "mean time without any cell, s (SIGCOMM 2020)";
    }
}

impl Nr {
    /// The rate of each step over an arbitrary mean.
    pub(super) fn rates(&self, seed: u64) -> impl FnMut() -> f64 {
        let config = self.clone();
        let step = self.step_secs;
        let falls = |stream, per_minute, mean_secs, low, high| {
            let shares = (low, high);
            let config = FallsConfig {
                per_minute,
                mean_secs,
                shares,
            };
            Falls::new(Random::new(seed, stream), step, config)
        };
        let mut shade = Drift::new(Random::new(seed, 21), step, self.shade_memory_secs);
        let mut fade = Drift::new(Random::new(seed, 22), step, self.fade_memory_secs);
        let mut others = Others::new(
            Random::new(seed, 23),
            step,
            self.others_mean,
            self.others_secs,
        );
        let mut hidden = falls(
            24,
            self.hidden_per_minute,
            self.hidden_secs,
            self.hidden_low,
            self.hidden_high,
        );
        let mut blocked = falls(
            25,
            self.blocked_per_minute,
            self.blocked_secs,
            self.blocked_low,
            self.blocked_high,
        );
        let mut handovers = falls(26, self.handovers_per_minute, self.handover_secs, 0.0, 0.0);
        move || {
            let power = config.shade * shade.advance() + config.fade * fade.advance();
            let served = 1.0 / (1.0 + f64::from(others.advance()));
            libm::exp(power) * served * hidden.advance() * blocked.advance() * handovers.advance()
        }
    }
}
