//! Parameters whose defaults depend on the version of a controller's source.

use serde::{Deserialize, Deserializer};

/// Defines a struct of parameters that is read from settings. Its first field, `version`, says from
/// which version of the source the defaults of all other parameters are.
///
/// A parameter that the settings contain has the value given there, whatever the version, and
/// wherever in the settings `version` stands. Unknown keys are refused. The version's type
/// implements `Default`, and the struct implements `From` of it, which gives a version's values.
macro_rules! parameters_by_version {
    (
        $(#[$meta:meta])*
        $seen:vis struct $config:ident {
            $(#[$version_meta:meta])*
            $version_seen:vis version: $version:ty,
            $(
                $(#[$field_meta:meta])*
                $field_seen:vis $field:ident: $type:ty,
            )*
        }
    ) => {
        $(#[$meta])*
        $seen struct $config {
            $(#[$version_meta])*
            $version_seen version: $version,
            $(
                $(#[$field_meta])*
                $field_seen $field: $type,
            )*
        }

        impl Default for $config {
            fn default() -> Self {
                Self::from(<$version>::default())
            }
        }

        impl<'de> serde::Deserialize<'de> for $config {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                /// What the settings contain; `None` for what they do not.
                #[derive(Default, serde::Deserialize)]
                #[serde(default, deny_unknown_fields)]
                struct Given {
                    version: $version,
                    $(
                        #[serde(deserialize_with = "crate::version::given")]
                        $field: Option<$type>,
                    )*
                }
                let given = Given::deserialize(from)?;
                let mut config = Self::from(given.version);
                $(
                    if let Some(value) = given.$field {
                        config.$field = value;
                    }
                )*
                Ok(config)
            }
        }
    };
}

/// Reads a parameter that the settings contain.
pub(crate) fn given<'de, T, D>(from: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    T::deserialize(from).map(Some)
}

#[cfg(test)]
mod tests {
    use serde::de::value::{Error, MapDeserializer};

    use super::*;

    #[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
    enum Version {
        #[default]
        New,
        Old,
    }

    parameters_by_version! {
        #[derive(Debug, PartialEq)]
        struct Config {
            version: Version,
            gain: String,
            limit: Option<String>,
        }
    }

    impl From<Version> for Config {
        fn from(version: Version) -> Self {
            let (gain, limit) = match version {
                Version::New => ("8", None),
                Version::Old => ("4", Some("none".to_owned())),
            };
            Self {
                version,
                gain: gain.to_owned(),
                limit,
            }
        }
    }

    fn read(pairs: &[(&'static str, &'static str)]) -> Result<Config, Error> {
        Config::deserialize(MapDeserializer::new(pairs.iter().copied()))
    }

    #[test]
    fn what_is_given_counts_before_and_after_the_version() {
        let version = ("version", "Old");
        for pairs in [[version, ("gain", "5")], [("gain", "5"), version]] {
            let config = read(&pairs).unwrap();
            assert_eq!(config.gain, "5");
            assert_eq!(config.limit.as_deref(), Some("none"));
        }
    }

    #[test]
    fn without_a_version_the_default_one_counts_and_unknown_keys_are_refused() {
        assert_eq!(read(&[]).unwrap(), Config::from(Version::New));
        let error = read(&[("gian", "5")]).unwrap_err().to_string();
        assert!(
            error.contains("gian") && error.contains("`gain`"),
            "{error}"
        );
        let error = read(&[("version", "newest")]).unwrap_err().to_string();
        assert!(
            error.contains("newest") && error.contains("`Old`"),
            "{error}"
        );
    }
}
