//! Models that make traces. The same seed and configuration give the same trace on every machine.

mod ethernet;
mod lte;
mod nr;
mod parameter;
mod process;
mod wifi;

use mimosa_units::{Rate, TimeDelta};

use crate::statistics::LONGEST;
use crate::{EditError, Segment, Trace, push};

use ethernet::Ethernet;
use lte::Lte;
use nr::Nr;
pub use parameter::Parameter;
use wifi::Wifi;

/// Most rows of a trace; more are a mistake.
const MOST_ROWS: i64 = 10_000_000;
/// Rates are whole multiples of this many bit/s: more digits would say nothing.
const KBPS: f64 = 1e3;

/// A model with its configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    name: &'static str,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Ethernet(Ethernet),
    Wifi(Wifi),
    Lte(Lte),
    Nr(Nr),
}

/// Why there is no such model, configuration or trace.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// No model has this name.
    #[error("there is no model `{name}`; there is {}", Model::NAMES.join(", "))]
    NoModel {
        /// The name that was given.
        name: String,
    },
    /// The model has no such parameter.
    #[error("the model {model} has no parameter `{key}`; it has {known}")]
    NoParameter {
        /// Name of the model.
        model: &'static str,
        /// The key that was given.
        key: String,
        /// The model's parameters.
        known: String,
    },
    /// The value is outside the parameter's bounds, or is not a number.
    #[error("`{value}` is no value of {key}, {meaning}; write a number from {least} to {most}")]
    BadValue {
        /// Name of the parameter.
        key: &'static str,
        /// The value that was given.
        value: String,
        /// Meaning of the parameter.
        meaning: &'static str,
        /// Lowest value of the parameter.
        least: f64,
        /// Highest value of the parameter.
        most: f64,
    },
    /// The trace would be shorter than a row, or too long.
    #[error("a trace of {length} in steps of {step} is not made; choose from one step to {most}")]
    BadLength {
        /// Length that was asked for.
        length: TimeDelta,
        /// The time between rows.
        step: TimeDelta,
        /// Longest length that is allowed.
        most: TimeDelta,
    },
    /// The model cannot make a trace of this mean rate.
    #[error("the trace cannot have this mean rate: {0}")]
    Scale(#[from] EditError),
}

impl Model {
    /// The names of all models.
    pub const NAMES: [&'static str; 6] =
        ["ethernet", "wifi", "wifi-office", "4g", "4g-driving", "5g"];

    /// The model called `name`, with parameters fitted to its class of recordings.
    ///
    /// # Errors
    ///
    /// [`ModelError::NoModel`] if no model has this name.
    pub fn named(name: &str) -> Result<Self, ModelError> {
        let Some(name) = Self::NAMES.into_iter().find(|known| *known == name) else {
            return Err(ModelError::NoModel {
                name: name.to_owned(),
            });
        };
        let kind = match name {
            "ethernet" => Kind::Ethernet(Ethernet::default()),
            "wifi" => Kind::Wifi(Wifi::default()),
            "wifi-office" => Kind::Wifi(Wifi::office()),
            "4g" => Kind::Lte(Lte::default()),
            "4g-driving" => Kind::Lte(Lte::driving()),
            _ => Kind::Nr(Nr::default()),
        };
        Ok(Self { name, kind })
    }

    /// Name of the model.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Parameters of the model, with their values.
    #[must_use]
    pub fn parameters(&self) -> Vec<Parameter> {
        match &self.kind {
            Kind::Ethernet(config) => config.list(),
            Kind::Wifi(config) => config.list(),
            Kind::Lte(config) => config.list(),
            Kind::Nr(config) => config.list(),
        }
    }

    /// Sets the parameter `key` to the value in `text`.
    ///
    /// # Errors
    ///
    /// [`ModelError::NoParameter`] for an unknown key, and [`ModelError::BadValue`] for a value
    /// that is not a number within the bounds.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), ModelError> {
        let parameters = self.parameters();
        let parameter = parameters.iter().find(|parameter| parameter.key == key);
        let found = match &mut self.kind {
            Kind::Ethernet(config) => config.find(key),
            Kind::Wifi(config) => config.find(key),
            Kind::Lte(config) => config.find(key),
            Kind::Nr(config) => config.find(key),
        };
        let (Some(parameter), Some(found)) = (parameter, found) else {
            let known: Vec<_> = parameters.iter().map(|parameter| parameter.key).collect();
            return Err(ModelError::NoParameter {
                model: self.name,
                key: key.to_owned(),
                known: known.join(", "),
            });
        };
        let &Parameter {
            key,
            meaning,
            least,
            most,
            ..
        } = parameter;
        let value = text.trim().parse().ok();
        let Some(value) = value.filter(|value| (least..=most).contains(value)) else {
            return Err(ModelError::BadValue {
                key,
                value: text.to_owned(),
                meaning,
                least,
                most,
            });
        };
        *found = value;
        Ok(())
    }

    /// Makes a trace of this `length`, rounded down to whole steps. Its mean rate is `mean`, or the
    /// model's own, up to the rounding of its rates to 1 kbit/s.
    ///
    /// # Errors
    ///
    /// [`ModelError::BadLength`] for less than a step, or more than a week or ten million steps;
    /// [`ModelError::Scale`] if no such trace can have this mean rate.
    pub fn generate(
        &self,
        seed: u64,
        length: TimeDelta,
        mean: Option<Rate>,
    ) -> Result<Trace, ModelError> {
        let value = |wanted: &str| {
            let parameters = self.parameters().into_iter();
            let found = parameters.filter(|parameter| parameter.key == wanted);
            found.map(|parameter| parameter.value).sum::<f64>()
        };
        let step = TimeDelta::from_secs(value("step_secs")).max(TimeDelta::from_nanos(1));
        let steps = length.as_nanos() / step.as_nanos();
        if !(1..=MOST_ROWS).contains(&steps) || length > LONGEST {
            let rows = u32::try_from(MOST_ROWS).unwrap_or(u32::MAX);
            return Err(ModelError::BadLength {
                length,
                step,
                most: LONGEST.min(step * rows),
            });
        }
        let mut rates: Box<dyn FnMut() -> f64> = match &self.kind {
            Kind::Ethernet(config) => Box::new(config.rates(seed)),
            Kind::Wifi(config) => Box::new(config.rates(seed)),
            Kind::Lte(config) => Box::new(config.rates(seed)),
            Kind::Nr(config) => Box::new(config.rates(seed)),
        };
        let drawn: Vec<f64> = (0..steps).map(|_| rates()).collect();
        let wanted = mean.map_or(value("mean_mbps"), Rate::as_mbps);
        let found = drawn.iter().sum::<f64>() / drawn.len() as f64;
        // A trace that is an outage throughout has no mean to scale.
        let factor = if found > 0.0 { wanted / found } else { 0.0 };
        let mut segments = Vec::new();
        let mut at = TimeDelta::ZERO;
        for rate in drawn {
            let kbps = (rate * factor * KBPS).round();
            push(
                &mut segments,
                Segment {
                    at,
                    rate: Rate::from_mbps(kbps / KBPS),
                    round_trip: None,
                    loss: None,
                },
            );
            at += step;
        }
        let trace = Trace {
            segments,
            length: at,
            notes: Vec::new(),
        };
        Ok(trace.checked()?)
    }
}
