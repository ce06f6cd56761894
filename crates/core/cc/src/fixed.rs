//! The fixed controller, whose rate never changes: streaming without congestion control,
//! the worst that a comparison can have.
//!
//! *Deviations.* None: there is no source. Packets leave at a multiple of the rate, so
//! that a frame has left before the next one comes.

use mimosa_facts::{Cause, Controller, Decision, Event, Limits, Pacing};
use mimosa_units::{Bytes, Rate, Time};
use serde::Deserialize;

use crate::named::Named;
use crate::needs::{Arrivals, Needs, Reports};
use crate::parameter::{ParameterError, require};

/// Parameters of the fixed controller.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Target bitrate; `None` for the starting rate of the [`Limits`]. *Open*: there is
    /// no source, and our default is `None`.
    pub rate: Option<Rate>,
    /// Ratio of the rate at which packets leave to the target bitrate; zero sends each
    /// frame in one burst. *Open*: there is no source, and our default is 2.5,
    /// libwebrtc's pacing factor.
    pub pace: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            rate: None,
            pace: 2.5,
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
        let is_above = self.rate.is_none_or(|rate| rate > Rate::ZERO);
        require(is_above, "rate", "above zero")?;
        let is_pace = self.pace == 0.0 || (1.0..=1e3).contains(&self.pace);
        require(is_pace, "pace", "zero, or from 1 to 1000")
    }
}

/// A controller with a constant rate.
#[derive(Clone, Copy, Debug)]
pub struct Fixed {
    decision: Decision,
}

impl Fixed {
    /// A controller whose target is always `config.rate`, or `limits.start()` without it,
    /// clamped to the limits.
    #[must_use]
    pub fn new(config: Config, limits: Limits) -> Self {
        let target = limits.clamp(config.rate.unwrap_or(limits.start()));
        let pacing = if config.pace == 0.0 {
            Pacing::Burst
        } else {
            Pacing::Bucket {
                rate: target.scale(config.pace),
                burst: Bytes::ZERO,
            }
        };
        let decision = Decision {
            pacing,
            cause: Cause::Fixed,
            ..Decision::starting_at(target)
        };
        Self { decision }
    }
}

impl Named for Fixed {
    const NAME: &'static str = "fixed";
    const NEEDS: Needs = Needs::by_arrivals(
        Reports::Never,
        Arrivals::Nothing,
        "it never changes its rate",
    );
    type Config = Config;

    fn start(config: Config, limits: Limits) -> Result<Box<dyn Controller>, ParameterError> {
        config.check()?;
        Ok(Box::new(Self::new(config, limits)))
    }
}

impl Controller for Fixed {
    fn handle(&mut self, _now: Time, _event: Event<'_>) -> &Decision {
        &self.decision
    }

    fn decision(&self) -> &Decision {
        &self.decision
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_changes_it() {
        let mbps = |mbps: u64| Rate::from_kbps(mbps * 1_000);
        let limits = Limits::new(mbps(1), mbps(5), mbps(50));
        let config = Config {
            rate: Some(mbps(80)),
            pace: 2.0,
        };
        config.check().unwrap();
        let mut fixed = Fixed::new(config, limits);
        let before = *fixed.decision();
        let after = *fixed.handle(Time::from_secs(100), Event::Timer);
        assert_eq!(
            (before, after.target, after.cause),
            (after, mbps(50), Cause::Fixed)
        );
        assert_eq!(
            after.pacing,
            Pacing::Bucket {
                rate: mbps(100),
                burst: Bytes::ZERO
            }
        );
        let from_limits = Fixed::new(Config::default(), limits);
        assert_eq!(from_limits.decision().target, mbps(5));
    }

    #[test]
    fn what_means_nothing_is_refused() {
        for config in [
            Config {
                rate: Some(Rate::ZERO),
                ..Config::default()
            },
            Config {
                pace: 0.5,
                ..Config::default()
            },
            Config {
                pace: f64::NAN,
                ..Config::default()
            },
        ] {
            assert!(config.check().is_err(), "{config:?}");
        }
    }
}
