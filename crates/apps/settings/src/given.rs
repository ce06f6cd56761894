//! The given values with their origins, and which of them is in force.

use std::collections::BTreeMap;

use mimosa_units::shortened;
use toml::Value;

use crate::error::{Origin, Problem, SettingsError};
use crate::key::{Key, Shape};

/// The values given by flags.
#[derive(Clone, Default)]
pub struct Flags(Vec<(&'static Key, String)>);

impl Flags {
    /// Adds the value of `key`'s flag. Values of a list add up; of others, the last is in force.
    pub fn set(&mut self, key: &'static Key, text: impl Into<String>) {
        self.0.push((key, text.into()));
    }

    /// Whether no flag was given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the values to those that were given elsewhere.
    pub(crate) fn add_to(&self, said: &mut Said) -> Result<(), SettingsError> {
        for (key, text) in self.joined() {
            said.add(Given::text(key, &text, Origin::Flag(key.flag()))?);
        }
        Ok(())
    }

    /// Each key with its text, where the texts of a list are joined.
    fn joined(&self) -> Vec<(&'static Key, String)> {
        let mut joined: BTreeMap<&str, (&'static Key, String)> = BTreeMap::new();
        for (key, text) in &self.0 {
            let entry = joined.entry(key.name).or_insert((key, String::new()));
            if key.shape == Shape::List && !entry.1.is_empty() {
                entry.1.push(',');
                entry.1.push_str(text);
            } else {
                entry.1.clone_from(text);
            }
        }
        joined.into_values().collect()
    }
}

/// A value and its origin.
#[derive(Clone)]
pub(crate) struct Given {
    pub(crate) key: &'static Key,
    pub(crate) value: Value,
    /// The value as it was written.
    pub(crate) written: String,
    pub(crate) origin: Origin,
}

impl Given {
    /// The value of a variable or a flag.
    pub(crate) fn text(
        key: &'static Key,
        text: &str,
        origin: Origin,
    ) -> Result<Self, SettingsError> {
        match key.value(text) {
            Ok(value) => Ok(Self {
                key,
                value,
                written: text.to_owned(),
                origin,
            }),
            Err(problem) => Err(SettingsError { origin, problem }),
        }
    }

    /// Whether the value was given, rather than the default.
    pub(crate) fn is_said(&self) -> bool {
        self.origin != Origin::Default
    }

    /// Whether the value is the empty text, which stands for no value.
    pub(crate) fn is_nothing(&self) -> bool {
        self.value.as_str() == Some("")
    }

    /// The error that the value is not what it must be.
    pub(crate) fn wrong(&self) -> SettingsError {
        self.wrong_as(self.key.must)
    }

    /// The error that the value is not `must`.
    pub(crate) fn wrong_as(&self, must: &str) -> SettingsError {
        let found = if self.key.shape == Shape::Secret {
            "what it is, which is not shown".to_owned()
        } else {
            format!("`{}`", shortened(&self.written))
        };
        self.error(Problem::Value {
            key: self.key.path,
            must: must.to_owned(),
            found,
        })
    }

    /// An error about this value.
    pub(crate) fn error(&self, problem: Problem) -> SettingsError {
        SettingsError {
            origin: self.origin.clone(),
            problem,
        }
    }

    /// The error that this value and `other` exclude each other.
    pub(crate) fn excludes(&self, other: &Self) -> SettingsError {
        self.error(Problem::Exclusive {
            key: self.key.path,
            other: other.key.path,
            place: other.origin.clone(),
        })
    }
}

/// All values that were given.
#[derive(Default)]
pub(crate) struct Said(BTreeMap<&'static str, Vec<Given>>);

impl Said {
    /// Adds a value. Later ones win.
    pub(crate) fn add(&mut self, given: Given) {
        self.0.entry(given.key.name).or_default().push(given);
    }

    /// All values given for `key`; the last one wins.
    pub(crate) fn all(&self, key: &Key) -> &[Given] {
        self.0.get(key.name).map_or(&[], Vec::as_slice)
    }

    /// The value in force for `key`.
    pub(crate) fn of(&self, key: &'static Key) -> Given {
        self.all(key).last().cloned().unwrap_or_else(|| Given {
            key,
            value: key
                .value(key.default)
                .unwrap_or_else(|_| key.default.into()),
            written: key.default.to_owned(),
            origin: Origin::Default,
        })
    }

    /// The value in force for `key`, converted by `read`.
    pub(crate) fn read<T>(
        &self,
        key: &'static Key,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<T, SettingsError> {
        let given = self.of(key);
        read(&given.value).ok_or_else(|| given.wrong())
    }

    /// The text in force for `key`; `None` if it is empty.
    pub(crate) fn text(&self, key: &'static Key) -> Result<Option<String>, SettingsError> {
        self.read(key, |value| {
            let text = value.as_str().filter(|text| !text.contains('\0'))?;
            Some((!text.is_empty()).then(|| text.to_owned()))
        })
    }
}
