//! Configuration values of models, by name.

/// One configuration value of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Its name in `key=value`.
    pub key: &'static str,
    /// What it says, with its unit.
    pub meaning: &'static str,
    /// Its value.
    pub value: f64,
    /// The lowest value it may have.
    pub least: f64,
    /// The highest value it may have.
    pub most: f64,
}

/// Declares the configuration of a model: fields, their default, their bounds
/// and their meaning.
macro_rules! parameters {
    (
        $(#[$about:meta])*
        $name:ident {
            $($key:ident = $default:literal, $least:literal to $most:literal, $meaning:literal;)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        pub(super) struct $name {
            $(#[doc = $meaning] pub(super) $key: f64,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($key: $default,)* }
            }
        }

        impl $name {
            /// All of them, in their order.
            pub(super) fn list(&self) -> Vec<$crate::model::Parameter> {
                vec![$($crate::model::Parameter {
                    key: stringify!($key),
                    meaning: $meaning,
                    value: self.$key,
                    least: $least,
                    most: $most,
                },)*]
            }

            /// The one called `key`.
            pub(super) fn find(&mut self, key: &str) -> Option<&mut f64> {
                match key {
                    $(stringify!($key) => Some(&mut self.$key),)*
                    _ => None,
                }
            }
        }
    };
}
pub(super) use parameters;
