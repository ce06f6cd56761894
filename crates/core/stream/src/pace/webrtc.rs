//! libwebrtc's leaky bucket (`PacingController`).

use mimosa_facts::Pacing;
use mimosa_units::{Bytes, Rate, TimeDelta};
use serde::Deserialize;

use crate::pace::error::{ParameterError, require};

/// All parameters. `Default` gives libwebrtc's values.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Packets leave at this multiple of the target. `kDefaultPaceMultiplier`: 2.5; video with
    /// feedback for each transport packet uses `kStrictPacingMultiplier`: 1.1.
    pub factor: f64,
    /// The data that passes in this time may leave at once. `kDefaultMinPacketLimit`: 5 ms between
    /// bursts.
    pub step: TimeDelta,
    /// The rate is raised so that no queue lasts longer. `kMaxExpectedQueueLength`: 2 s.
    pub longest_queue: TimeDelta,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            factor: 2.5,
            step: TimeDelta::from_millis(5),
            longest_queue: TimeDelta::from_millis(2_000),
        }
    }
}

impl Config {
    /// Refuses parameters outside their valid ranges.
    ///
    /// # Errors
    ///
    /// [`ParameterError`].
    pub fn check(&self) -> Result<(), ParameterError> {
        require(
            (0.01..=1e3).contains(&self.factor),
            "factor",
            "from 0.01 to 1000",
        )?;
        require(
            (TimeDelta::ZERO..=TimeDelta::from_millis(1_000)).contains(&self.step),
            "step",
            "at most 1s",
        )?;
        require(
            self.longest_queue > TimeDelta::ZERO,
            "longest_queue",
            "above zero",
        )
    }

    /// The pacing for a `target` when `waiting` is queued already.
    pub(crate) fn pacing(&self, target: Rate, waiting: Bytes) -> Pacing {
        let in_time = Rate::of(waiting, self.longest_queue);
        let rate = target.scale(self.factor).max(in_time);
        Pacing::Bucket {
            rate,
            burst: rate.amount_in(self.step),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_queue_raises_the_rate() {
        let target = Rate::from_kbps(1_000);
        let bucket = |kbps, burst| Pacing::Bucket {
            rate: Rate::from_kbps(kbps),
            burst: Bytes::new(burst),
        };
        let config = Config::default();
        assert_eq!(config.pacing(target, Bytes::ZERO), bucket(2_500, 1_563));
        let long = Bytes::new(1_000_000);
        assert_eq!(config.pacing(target, long), bucket(4_000, 2_500), "in 2 s");
        let strict = Config {
            factor: 1.1,
            ..config
        };
        assert_eq!(strict.pacing(target, Bytes::ZERO), bucket(1_100, 688));
    }
}
