//! What a file, the environment and flags make of the settings.

#![allow(clippy::unwrap_used, reason = "a test may")]

mod any_text;
mod precedence;
mod refused;
mod sources;
mod template;

use mimosa_facts::Limits;
use mimosa_settings::{Checks, Flags, KEYS, Settings, SettingsError, resolve};

/// A program with two controllers and two pacers, an encoder, one parameter and two log levels.
pub(crate) struct Program;

impl Checks for Program {
    fn controllers(&self) -> &[&str] {
        &["mimosa", "other"]
    }

    fn pacers(&self) -> &[&str] {
        &["controller", "burst"]
    }

    fn encoders(&self) -> &[&str] {
        &["auto", "openh264"]
    }

    fn params(&self, controller: &str, params: &toml::Table, _: Limits) -> Result<(), String> {
        match params.keys().find(|key| *key != "alpha") {
            Some(key) => Err(format!("{controller} has no `{key}`, only `alpha`")),
            None => Ok(()),
        }
    }

    fn log(&self, filter: &str) -> Result<(), String> {
        if ["info", "debug"].contains(&filter) {
            Ok(())
        } else {
            Err(format!("`{filter}` is no filter"))
        }
    }
}

/// What is said: the file, variables without `MIMOSA_`, flags without `--`.
#[derive(Default)]
pub(crate) struct Say<'a> {
    pub(crate) file: &'a str,
    pub(crate) environment: &'a [(&'a str, &'a str)],
    pub(crate) flags: &'a [(&'a str, &'a str)],
}

impl Say<'_> {
    pub(crate) fn resolve(&self) -> Result<Settings, SettingsError> {
        let environment = self
            .environment
            .iter()
            .map(|(name, text)| (format!("MIMOSA_{name}"), (*text).to_owned()));
        let mut flags = Flags::default();
        for (long, text) in self.flags {
            let key = KEYS.iter().find(|key| key.long() == *long).unwrap();
            flags.set(key, *text);
        }
        resolve(Some(("m.toml", self.file)), environment, &flags, &Program)
    }

    pub(crate) fn settings(&self) -> Settings {
        self.resolve().unwrap()
    }

    pub(crate) fn error(&self) -> String {
        self.resolve().unwrap_err().to_string()
    }
}

pub(crate) fn file(text: &str) -> Say<'_> {
    Say {
        file: text,
        ..Say::default()
    }
}

pub(crate) fn environment<'a>(variables: &'a [(&'a str, &'a str)]) -> Say<'a> {
    Say {
        environment: variables,
        ..Say::default()
    }
}

pub(crate) fn flags<'a>(flags: &'a [(&'a str, &'a str)]) -> Say<'a> {
    Say {
        flags,
        ..Say::default()
    }
}
