//! SCReAM's packet pacing (draft-ietf-ccwg-rfc8298bis-screamv2, section 4.3.2), for any
//! controller.

use mimosa_facts::Pacing;
use mimosa_units::{Bytes, Rate};
use serde::Deserialize;

use crate::pace::error::{ParameterError, require};

/// All parameters. `Default` gives the draft's values.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The lowest pacing rate. `RATE_PACE_MIN`: 50 kbit/s.
    pub lowest: Rate,
    /// The pacing rate as a multiple of the target. `PACKET_PACING_HEADROOM`: 1.5.
    pub headroom: f64,
    /// The further multiple at the highest target. `MAX_RELAXED_PACING_FACTOR`: 4.
    pub relaxed: f64,
    /// The share of the highest target from which the pacing is relaxed.
    /// `RELAXED_PACING_LIMIT_LOW`: 0.8.
    pub relaxed_from: f64,
    /// The highest target, towards which the pacing is relaxed; `None` for pacing that is never
    /// relaxed.
    pub max_bitrate: Option<Rate>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            lowest: Rate::from_kbps(50),
            headroom: 1.5,
            relaxed: 4.0,
            relaxed_from: 0.8,
            max_bitrate: None,
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
        let is_multiple = |factor: f64| (1.0..=1e3).contains(&factor);
        require(self.lowest > Rate::ZERO, "lowest", "above zero")?;
        require(is_multiple(self.headroom), "headroom", "from 1 to 1000")?;
        require(is_multiple(self.relaxed), "relaxed", "from 1 to 1000")?;
        require(
            (0.0..1.0).contains(&self.relaxed_from),
            "relaxed_from",
            "from 0 to below 1",
        )?;
        let max = self.max_bitrate.unwrap_or(Rate::MAX);
        require(max > Rate::ZERO, "max_bitrate", "above zero")
    }

    /// The draft's `pace_bitrate`: faster than the target, and more so near the highest one.
    pub(crate) fn pacing(&self, target: Rate) -> Pacing {
        let nominal = self.max_bitrate.map_or(0.0, |max| target.ratio(max));
        let relaxed = (nominal - self.relaxed_from) / (1.0 - self.relaxed_from);
        let slack = (1.0 - relaxed).clamp(1.0 / self.relaxed, 1.0);
        let rate = target.max(self.lowest).scale(self.headroom);
        Pacing::Bucket {
            rate: rate.scale(1.0 / slack),
            burst: Bytes::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pace_has_a_floor_and_is_relaxed_near_the_highest_target() {
        let config = Config {
            max_bitrate: Some(Rate::from_kbps(10_000)),
            ..Config::default()
        };
        let kbps = |config: Config, target| match config.pacing(Rate::from_kbps(target)) {
            Pacing::Bucket { rate, burst } => {
                assert_eq!(burst, Bytes::ZERO);
                rate.as_bps() / 1_000
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(kbps(config, 10), 75, "the floor of 50 kbit/s");
        assert_eq!(kbps(config, 8_000), 12_000);
        // Half of the way from 0.8 to 1: 1 - 0.5; at the end 1/4.
        assert_eq!(kbps(config, 9_000), 27_000);
        assert_eq!(kbps(config, 10_000), 60_000);
        assert_eq!(kbps(Config::default(), 10_000), 15_000);
    }
}
