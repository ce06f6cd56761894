//! What a test may cost and how long its parts last.

use mimosa_units::{Bytes, Rate, TimeDelta};

/// Bounds and lengths of a test. Where a field names no source, its value is our choice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The highest rate at which the ramp sends: three times the bitrate of the best streams.
    pub most_rate: Rate,
    /// The most bytes that the test sends: 0.85 s at [`Config::most_rate`].
    pub most_bytes: Bytes,
    /// Size of the packets of trains and ramp on the wire: what any path carries (RFC 8831, section 5).
    pub packet: Bytes,
    /// Size of the small packets on the wire.
    pub small: Bytes,
    /// Length of the rest.
    pub rest: TimeDelta,
    /// Mean time between two small packets: 0.5 Mbit/s, which the slowest line for games carries.
    pub small_every: TimeDelta,
    /// Longest ramp.
    pub longest_ramp: TimeDelta,
    /// Longest test, whatever the reports say.
    pub longest: TimeDelta,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            most_rate: Rate::from_kbps(150_000),
            most_bytes: Bytes::new(16_000_000),
            packet: Bytes::new(1_200),
            small: Bytes::new(200),
            rest: TimeDelta::from_millis(900),
            small_every: TimeDelta::from_millis(3),
            longest_ramp: TimeDelta::from_millis(1_800),
            longest: TimeDelta::from_millis(8_000),
        }
    }
}
