//! The page's clock.

use mimosa_units::TimeDelta;

/// A time on a page's clock, as its `performance.now()` returns it.
///
/// Only a [`ClockMap`](crate::frames::ClockMap) relates it to the host's clock.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct PageTime(f64);

impl PageTime {
    /// The time `millis` milliseconds after the clock's zero; `None` for NaN, infinities and
    /// negative numbers.
    #[must_use]
    pub fn from_millis(millis: f64) -> Option<Self> {
        (millis.is_finite() && millis >= 0.0).then_some(Self(millis))
    }

    /// Milliseconds since the clock's zero.
    #[must_use]
    pub const fn as_millis(self) -> f64 {
        self.0
    }

    /// Time since the clock's zero.
    #[must_use]
    pub fn since_beginning(self) -> TimeDelta {
        TimeDelta::from_secs(self.0 / 1e3)
    }

    /// The time in a message, where NaN is an unknown time.
    pub(crate) fn to_le_bytes(time: Option<Self>) -> [u8; 8] {
        time.map_or(f64::NAN, Self::as_millis).to_le_bytes()
    }

    pub(crate) fn from_le_bytes(bytes: [u8; 8]) -> Option<Self> {
        Self::from_millis(f64::from_le_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_clock_says_is_no_time() {
        for millis in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0] {
            assert_eq!(PageTime::from_millis(millis), None);
        }
        let time = PageTime::from_millis(12.25);
        assert_eq!(
            time.map(PageTime::since_beginning),
            Some(TimeDelta::from_micros(12_250))
        );
        assert_eq!(PageTime::from_le_bytes(PageTime::to_le_bytes(time)), time);
        assert_eq!(PageTime::from_le_bytes(PageTime::to_le_bytes(None)), None);
    }
}
