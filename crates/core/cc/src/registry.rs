//! The table of controllers, and the items that are generated from it: the modules, the list of
//! names, and the functions that make a controller and state its needs by its name.

use mimosa_facts::{Controller, Limits};

use crate::named::Named;
use crate::needs::Needs;
use crate::parameter::ParameterError;

/// Calls the macro `$expand` with the table of all controllers, in the order of their names.
///
/// Each line names a module in `src` and the type in it that implements [`Named`].
macro_rules! controllers {
    ($expand:ident) => {
        $expand! {
            bbr_app::BbrApp,
            bbr2::Bbr2,
            bbr3::Bbr3,
            c3g::C3g,
            copa::Copa,
            fixed::Fixed,
            gcc::Gcc,
            mimosa::Mimosa,
            nada::Nada,
            oracle::Oracle,
            prague::Prague,
            pudica::Pudica,
            salsify::Salsify,
            scream::Scream,
            sqp::Sqp,
        }
    };
}

/// Declares the module of each controller.
macro_rules! modules {
    ($($module:ident :: $controller:ident,)*) => {
        $(pub mod $module;)*
    };
}

/// Defines `NAMES`, `build` and `needs` from the table.
macro_rules! functions {
    ($($module:ident :: $controller:ident,)*) => {
        /// Names of all controllers that [`build`] can make, in alphabetical order.
        pub const NAMES: &[&str] = &[$(<crate::$module::$controller as Named>::NAME),*];

        /// Makes the controller called `name`. Parameters that are not in `params` have their
        /// defaults.
        ///
        /// # Errors
        ///
        /// [`BuildError`] if no controller has this name, if a parameter is unknown or of the
        /// wrong type, or if a parameter's value is invalid.
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
                $(<crate::$module::$controller as Named>::NAME => {
                    start::<crate::$module::$controller, D>(params, limits)
                })*
                _ => Err(BuildError::UnknownName {
                    name: name.to_owned(),
                }),
            }
        }

        /// The feedback that the controller called `name` needs; `None` if no controller has
        /// this name.
        ///
        /// ```
        /// use mimosa_cc::needs::{Reports, needs};
        ///
        /// let copa = needs("copa").unwrap();
        /// assert_eq!(copa.made_for, Reports::PerPacket);
        /// assert!(copa.counts_waiting && !copa.uses_ecn);
        /// assert!(mimosa_cc::NAMES.iter().all(|name| needs(name).is_some()));
        /// ```
        #[must_use]
        pub fn needs(name: &str) -> Option<Needs> {
            match name {
                $(<crate::$module::$controller as Named>::NAME => {
                    Some(<crate::$module::$controller as Named>::NEEDS)
                })*
                _ => None,
            }
        }
    };
}

controllers!(functions);

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
    /// A parameter has a value that makes the algorithm's formulas invalid.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
}

/// Makes the controller `T` with the parameters that it reads from `params`.
fn start<'de, T, D>(params: D, limits: Limits) -> Result<Box<dyn Controller>, BuildError>
where
    T: Named,
    D: serde::Deserializer<'de>,
    D::Error: std::fmt::Display,
{
    let config = serde::Deserialize::deserialize(params)
        .map_err(|error: D::Error| BuildError::Params(one_line(&error.to_string())))?;
    Ok(T::start(config, limits)?)
}

/// Joins the lines of a parser's message, so that it can be part of a sentence.
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
    fn names_are_in_their_order_and_each_is_there_once() {
        assert!(NAMES.is_sorted_by(|name, next| name < next), "{NAMES:?}");
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
        assert!(matches!(error, BuildError::Parameter(_)), "{error}");
        assert_eq!(
            error.to_string(),
            "`alpha` must be a share between zero and one, but is 1.5"
        );
    }
}
