//! Ethernet: what an access line leaves to one stream.
//!
//! Source: the class of recorded Ethernet sessions of Hairpin (NSDI 2024), and
//! the share of such users with urgent falls in Pudica (NSDI 2024, Fig. 4).
//!
//! State, in steps of `step_secs`:
//!
//! ```text
//! rate = mean * max(least_share, 1 + noise * n) * fall
//! n    : a drift of memory `noise_memory_secs`
//! fall : 1, or a share between `fall_low` and `fall_high` while other traffic
//!        takes the line, `falls_per_minute` times for `fall_secs` each
//! ```
//!
//! The noise is nearly white: two of the six recordings have hardly a fall, and
//! an autocorrelation of 0.05 and 0.18 at 100 ms. In the others it is 0.3 to 0.65,
//! and hardly lower after a second than after 100 ms: their falls last seconds.
//! The rates look like what sessions sent, a noisy view of the line.

use super::parameter::parameters;
use super::process::{Drift, Falls, FallsConfig};
use crate::random::Random;

parameters! {
    /// Parameters of the Ethernet model (see the file's head), fitted to its class of recordings
    /// unless said otherwise.
    Ethernet {
        mean_mbps = 12.0, 0.01 to 100_000.0, "mean rate in Mbit/s without --mean";
        step_secs = 0.05, 0.001 to 1.0, "time between rows, s (chosen)";
        noise = 0.27, 0.0 to 1.0, "deviation of the noise over the mean";
        noise_memory_secs = 0.02, 0.0 to 100.0, "memory of the noise, s";
        least_share = 0.1, 0.001 to 1.0, "the noise leaves at least this share (chosen)";
        falls_per_minute = 3.6, 0.0 to 600.0, "how often other traffic takes the line";
        fall_secs = 2.4, 0.01 to 600.0, "mean length of such a fall, s";
        fall_low = 0.2, 0.0 to 1.0, "least share that a fall leaves";
        fall_high = 0.75, 0.0 to 1.0, "greatest share that a fall leaves";
    }
}

impl Ethernet {
    /// The rate of each step over an arbitrary mean.
    pub(super) fn rates(&self, seed: u64) -> impl FnMut() -> f64 {
        let step = self.step_secs;
        let mut noise = Drift::new(Random::new(seed, 31), step, self.noise_memory_secs);
        let mut falls = Falls::new(
            Random::new(seed, 32),
            step,
            FallsConfig {
                per_minute: self.falls_per_minute,
                mean_secs: self.fall_secs,
                shares: (self.fall_low, self.fall_high),
            },
        );
        let (deviation, least) = (self.noise, self.least_share);
        move || (1.0 + deviation * noise.advance()).max(least) * falls.advance()
    }
}
