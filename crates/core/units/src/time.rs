//! Points on a clock, and the spans of time between them.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};
use std::str::FromStr;

use crate::text::{self, UnitError};

const NANOS_PER_SEC: i64 = 1_000_000_000;

/// A point on the local monotonic clock, in nanoseconds since the clock began.
///
/// The clock begins with the run in a simulation, and with the process in a driver.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Time(u64);

impl Time {
    /// The beginning of the clock.
    pub const ZERO: Self = Self(0);
    /// The latest point: as a deadline it means "never".
    pub const MAX: Self = Self(u64::MAX);

    /// The point `nanos` nanoseconds after the clock's beginning.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// The point `millis` milliseconds after the clock's beginning.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// The point `secs` seconds after the clock's beginning.
    #[must_use]
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1_000_000_000))
    }

    /// Nanoseconds since the clock's beginning.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the clock's beginning.
    #[must_use]
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / NANOS_PER_SEC as f64
    }

    /// The time from `earlier` to this point; zero when `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> TimeDelta {
        TimeDelta::from_unsigned_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<TimeDelta> for Time {
    type Output = Self;
    fn add(self, rhs: TimeDelta) -> Self {
        Self(self.0.saturating_add_signed(rhs.0))
    }
}

impl AddAssign<TimeDelta> for Time {
    fn add_assign(&mut self, rhs: TimeDelta) {
        *self = *self + rhs;
    }
}

impl Sub<TimeDelta> for Time {
    type Output = Self;
    fn sub(self, rhs: TimeDelta) -> Self {
        self + -rhs
    }
}

impl Sub for Time {
    type Output = TimeDelta;
    fn sub(self, rhs: Self) -> TimeDelta {
        if self >= rhs {
            self.since(rhs)
        } else {
            -rhs.since(self)
        }
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        TimeDelta::from_unsigned_nanos(self.0).fmt(f)
    }
}

/// A point on the other host's clock, in nanoseconds since an unknown origin.
///
/// A `PeerTime` relates to [`Time`] only through differences: `PeerTime - Time` is a
/// one-way delay plus the unknown offset between the clocks, which cancels when
/// two such delays are subtracted from each other.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct PeerTime(i64);

impl PeerTime {
    /// The point `nanos` nanoseconds after the peer's origin; before it when negative.
    #[must_use]
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the peer's origin.
    #[must_use]
    pub const fn as_nanos(self) -> i64 {
        self.0
    }
}

impl Sub<Time> for PeerTime {
    type Output = TimeDelta;
    fn sub(self, rhs: Time) -> TimeDelta {
        TimeDelta(self.0.saturating_sub_unsigned(rhs.0))
    }
}

impl Sub for PeerTime {
    type Output = TimeDelta;
    fn sub(self, rhs: Self) -> TimeDelta {
        TimeDelta(self.0.saturating_sub(rhs.0))
    }
}

impl Add<TimeDelta> for PeerTime {
    type Output = Self;
    fn add(self, rhs: TimeDelta) -> Self {
        Self(self.0.saturating_add(rhs.0))
    }
}

/// A span of time, in nanoseconds; negative when it points backwards.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct TimeDelta(i64);

impl TimeDelta {
    /// An empty span.
    pub const ZERO: Self = Self(0);
    /// The longest span.
    pub const MAX: Self = Self(i64::MAX);

    /// A span of `nanos` nanoseconds.
    #[must_use]
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    const fn from_unsigned_nanos(nanos: u64) -> Self {
        if nanos > i64::MAX as u64 {
            Self::MAX
        } else {
            Self(nanos.cast_signed())
        }
    }

    /// A span of `micros` microseconds.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// A span of `millis` milliseconds.
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// A span of `secs` seconds, rounded to a nanosecond; zero when `secs` is NaN.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "saturates, and NaN is zero"
    )]
    pub fn from_secs(secs: f64) -> Self {
        Self((secs * NANOS_PER_SEC as f64).round() as i64)
    }

    /// The span in nanoseconds.
    #[must_use]
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// The span in milliseconds.
    #[must_use]
    pub fn as_millis(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// The span in seconds.
    #[must_use]
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / NANOS_PER_SEC as f64
    }

    /// `self / other` as a ratio of floats; zero when `other` is zero.
    #[must_use]
    pub fn ratio(self, other: Self) -> f64 {
        if other.0 == 0 {
            0.0
        } else {
            self.0 as f64 / other.0 as f64
        }
    }

    /// This span times `factor`, rounded to a nanosecond; zero when `factor` is NaN.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "saturates, and NaN is zero"
    )]
    pub fn scale(self, factor: f64) -> Self {
        Self((self.0 as f64 * factor).round() as i64)
    }
}

