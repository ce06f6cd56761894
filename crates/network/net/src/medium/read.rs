//! What the media's readers have in common: times, rates, and the periods of others.

use std::ops::RangeInclusive;

use mimosa_units::{Rate, TimeDelta};

use super::periods::Means;
use crate::keys::{KeyProblem, Keys, Read};

/// Lengths that the mean of a random time may have.
const MEANS: RangeInclusive<TimeDelta> =
    TimeDelta::from_micros(100)..=TimeDelta::from_millis(3_600_000);
/// The longest time of a medium's own clock: a slot, an interval, or a latency.
pub(super) const LONGEST: TimeDelta = TimeDelta::from_millis(1_000);

/// Reads the mean length of a random time; `None` if the key is not given.
pub(super) fn mean(keys: &mut Keys<'_>, key: &'static str) -> Read<Option<TimeDelta>> {
    keys.valid(key, |time| MEANS.contains(time), "from 100us to 1h")
}

/// Reads a time from zero to a second.
pub(super) fn latency(
    keys: &mut Keys<'_>,
    key: &'static str,
    otherwise: TimeDelta,
) -> Read<TimeDelta> {
    let valid = |time: &TimeDelta| (TimeDelta::ZERO..=LONGEST).contains(time);
    let given = keys.valid(key, valid, "from 0s to 1s")?;
    Ok(given.unwrap_or(otherwise))
}

/// Reads the length of a slot or an interval, which is above zero.
pub(super) fn length(
    keys: &mut Keys<'_>,
    key: &'static str,
    otherwise: TimeDelta,
) -> Read<TimeDelta> {
    let valid = |time: &TimeDelta| (TimeDelta::from_micros(100)..=LONGEST).contains(time);
    let given = keys.valid(key, valid, "from 100us to 1s")?;
    Ok(given.unwrap_or(otherwise))
}

/// Reads a rate above zero; `None` if the key is not given.
pub(super) fn rate(keys: &mut Keys<'_>, key: &'static str) -> Read<Option<Rate>> {
    keys.valid(key, |rate| *rate > Rate::ZERO, "above zero")
}

/// Reads a list of rates above zero; `None` if the key is not given.
pub(super) fn rates(keys: &mut Keys<'_>, key: &'static str) -> Read<Option<Vec<Rate>>> {
    let valid = |rates: &Vec<Rate>| {
        !rates.is_empty() && rates.len() <= 100 && rates.iter().all(|rate| *rate > Rate::ZERO)
    };
    let must = "a list of one to a hundred rates above zero, e.g. [\"130Mbit/s\"]";
    keys.valid(key, valid, must)
}

/// Reads a share of what fails, of which something must come through.
pub(super) fn failing(keys: &mut Keys<'_>, key: &'static str, otherwise: f64) -> Read<f64> {
    let valid = |share: &f64| (0.0..=0.9).contains(share);
    let given = keys.valid(key, valid, "a share from 0 to 0.9")?;
    Ok(given.unwrap_or(otherwise))
}

/// Reads the mean lengths of the periods `on` and the pauses `off` of others; `None` for others
/// without pauses.
pub(super) fn periods(keys: &mut Keys<'_>) -> Read<Option<Means>> {
    let (on, off) = (mean(keys, "on")?, mean(keys, "off")?);
    let mend = "others that pause have `on = \"200ms\"` and `off = \"300ms\"`";
    let missing = |key| keys.error(KeyProblem::Missing { key, mend });
    match (on, off) {
        (None, None) => Ok(None),
        (Some(on), Some(off)) => Ok(Some((on, off))),
        (None, Some(_)) => Err(missing("on")),
        (Some(_), None) => Err(missing("off")),
    }
}
