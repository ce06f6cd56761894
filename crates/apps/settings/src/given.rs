//! What was said, by whom, and which of it holds.

use std::collections::BTreeMap;

use mimosa_units::shortened;
use toml::Value;

use crate::error::{Origin, Problem, SettingsError};
use crate::key::{Key, Shape};

/// What is said by flags.
#[derive(Clone, Default)]
pub struct Flags(Vec<(&'static Key, String)>);

impl Flags {
    /// Adds what the flag of `key` says; of a list, a part of it. Otherwise the
    /// last one holds.
    pub fn set(&mut self, key: &'static Key, text: impl Into<String>) {
        self.0.push((key, text.into()));
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each key with its text, those of a list together.
    pub(crate) fn joined(&self) -> Vec<(&'static Key, String)> {
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

/// A value, and who said it.
#[derive(Clone)]
pub(crate) struct Given {
    pub(crate) key: &'static Key,
    pub(crate) value: Value,
    /// The value as it was written.
    pub(crate) written: String,
    pub(crate) origin: Origin,
}

impl Given {
    /// What a variable or a flag says.
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

    /// Whether somebody said it.
    pub(crate) fn is_said(&self) -> bool {
        self.origin != Origin::Default
    }

    /// Whether it is the empty text, which stands for nothing.
    pub(crate) fn is_nothing(&self) -> bool {
        self.value.as_str() == Some("")
    }

    /// That it is not what it must be.
    pub(crate) fn wrong(&self) -> SettingsError {
        self.wrong_as(self.key.must)
    }

    /// That it is not `must`.
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

    /// A problem with it.
    pub(crate) fn error(&self, problem: Problem) -> SettingsError {
        SettingsError {
            origin: self.origin.clone(),
            problem,
        }
    }

    /// That it and `other` cannot both be meant.
    pub(crate) fn excludes(&self, other: &Self) -> SettingsError {
        self.error(Problem::Exclusive {
            key: self.key.path,
            other: other.key.path,
            place: other.origin.clone(),
        })
    }
}

/// All that was said.
#[derive(Default)]
pub(crate) struct Said(BTreeMap<&'static str, Vec<Given>>);

impl Said {
    /// Adds a value; later ones win.
    pub(crate) fn add(&mut self, given: Given) {
        self.0.entry(given.key.name).or_default().push(given);
    }

    /// Everything said of `key`, what wins last.
    pub(crate) fn all(&self, key: &Key) -> &[Given] {
        self.0.get(key.name).map_or(&[], Vec::as_slice)
    }

    /// What holds for `key`.
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

    /// What holds for `key`, as `read` understands it.
    pub(crate) fn read<T>(
        &self,
        key: &'static Key,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<T, SettingsError> {
        let given = self.of(key);
        read(&given.value).ok_or_else(|| given.wrong())
    }

    /// A text, or nothing.
    pub(crate) fn text(&self, key: &'static Key) -> Result<Option<String>, SettingsError> {
        self.read(key, |value| {
            let text = value.as_str().filter(|text| !text.contains('\0'))?;
            Some((!text.is_empty()).then(|| text.to_owned()))
        })
    }
}
