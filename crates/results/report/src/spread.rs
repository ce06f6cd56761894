//! Percentiles of values.

use mimosa_units::nearest_rank;
use serde::Serialize;

/// Percentiles of values, in the unit of the values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The median.
    pub p50: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The greatest value.
    pub max: f64,
}

impl Spread {
    /// The percentiles of `values`; `None` without any.
    pub(crate) fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let sorted = sorted(values);
        Some(Self {
            p50: nearest_rank(&sorted, 0.50)?,
            p95: nearest_rank(&sorted, 0.95)?,
            p99: nearest_rank(&sorted, 0.99)?,
            max: *sorted.last()?,
        })
    }
}

/// The finite `values` in ascending order.
pub(crate) fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sorted: Vec<_> = values.filter(|value| value.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// `None` when there are no values.
pub(crate) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut count, mut sum) = (0.0, 0.0);
    for value in values.filter(|value| value.is_finite()) {
        count += 1.0;
        sum += value;
    }
    (count > 0.0).then(|| sum / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_there() {
        let spread = Spread::of((1..=200).rev().map(f64::from)).unwrap();
        let expected = Spread {
            p50: 100.0,
            p95: 190.0,
            p99: 198.0,
            max: 200.0,
        };
        assert_eq!(spread, expected);
        let one = Spread::of([7.0, f64::NAN].into_iter());
        assert!(one.is_some_and(|one| one.p50 > 6.9 && one.max < 7.1));
        assert_eq!(Spread::of(std::iter::empty()), None);
    }
}
