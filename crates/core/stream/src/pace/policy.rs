//! Pacing policies: the controller's own pacing, or one that replaces it.

use mimosa_units::Rate;
use serde::de::DeserializeOwned;

use crate::pace::error::PolicyError;
use crate::pace::{ace_n, salsify, scream, token_bucket, webrtc};

/// The names that [`Policy::from_name`] knows, besides multiples of the bitrate and rates.
pub const NAMES: &[&str] = &[
    "controller",
    "burst",
    "webrtc",
    "token-bucket",
    "salsify",
    "scream",
    "ace-n",
];

/// The rule that picks the pacing, and its parameters. [`Self::start`] makes a running
/// [`Rule`](crate::pace::Rule) of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Policy {
    /// The controller's pacing, such as Pudica's adaptive multiplier.
    #[default]
    Controller,
    /// Packets are spaced at this multiple of the target bitrate.
    Multiple(f64),
    /// Packets are spaced at this rate, whatever the bitrate is, as Sunshine does at 80 % of 1 Gbit/s.
    Rate(Rate),
    /// libwebrtc's leaky bucket.
    WebRtc(webrtc::Config),
    /// A token bucket of fixed depth.
    TokenBucket(token_bucket::Config),
    /// Packets leave five times as fast as they arrive (Salsify).
    Salsify(salsify::Config),
    /// Packets leave faster than the target bitrate, and more so near the highest (SCReAM).
    Scream(scream::Config),
    /// A bucket whose depth adapts to the network's queue (ACE-N).
    AceN(ace_n::Config),
    /// All packets of a frame leave at once.
    Burst,
}

impl Policy {
    /// The policy called `name`, with its default parameters.
    ///
    /// # Errors
    ///
    /// [`PolicyError::UnknownName`] when no policy has this name.
    pub fn from_name(name: &str) -> Result<Self, PolicyError> {
        let multiple = name.strip_suffix('x').and_then(|n| n.parse::<f64>().ok());
        let rate = name.parse::<Rate>().ok();
        if let Some(rate) = rate.filter(|rate| *rate > Rate::ZERO) {
            return Ok(Self::Rate(rate));
        }
        match (name, multiple) {
            ("controller", _) => Ok(Self::Controller),
            ("burst", _) => Ok(Self::Burst),
            ("webrtc", _) => Ok(Self::WebRtc(webrtc::Config::default())),
            ("token-bucket", _) => Ok(Self::TokenBucket(token_bucket::Config::default())),
            ("salsify", _) => Ok(Self::Salsify(salsify::Config::default())),
            ("scream", _) => Ok(Self::Scream(scream::Config::default())),
            ("ace-n", _) => Ok(Self::AceN(ace_n::Config::default())),
            (_, Some(factor)) if factor.is_finite() && factor > 0.0 => Ok(Self::Multiple(factor)),
            _ => Err(PolicyError::UnknownName {
                name: name.to_owned(),
            }),
        }
    }

    /// The policy called `name`, with `params` in place of its defaults.
    ///
    /// # Errors
    ///
    /// [`PolicyError`] when there is no such policy or no such parameter, or when a
    /// parameter's value makes no sense.
    pub fn build<'de, D>(name: &str, params: D) -> Result<Self, PolicyError>
    where
        D: serde::Deserializer<'de>,
        D::Error: std::fmt::Display,
    {
        match Self::from_name(name)? {
            Self::Controller | Self::Burst | Self::Multiple(_) | Self::Rate(_) => {
                Err(PolicyError::NoParams {
                    name: name.to_owned(),
                })
            }
            Self::WebRtc(_) => {
                let config: webrtc::Config = read(params)?;
                config.check()?;
                Ok(Self::WebRtc(config))
            }
            Self::TokenBucket(_) => {
                let config: token_bucket::Config = read(params)?;
                config.check()?;
                Ok(Self::TokenBucket(config))
            }
            Self::Salsify(_) => {
                let config: salsify::Config = read(params)?;
                config.check()?;
                Ok(Self::Salsify(config))
            }
            Self::Scream(_) => {
                let config: scream::Config = read(params)?;
                config.check()?;
                Ok(Self::Scream(config))
            }
            Self::AceN(_) => {
                let config: ace_n::Config = read(params)?;
                config.check()?;
                Ok(Self::AceN(config))
            }
        }
    }
}

fn read<'de, T, D>(params: D) -> Result<T, PolicyError>
where
    T: DeserializeOwned,
    D: serde::Deserializer<'de>,
    D::Error: std::fmt::Display,
{
    T::deserialize(params).map_err(|error| {
        // A parser's message may have several lines.
        let text = error.to_string();
        let words: Vec<_> = text.split_whitespace().collect();
        PolicyError::Params(words.join(" "))
    })
}

#[cfg(test)]
mod tests {
    use serde::de::value::{Error, MapDeserializer};

    use super::*;

    fn build(name: &str, pairs: &[(&str, f64)]) -> Result<Policy, PolicyError> {
        Policy::build(
            name,
            MapDeserializer::<_, Error>::new(pairs.iter().copied()),
        )
    }

    #[test]
    fn every_name_is_known_and_every_default_makes_sense() {
        for name in NAMES {
            let policy = Policy::from_name(name).unwrap();
            match build(name, &[]) {
                Ok(built) => assert_eq!(built, policy, "{name}"),
                Err(error) => assert!(matches!(error, PolicyError::NoParams { .. }), "{name}"),
            }
        }
        assert_eq!(Policy::from_name("1.25x"), Ok(Policy::Multiple(1.25)));
        let sunshine = Policy::Rate(Rate::from_kbps(800_000));
        assert_eq!(Policy::from_name("800Mbit/s"), Ok(sunshine));
        for name in [
            "", "0x", "-1x", "infx", "NaNx", "2", "ace", "0bit/s", "-1Mbit/s", "8Mbit",
        ] {
            let error = Policy::from_name(name).unwrap_err().to_string();
            assert!(error.contains("ace-n, multiples of the bitrate"), "{error}");
        }
    }

    #[test]
    fn an_unknown_parameter_is_refused_with_the_list_of_those_that_exist() {
        let error = build("ace-n", &[("alhpa", 0.5)]).unwrap_err().to_string();
        assert!(
            error.contains("alhpa") && error.contains("`alpha`"),
            "{error}"
        );
        let error = build("burst", &[]).unwrap_err().to_string();
        assert_eq!(
            error,
            "the pacer `burst` has no parameters; remove `pacer_params`"
        );
    }

    #[test]
    fn a_value_without_meaning_is_refused() {
        for (name, key, value) in [
            ("ace-n", "alpha", 1.5),
            ("ace-n", "alpha", f64::NAN),
            ("ace-n", "threshold", -1.0),
            ("ace-n", "capacity_gain", 0.0),
            ("webrtc", "factor", 0.0),
            ("token-bucket", "factor", f64::INFINITY),
            ("salsify", "speed", -5.0),
            ("scream", "relaxed_from", 1.0),
        ] {
            let error = build(name, &[(key, value)]).unwrap_err();
            match error {
                PolicyError::Parameter(error) => assert_eq!(error.key, key, "{name}"),
                other => panic!("{name}, {key}: {other}"),
            }
        }
    }
}
