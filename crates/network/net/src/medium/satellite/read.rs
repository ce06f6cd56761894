//! Reads a satellite link in a file: `[link.medium]` with `kind = "satellite"`.

use std::ops::RangeInclusive;

use mimosa_units::TimeDelta;

use super::config::SatelliteConfig;
use crate::keys::{Keys, Read};
use crate::medium::read::{LONGEST, latency, length, rates};

/// Times for which a terminal may keep a satellite.
const PERIODS: RangeInclusive<TimeDelta> =
    TimeDelta::from_millis(1_000)..=TimeDelta::from_millis(3_600_000);

impl SatelliteConfig {
    /// Reads the keys.
    pub(in crate::medium) fn read(keys: &mut Keys<'_>) -> Read<Self> {
        let default = Self::default();
        let period = keys.valid("period", |time| PERIODS.contains(time), "from 1s to 1h")?;
        let period = period.unwrap_or(default.period);
        let within = |time: &TimeDelta| (TimeDelta::ZERO..period).contains(time);
        Ok(Self {
            period,
            offset: keys.valid("offset", within, "from 0s on and shorter than `period`")?,
            latency: range(keys, "latency")?.unwrap_or(default.latency),
            rates: rates(keys, "rates")?.unwrap_or(default.rates),
            rates_back: rates(keys, "rates_back")?.unwrap_or(default.rates_back),
            gap: latency(keys, "gap", default.gap)?,
            lost: keys.share("lost")?.unwrap_or(default.lost),
            frame: length(keys, "frame", default.frame)?,
        })
    }
}

/// Reads the least and the most of a latency; `None` if the key is not given.
fn range(keys: &mut Keys<'_>, key: &'static str) -> Read<Option<[TimeDelta; 2]>> {
    let valid = |given: &Vec<TimeDelta>| match given.as_slice() {
        [least, most] => TimeDelta::ZERO <= *least && least <= most && *most <= LONGEST,
        _ => false,
    };
    let must = "the least and the most, from 0s to 1s, e.g. [\"10ms\", \"30ms\"]";
    let given = keys.valid(key, valid, must)?;
    Ok(given.and_then(|given| given.try_into().ok()))
}
