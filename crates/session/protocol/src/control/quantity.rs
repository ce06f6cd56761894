//! Quantities as plain numbers, in the units that `docs/embed/protocol.md` names.

use mimosa_units::{Rate, TimeDelta};
use serde::{Deserialize, Serialize};

/// A time span; in JSON a number of milliseconds.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(from = "f64", into = "f64")]
pub struct Millis(pub TimeDelta);

impl From<f64> for Millis {
    /// Converts a number of milliseconds, rounded to a nanosecond.
    fn from(millis: f64) -> Self {
        Self(TimeDelta::from_secs(millis / 1e3))
    }
}

impl From<Millis> for f64 {
    fn from(span: Millis) -> Self {
        span.0.as_millis()
    }
}

/// A bitrate; in JSON a whole number of bit/s.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(from = "u64", into = "u64")]
pub struct BitsPerSecond(pub Rate);

impl From<u64> for BitsPerSecond {
    fn from(bits: u64) -> Self {
        Self(Rate::from_bps(bits))
    }
}

impl From<BitsPerSecond> for u64 {
    fn from(rate: BitsPerSecond) -> Self {
        rate.0.as_bps()
    }
}