impl Add for TimeDelta {
    type Output = Self;
    fn add(self, rhs: Self) -> Self {
        Self(self.0.saturating_add(rhs.0))
    }
}

impl AddAssign for TimeDelta {
    fn add_assign(&mut self, rhs: Self) {
        *self = *self + rhs;
    }
}

impl Sub for TimeDelta {
    type Output = Self;
    fn sub(self, rhs: Self) -> Self {
        Self(self.0.saturating_sub(rhs.0))
    }
}

impl Neg for TimeDelta {
    type Output = Self;
    fn neg(self) -> Self {
        Self(self.0.saturating_neg())
    }
}

impl Mul<u32> for TimeDelta {
    type Output = Self;
    fn mul(self, rhs: u32) -> Self {
        Self(self.0.saturating_mul(i64::from(rhs)))
    }
}

impl Div<u32> for TimeDelta {
    type Output = Self;
    /// The span divided by `rhs`. Division by zero gives [`TimeDelta::MAX`], as
    /// transmission at a rate of zero does.
    fn div(self, rhs: u32) -> Self {
        Self(self.0.checked_div(i64::from(rhs)).unwrap_or(i64::MAX))
    }
}

impl FromStr for TimeDelta {
    type Err = UnitError;

    /// Parses a duration such as `"10ms"`, `"1.5s"`, `"250us"`, `"2min"` or
    /// `"1h"`. A number without a unit is an error.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        text::parse(
            text,
            &text::Kind {
                name: "duration",
                example: "10ms",
                units: &[
                    ("ns", 1),
                    ("us", 1_000),
                    ("µs", 1_000),
                    ("ms", 1_000_000),
                    ("s", 1_000_000_000),
                    ("min", 60_000_000_000),
                    ("h", 3_600_000_000_000),
                ],
            },
        )
        .map(Self::from_unsigned_nanos)
    }
}

impl fmt::Display for TimeDelta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0;
        if nanos % NANOS_PER_SEC == 0 {
            write!(f, "{}s", nanos / NANOS_PER_SEC)
        } else if nanos % 1_000_000 == 0 {
            write!(f, "{}ms", nanos / 1_000_000)
        } else if nanos % 1_000 == 0 {
            write!(f, "{}us", nanos / 1_000)
        } else {
            write!(f, "{nanos}ns")
        }
    }
}

text::deserialize_from_text!(TimeDelta, "a duration such as \"10ms\"");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_way_delays_cancel_the_clock_offset() {
        let offset = 5_000_000_000;
        let delay = |sent: u64, took: i64| {
            PeerTime::from_nanos(sent.cast_signed() + took + offset) - Time::from_nanos(sent)
        };
        assert_eq!(
            delay(7_000_000, 12_000) - delay(1_000_000, 10_000),
            TimeDelta::from_micros(2)
        );
    }

    #[test]
    fn arithmetic_saturates_instead_of_panicking() {
        assert_eq!(Time::ZERO - TimeDelta::from_millis(1), Time::ZERO);
        assert_eq!(Time::MAX + TimeDelta::MAX, Time::MAX);
        assert_eq!(TimeDelta::MAX + TimeDelta::MAX, TimeDelta::MAX);
        assert_eq!(
            Time::from_millis(1) - Time::from_millis(3),
            TimeDelta::from_millis(-2)
        );
        assert_eq!(TimeDelta::from_secs(f64::NAN), TimeDelta::ZERO);
        assert_eq!(TimeDelta::from_secs(f64::INFINITY), TimeDelta::MAX);
    }

    #[test]
    fn durations_are_read_with_their_unit_and_written_back() {
        for (text, nanos) in [
            ("10ms", 10_000_000),
            ("1.5s", 1_500_000_000),
            ("250us", 250_000),
            ("2min", 120_000_000_000),
            ("0s", 0),
            (" 3 ms ", 3_000_000),
        ] {
            assert_eq!(text.parse(), Ok(TimeDelta::from_nanos(nanos)), "{text}");
        }
        assert_eq!(TimeDelta::from_micros(1500).to_string(), "1500us");
        assert_eq!(TimeDelta::from_millis(2000).to_string(), "2s");
        assert!("10".parse::<TimeDelta>().is_err());
        assert!("-1ms".parse::<TimeDelta>().is_err());
    }
}
