//! The bounds of the bitrate.

use mimosa_facts::Limits;
use mimosa_units::Rate;
use toml::Value;

use crate::error::{Problem, SettingsError};
use crate::given::{Given, Said};
use crate::key::Key;
use crate::keys;

/// A rate above zero from a TOML value.
pub(crate) fn rate(value: &Value) -> Option<Rate> {
    let rate = value.as_str()?.parse().ok()?;
    (rate > Rate::ZERO).then_some(rate)
}

/// The bounds of the bitrate. Bounds that were not given yield to bounds that were.
pub(crate) fn limits(said: &Said) -> Result<Limits, SettingsError> {
    let bound = |key: &'static Key| -> Result<(Rate, Given), SettingsError> {
        Ok((said.read(key, rate)?, said.of(key)))
    };
    let min = bound(&keys::MIN_BITRATE)?;
    let start = bound(&keys::START_BITRATE)?;
    let max = bound(&keys::MAX_BITRATE)?;
    for (low, high) in [(&min, &start), (&start, &max), (&min, &max)] {
        in_order(low, high)?;
    }
    let all = [&min, &start, &max];
    let stated = || {
        all.iter()
            .filter(|(_, given)| given.is_said())
            .map(|(rate, _)| *rate)
    };
    let lowest = stated().min().unwrap_or(Rate::MAX);
    let highest = stated().max().unwrap_or(Rate::ZERO);
    // A given bound is the lowest or the highest already.
    Ok(Limits::new(min.0.min(lowest), start.0, max.0.max(highest)))
}

/// Refuses `low` above `high` if both were given.
fn in_order(low: &(Rate, Given), high: &(Rate, Given)) -> Result<(), SettingsError> {
    let both = low.1.is_said() && high.1.is_said();
    if !both || low.0 <= high.0 {
        return Ok(());
    }
    // The error names the origin that wins, because its author can change the value.
    let (at, other) = if low.1.origin.rank() > high.1.origin.rank() {
        (&low.1, &high.1)
    } else {
        (&high.1, &low.1)
    };
    Err(at.error(Problem::Order {
        low: low.1.key.path,
        low_rate: low.0,
        high: high.1.key.path,
        high_rate: high.0,
        place: other.origin.clone(),
    }))
}
