//! Finds where an axis begins and ends, and the labels of its ticks.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;

/// A range of values with ticks at round ones.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    pub(crate) low: f64,
    pub(crate) high: f64,
    step: f64,
}

/// Room left above the highest value, as a share of the range, so that a line
/// there does not hide in the frame.
const HEADROOM: f64 = 0.04;

/// The narrowest range shown, relative to its values. In a narrower one, ticks would only differ by
/// rounding.
const NARROWEST: f64 = 1e-9;

impl Axis {
    /// An axis from `low` to `high` exactly, with up to `intervals` between
    /// ticks.
    pub(crate) fn exact(low: f64, high: f64, intervals: f64) -> Self {
        let largest = low.abs().max(high.abs());
        let (low, high) = if largest < f64::MIN_POSITIVE {
            (0.0, 1.0)
        } else if high - low <= largest * NARROWEST {
            (low - largest * 0.05, high + largest * 0.05)
        } else {
            (low, high)
        };
        let step = round_step((high - low) / intervals);
        Self { low, high, step }
    }

    /// An axis that shows `low`, `high` and zero, and ends at ticks.
    pub(crate) fn around(low: f64, high: f64, intervals: f64) -> Self {
        let (low, high) = (low.min(0.0), high.max(0.0));
        let room = (high - low) * HEADROOM;
        let low = if low < 0.0 { low - room } else { low };
        let high = if high > 0.0 { high + room } else { high };
        let inner = Self::exact(low, high, intervals);
        Self {
            low: libm::floor(inner.low / inner.step) * inner.step,
            high: libm::ceil(inner.high / inner.step) * inner.step,
            step: inner.step,
        }
    }

    /// The ticks, from low to high.
    pub(crate) fn ticks(&self) -> Vec<f64> {
        let first = libm::ceil(self.low / self.step - 1e-6);
        let last = libm::floor(self.high / self.step + 1e-6);
        std::iter::successors(Some(first), |count| (*count < last).then_some(count + 1.0))
            .map(|count| count * self.step + 0.0) // never a negative zero
            .collect()
    }

    /// The label of a tick, with enough digits to distinguish neighbours.
    pub(crate) fn label(&self, tick: f64) -> String {
        let shows = |text: &str, value: f64| {
            text.parse::<f64>()
                .is_ok_and(|shown| (shown - value).abs() <= self.step * 1e-6)
        };
        if self.low.abs().max(self.high.abs()) < 1e6 && self.step >= 1e-4 {
            let decimals = (0..6).find(|&n| shows(&format!("{:.n$}", self.step), self.step));
            format!("{tick:.*}", decimals.unwrap_or(6))
        } else if tick.abs() < self.step / 2.0 {
            "0".into()
        } else {
            (0..15)
                .map(|digits| format!("{tick:.digits$e}"))
                .find(|text| shows(text, tick))
                .unwrap_or_else(|| format!("{tick:e}"))
        }
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        RangedCoordf64::from(self.range()).map(value, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() {
            return Vec::new(); // one grid, at the ticks
        }
        self.ticks()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        self.label(*value)
    }
}

/// The smallest round number that is at least `raw`.
fn round_step(raw: f64) -> f64 {
    let unit = libm::pow(10.0, libm::floor(libm::log10(raw)));
    [1.0, 2.0, 2.5, 5.0]
        .into_iter()
        .map(|factor| factor * unit)
        .find(|step| *step >= raw * (1.0 - 1e-9))
        .unwrap_or(10.0 * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<String> {
        let ticks = axis.ticks();
        ticks.into_iter().map(|tick| axis.label(tick)).collect()
    }

    #[test]
    fn ticks_are_round_and_few() {
        let axis = Axis::around(0.3, 47.0, 7.0);
        assert_eq!(labels(&axis), ["0", "10", "20", "30", "40", "50"]);
        for high in [0.012, 0.9, 3.0, 7.2, 8.1, 19.0, 26.0, 144.0, 3.3e5, 4e9] {
            let ticks = Axis::around(0.0, high, 7.0).ticks().len();
            assert!((5..=9).contains(&ticks), "{ticks} ticks up to {high}");
        }
    }

    #[test]
    fn labels_have_the_digits_of_their_step() {
        let axis = Axis::exact(0.0, 1.0, 4.0);
        assert_eq!(labels(&axis), ["0.00", "0.25", "0.50", "0.75", "1.00"]);
        let axis = Axis::exact(-2e9, 2e9, 4.0);
        assert_eq!(labels(&axis), ["-2e9", "-1e9", "0", "1e9", "2e9"]);
        let axis = Axis::exact(0.0, 3e-6, 3.0);
        assert_eq!(labels(&axis), ["0", "1e-6", "2e-6", "3e-6"]);
    }

    #[test]
    fn a_range_without_width_is_widened() {
        for value in [0.0, 1e-310, 5.0, -7e12, 1e300] {
            let axis = Axis::exact(value, value, 7.0);
            assert!(axis.low <= value && value < axis.high, "{axis:?}");
            assert!((3..=9).contains(&axis.ticks().len()), "{axis:?}");
        }
    }

    #[test]
    fn the_highest_value_stays_off_the_frame() {
        let axis = Axis::around(0.0, 100.0, 7.0);
        assert!(axis.high > 100.0 && axis.low.abs() < f64::EPSILON);
    }
}
