//! The parameters of models, by name.

/// One parameter of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Name of the parameter in `key=value`.
    pub key: &'static str,
    /// Meaning of the parameter, with its unit.
    pub meaning: &'static str,
    /// Present value of the parameter.
    pub value: f64,
    /// Lowest value of the parameter.
    pub least: f64,
    /// Highest value of the parameter.
    pub most: f64,
}

/// Declares the parameters of a model: name, default, bounds and meaning of each.
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
            /// All parameters, in the order of their declaration.
            pub(super) fn list(&self) -> Vec<$crate::model::Parameter> {
                vec![$($crate::model::Parameter {
                    key: stringify!($key),
                    meaning: $meaning,
                    value: self.$key,
                    least: $least,
                    most: $most,
                },)*]
            }

            /// The parameter called `key`.
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
