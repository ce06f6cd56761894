//! Controllers by name.

use crate::window::Algorithm;
use mimosa_facts::{Controller, Limits};
use serde::de::DeserializeOwned;

use crate::bbr_app::{self, BbrApp};
use crate::c3g::{self, C3g};
use crate::copa::{self, Copa};
use crate::fixed::{self, Fixed};
use crate::gcc::{self, Gcc};
use crate::mimosa::{self, Mimosa};
use crate::nada::{self, Nada};
use crate::oracle::{self, Oracle};
use crate::parameter::ParameterError;
use crate::pudica::{self, Pudica};
use crate::salsify::{self, Salsify};
use crate::scream::{self, Scream};
use crate::sqp::{self, Sqp};
use crate::windowed::{self, Windowed};

/// The names that [`build`] knows.
pub const NAMES: &[&str] = &[
    "bbr-app", "bbr2", "bbr3", "c3g", "copa", "fixed", "gcc", "mimosa", "nada", "oracle", "prague",
    "pudica", "salsify", "scream", "sqp",
];

/// Why a controller could not be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// No controller has this name.
    #[error("there is no controller `{name}`; there is {}", NAMES.join(", "))]
    UnknownName {
        /// The name asked for.
        name: String,
    },
    /// The parameters could not be read: one is unknown or of the wrong type.
    #[error("{0}")]
    Params(String),
    /// A parameter has a value with which the algorithm means nothing.
    #[error(transparent)]
    Pudica(#[from] pudica::ConfigError),
    /// The same, of the other algorithms.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
}

/// Makes the controller called `name` with `params` over its defaults.
///
/// # Errors
///
/// [`BuildError`] when there is no such controller or no such parameter, or
/// when a parameter's value makes no sense.
pub fn build<'de, D>(
    name: &str,
    params: D,
    limits: Limits,
) -> Result<Box<dyn Controller>, BuildError>
where
    D: serde::Deserializer<'de>,
    D::Error: std::fmt::Display,
{
    match name {
        "bbr-app" => {
            let config: bbr_app::Config = read(params)?;
            config.check()?;
            Ok(Box::new(BbrApp::new(config, limits)))
        }
        "bbr2" => of_window(Algorithm::Bbr2, params, limits),
        "bbr3" => of_window(Algorithm::Bbr3, params, limits),
        "c3g" => {
            let config: c3g::Config = read(params)?;
            config.check()?;
            Ok(Box::new(C3g::new(config, limits)))
        }
        "copa" => {
            let config: copa::Config = read(params)?;
            config.check()?;
            Ok(Box::new(Copa::new(config, limits)))
        }
        "fixed" => {
            let config: fixed::Config = read(params)?;
            config.check()?;
            Ok(Box::new(Fixed::new(config, limits)))
        }
        "gcc" => {
            let config: gcc::Config = read(params)?;
            config.check()?;
            Ok(Box::new(Gcc::new(config, limits)))
        }
        "mimosa" => {
            let config: mimosa::Config = read(params)?;
            config.check()?;
            Ok(Box::new(Mimosa::new(config, limits)))
        }
        "nada" => {
            let config: nada::Config = read(params)?;
            config.check()?;
            Ok(Box::new(Nada::new(config, limits)))
        }
        oracle::NAME => {
            let config: oracle::Config = read(params)?;
            config.check()?;
            Ok(Box::new(Oracle::new(config, limits)))
        }
        "prague" => of_window(Algorithm::Prague, params, limits),
        "pudica" => {
            let config: pudica::Config = read(params)?;
            config.check()?;
            Ok(Box::new(Pudica::new(config, limits)))
        }
        "salsify" => {
            let config: salsify::Config = read(params)?;
            config.check()?;
            Ok(Box::new(Salsify::new(config, limits)))
        }
        "scream" => {
            let config: scream::Config = read(params)?;
            config.check()?;
            Ok(Box::new(Scream::new(config, limits)))
        }
        "sqp" => {
            let config: sqp::Config = read(params)?;
            config.check()?;
            Ok(Box::new(Sqp::new(config, limits)))
        }
        _ => Err(BuildError::UnknownName {
            name: name.to_owned(),
        }),
    }
}

/// A congestion control of TCP, driven by packets of video.
fn of_window<'de, D>(
    algorithm: Algorithm,
    params: D,
    limits: Limits,
) -> Result<Box<dyn Controller>, BuildError>
where
    D: serde::Deserializer<'de>,
    D::Error: std::fmt::Display,
{
    let config: windowed::Config = read(params)?;
    config.check()?;
    Ok(Box::new(Windowed::new(algorithm, config, limits)))
}

fn read<'de, T, D>(params: D) -> Result<T, BuildError>
where
    T: DeserializeOwned,
    D: serde::Deserializer<'de>,
    D::Error: std::fmt::Display,
{
    T::deserialize(params).map_err(|error| BuildError::Params(one_line(&error.to_string())))
}

/// A parser's message, which may be of several lines, as part of a sentence.
fn one_line(message: &str) -> String {
    let words: Vec<_> = message.split_whitespace().collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use mimosa_units::Rate;

    use super::*;

    fn limits() -> Limits {
        let mbps = |mbps: u64| Rate::from_kbps(mbps * 1_000);
        Limits::new(mbps(1), mbps(5), mbps(50))
    }

    fn from_pairs(pairs: &[(&str, f64)]) -> Result<Box<dyn Controller>, BuildError> {
        let map = serde::de::value::MapDeserializer::<_, serde::de::value::Error>::new(
            pairs.iter().copied(),
        );
        build("pudica", map, limits())
    }

    #[test]
    fn every_name_builds() {
        for name in NAMES {
            let none = std::iter::empty::<(&str, f64)>();
            let none = serde::de::value::MapDeserializer::<_, serde::de::value::Error>::new(none);
            assert!(build(name, none, limits()).is_ok(), "{name}");
        }
    }

    #[test]
    fn an_unknown_parameter_is_refused_with_the_list_of_those_that_exist() {
        let error = from_pairs(&[("alhpa", 0.9)]).unwrap_err().to_string();
        assert!(
            error.contains("alhpa") && error.contains("`alpha`"),
            "{error}"
        );
    }

    #[test]
    fn a_value_without_meaning_is_refused() {
        let error = from_pairs(&[("alpha", 1.5)]).unwrap_err();
        assert!(matches!(error, BuildError::Pudica(_)), "{error}");
    }
}
