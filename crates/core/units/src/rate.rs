//! Data rates.

use std::fmt;
use std::ops::{Add, Sub};
use std::str::FromStr;

use crate::bytes::Bytes;
use crate::text::{self, UnitError};
use crate::time::TimeDelta;

/// A data rate, in bits per second.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Rate(u64);

impl Rate {
    /// The rate at which nothing passes.
    pub const ZERO: Self = Self(0);
    /// The highest rate: as a limit it means "no limit".
    pub const MAX: Self = Self(u64::MAX);

    /// A rate of `bps` bits per second.
    #[must_use]
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }

    /// A rate of `kbps` kilobits (10^3 bits) per second.
    #[must_use]
    pub const fn from_kbps(kbps: u64) -> Self {
        Self(kbps.saturating_mul(1_000))
    }

    /// A rate of `mbps` megabits (10^6 bits) per second, rounded to a bit per
    /// second; zero for NaN and for negative numbers.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates at both ends, and NaN is zero"
    )]
    pub fn from_mbps(mbps: f64) -> Self {
        Self((mbps * 1e6).round() as u64)
    }

    /// The rate in bits per second.
    #[must_use]
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// The rate in megabits per second.
    #[must_use]
    pub fn as_mbps(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// The rate at which `amount` passes in `time`; zero when `time` is not
    /// positive, since there is no such rate then.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates, and both operands are positive"
    )]
    pub fn of(amount: Bytes, time: TimeDelta) -> Self {
        if time <= TimeDelta::ZERO {
            return Self::ZERO;
        }
        Self((amount.bits() as f64 / time.as_secs()).round() as u64)
    }

    /// Time to serialise `size` at this rate, rounded up to a nanosecond;
    /// [`TimeDelta::MAX`] at a rate of zero.
    #[must_use]
    pub const fn transmit_time(self, size: Bytes) -> TimeDelta {
        /// Bits in a byte times nanoseconds in a second.
        const PER_BYTE: u64 = 8 * 1_000_000_000;
        if self.0 == 0 {
            return TimeDelta::MAX;
        }
        let nanos = match size.get().checked_mul(PER_BYTE) {
            Some(scaled) => scaled.div_ceil(self.0),
            None => return TimeDelta::MAX,
        };
        if nanos > i64::MAX as u64 {
            TimeDelta::MAX
        } else {
            TimeDelta::from_nanos(nanos.cast_signed())
        }
    }

    /// The amount that passes at this rate in `time`, rounded to a byte; zero for a negative span.
    #[must_use]
    pub fn amount_in(self, time: TimeDelta) -> Bytes {
        Bytes::from_f64(self.0 as f64 / 8.0 * time.as_secs())
    }

    /// This rate times `factor`, rounded to a bit per second; zero when
    /// `factor` is NaN or negative.
    #[must_use]
    pub fn scale(self, factor: f64) -> Self {
        Self::from_mbps(self.as_mbps() * factor)
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
}

impl Add for Rate {
    type Output = Self;
    fn add(self, rhs: Self) -> Self {
        Self(self.0.saturating_add(rhs.0))
    }
}

impl Sub for Rate {
    type Output = Self;
    /// The difference of two rates, which saturates at zero.
    fn sub(self, rhs: Self) -> Self {
        Self(self.0.saturating_sub(rhs.0))
    }
}

impl FromStr for Rate {
    type Err = UnitError;

    /// Parses a rate such as `"20Mbit/s"`, `"800kbit/s"`, `"1.5Gbit/s"` or
    /// `"9600bit/s"`. A number without a unit is an error.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        text::parse(
            text,
            &text::Kind {
                name: "rate",
                example: "20Mbit/s",
                units: &[
                    ("bit/s", 1),
                    ("kbit/s", 1_000),
                    ("Mbit/s", 1_000_000),
                    ("Gbit/s", 1_000_000_000),
                ],
            },
        )
        .map(Self)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bps if bps >= 1_000_000 && bps % 1_000 == 0 => write!(f, "{}Mbit/s", self.as_mbps()),
            bps if bps >= 1_000 => write!(f, "{}kbit/s", bps as f64 / 1e3),
            bps => write!(f, "{bps}bit/s"),
        }
    }
}

text::deserialize_from_text!(Rate, "a rate such as \"20Mbit/s\"");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_needs_a_unit() {
        assert_eq!("40Mbit/s".parse(), Ok(Rate::from_kbps(40_000)));
        assert_eq!("2.5 Mbit/s".parse(), Ok(Rate::from_kbps(2_500)));
        for bad in ["40", "40Mbps", "Mbit/s", "-1Mbit/s", "nanMbit/s", ""] {
            assert!(bad.parse::<Rate>().is_err(), "{bad}");
        }
    }

    #[test]
    fn transmit_time_never_flatters_the_link() {
        let rate = Rate::from_kbps(40_000);
        assert_eq!(
            rate.transmit_time(Bytes::new(1250)),
            TimeDelta::from_micros(250)
        );
        let third = Rate::from_bps(3);
        assert_eq!(
            third.transmit_time(Bytes::new(1)).as_nanos(),
            2_666_666_667,
            "rounded up"
        );
        assert_eq!(Rate::ZERO.transmit_time(Bytes::new(1)), TimeDelta::MAX);
        assert_eq!(
            Rate::from_bps(1).transmit_time(Bytes::MAX),
            TimeDelta::MAX,
            "saturates"
        );
    }

    #[test]
    fn rate_amount_and_time_agree() {
        let rate = Rate::from_kbps(20_000);
        let span = TimeDelta::from_millis(100);
        assert_eq!(rate.amount_in(span), Bytes::new(250_000));
        assert_eq!(Rate::of(Bytes::new(250_000), span), rate);
        assert_eq!(Rate::of(Bytes::new(1), TimeDelta::ZERO), Rate::ZERO);
    }

    #[test]
    fn rates_are_written_as_they_are_read() {
        for text in ["20Mbit/s", "2.5Mbit/s", "800kbit/s", "7bit/s"] {
            assert_eq!(text.parse::<Rate>().unwrap().to_string(), text);
        }
    }
}
