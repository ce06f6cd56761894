//! Amounts of data.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::str::FromStr;

use crate::text::{self, UnitError};

/// An amount of data, in bytes.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Bytes(u64);

impl Bytes {
    /// An amount of zero bytes.
    pub const ZERO: Self = Self(0);
    /// The largest amount: as a limit it means "no limit".
    pub const MAX: Self = Self(u64::MAX);

    /// An amount of `bytes` bytes.
    #[must_use]
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// An amount of `bytes` bytes, rounded to a whole byte; zero for NaN and for negative numbers.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates at both ends, and NaN is zero"
    )]
    pub fn from_f64(bytes: f64) -> Self {
        Self(bytes.round() as u64)
    }

    /// The amount in bytes.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The amount in bits; saturates.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0.saturating_mul(8)
    }

    /// This amount times `factor`, rounded to a byte; zero when `factor` is NaN or negative.
    #[must_use]
    pub fn scale(self, factor: f64) -> Self {
        Self::from_f64(self.0 as f64 * factor)
    }

    /// The number of pieces of at most `piece` into which this amount is cut:
    /// at least one, and one when `piece` is zero.
    #[must_use]
    pub const fn pieces(self, piece: Self) -> u64 {
        if piece.0 == 0 || self.0 == 0 {
            1
        } else {
            self.0.div_ceil(piece.0)
        }
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, rhs: Self) -> Self {
        Self(self.0.saturating_add(rhs.0))
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, rhs: Self) {
        *self = *self + rhs;
    }
}

impl Sub for Bytes {
    type Output = Self;
    /// The difference of two amounts, which saturates at zero.
    fn sub(self, rhs: Self) -> Self {
        Self(self.0.saturating_sub(rhs.0))
    }
}

impl SubAssign for Bytes {
    fn sub_assign(&mut self, rhs: Self) {
        *self = *self - rhs;
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

impl FromStr for Bytes {
    type Err = UnitError;

    /// Parses a size such as `"1200B"`, `"500kB"` or `"2MB"` (powers of 1000),
    /// or `"64KiB"` or `"1MiB"` (powers of 1024). A number without a unit is an
    /// error.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        text::parse(
            text,
            &text::Kind {
                name: "size",
                example: "500kB",
                units: &[
                    ("B", 1),
                    ("kB", 1_000),
                    ("MB", 1_000_000),
                    ("GB", 1_000_000_000),
                    ("KiB", 1 << 10),
                    ("MiB", 1 << 20),
                ],
            },
        )
        .map(Self)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            b if b >= 1_000_000 && b % 100_000 == 0 => write!(f, "{}MB", b as f64 / 1e6),
            b if b >= 1_000 && b % 100 == 0 => write!(f, "{}kB", b as f64 / 1e3),
            b => write!(f, "{b}B"),
        }
    }
}

text::deserialize_from_text!(Bytes, "a size such as \"500kB\"");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kilo_is_a_thousand_and_kibi_is_not() {
        assert_eq!("500kB".parse(), Ok(Bytes::new(500_000)));
        assert_eq!("1.5MB".parse(), Ok(Bytes::new(1_500_000)));
        assert_eq!("64KiB".parse(), Ok(Bytes::new(65_536)));
        assert!(
            "64kb".parse::<Bytes>().is_err(),
            "a small b would mean bits"
        );
    }

    #[test]
    fn a_frame_is_cut_into_pieces_that_hold_it() {
        let packet = Bytes::new(1200);
        for (frame, pieces) in [(0, 1), (1, 1), (1200, 1), (1201, 2), (104_167, 87)] {
            assert_eq!(Bytes::new(frame).pieces(packet), pieces);
        }
    }

    #[test]
    fn subtraction_stops_at_nothing() {
        assert_eq!(Bytes::new(1) - Bytes::new(2), Bytes::ZERO);
        assert_eq!(Bytes::from_f64(-3.0), Bytes::ZERO);
        assert_eq!(Bytes::from_f64(f64::NAN), Bytes::ZERO);
    }
}
