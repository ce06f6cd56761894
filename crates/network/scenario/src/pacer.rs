//! Reads which pacer a video flow has, and its parameters.

use std::ops::Range;

use mimosa_facts::Limits;
use mimosa_stream::pace::{Policy, PolicyError};
use toml::Spanned;

use super::error::Problem;
use super::parse::{Read, Reader};
use super::raw;

impl Reader<'_> {
    /// Reads `pacer` and `pacer_params` of a flow whose target bitrate has these `limits`.
    pub(super) fn pacer(&self, raw: &raw::Flow, limits: Limits) -> Read<Policy> {
        let name = raw
            .pacer
            .as_ref()
            .map_or("controller", |name| name.get_ref());
        let made = match &raw.pacer_params {
            None => Policy::from_name(name),
            Some(params) => build(name, params.get_ref().iter()),
        };
        let mut policy = made.map_err(|error| {
            let at = place(raw, name, &error);
            self.error(at, Problem::Pacer(error))
        })?;
        if let Policy::Scream(config) = &mut policy {
            config.max_bitrate.get_or_insert(limits.max());
        }
        Ok(policy)
    }
}

/// A parameter in the file: its name and its value, each with its place.
type Param<'a> = (&'a Spanned<String>, &'a Spanned<toml::Value>);

fn build<'a>(name: &str, params: impl Iterator<Item = Param<'a>>) -> Result<Policy, PolicyError> {
    let table = params
        .map(|(key, value)| (key.get_ref().clone(), value.get_ref().clone()))
        .collect();
    Policy::build(name, toml::Value::Table(table))
}

/// The place of an `error` in the pacer called `name`: the first parameter that fails
/// alone, or all parameters if none does, or the name if the error is there.
fn place(raw: &raw::Flow, name: &str, error: &PolicyError) -> Range<usize> {
    let at_name = raw.pacer.as_ref().map_or(0..0, Spanned::span);
    let Some(params) = &raw.pacer_params else {
        return at_name;
    };
    match error {
        PolicyError::UnknownName { .. } => at_name,
        PolicyError::NoParams { .. } => params.span(),
        _ => {
            let mut given = params.get_ref().iter();
            let culprit = given.find(|param| build(name, std::iter::once(*param)).is_err());
            culprit.map_or_else(|| params.span(), |(key, _)| key.span())
        }
    }
}
