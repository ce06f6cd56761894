//! Small statistics.

use mimosa_units::{TimeDelta, nearest_rank};

use crate::record::Delays;

/// `value` rounded to six decimals, so that figures can be read and compared.
pub(crate) fn round(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// The mean; `None` without values.
pub(crate) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut n, mut sum) = (0.0, 0.0);
    for value in values {
        n += 1.0;
        sum += value;
    }
    (n > 0.0).then(|| sum / n)
}

/// Standard deviation over mean; `None` unless the mean is above zero.
pub(crate) fn variation(values: &[f64]) -> Option<f64> {
    let mean = mean(values.iter().copied()).filter(|mean| *mean > 0.0)?;
    let squares = self::mean(values.iter().map(|x| (x - mean) * (x - mean)))?;
    Some(round(squares.sqrt() / mean))
}

/// Jain's fairness index; `None` if all values are zero.
pub(crate) fn jain(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|x| x * x).sum();
    (squares > 0.0).then(|| round(sum * sum / (values.len() as f64 * squares)))
}

/// Number of turns of a series by more than a tenth of its mean, and their mean size as a share of
/// the mean. `None` unless the mean is above zero.
pub(crate) fn turns(values: &[f64]) -> Option<(usize, Option<f64>)> {
    let mean = mean(values.iter().copied()).filter(|mean| *mean > 0.0)?;
    let least = mean / 10.0;
    let first = *values.first()?;
    let (mut low, mut high, mut rising) = (first, first, None);
    let mut swings = Vec::new();
    for &value in values {
        low = low.min(value);
        high = high.max(value);
        // An extreme counts once the series is far enough away from it.
        if rising != Some(true) && value - low > least {
            if rising.is_some() {
                swings.push((high - low) / mean);
            }
            (rising, high) = (Some(true), value);
        } else if rising != Some(false) && high - value > least {
            if rising.is_some() {
                swings.push((high - low) / mean);
            }
            (rising, low) = (Some(false), value);
        }
    }
    Some((swings.len(), self::mean(swings.iter().copied()).map(round)))
}

/// Mean and percentiles of delays, which are sorted here; `None` without values.
pub(crate) fn delays(values: &mut [TimeDelta]) -> Option<Delays> {
    values.sort_unstable();
    let at = |share| nearest_rank(values, share).map(|delay| round(delay.as_millis()));
    let nanos: i128 = values
        .iter()
        .map(|delay| i128::from(delay.as_nanos()))
        .sum();
    Some(Delays {
        mean: round(nanos as f64 / values.len() as f64 / 1e6),
        p95: at(0.95)?,
        p99: at(0.99)?,
        max: at(1.0)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_nearest_ranks() {
        let mut values: Vec<_> = (1..=200).rev().map(TimeDelta::from_millis).collect();
        let delays = delays(&mut values).unwrap();
        assert_eq!(
            (delays.mean, delays.p95, delays.p99, delays.max),
            (100.5, 190.0, 198.0, 200.0)
        );
        assert_eq!(super::delays(&mut []), None);
    }

    #[test]
    fn variation_is_deviation_over_mean() {
        assert_eq!(variation(&[1.0, 3.0]), Some(0.5));
        assert_eq!(variation(&[0.0, 0.0]), None);
    }

    #[test]
    fn jain_is_one_for_equals_and_a_half_for_one_of_two() {
        assert_eq!(jain(&[2.0, 2.0]), Some(1.0));
        assert_eq!(jain(&[2.0, 0.0]), Some(0.5));
    }

    #[test]
    fn turns_are_counted_beyond_a_tenth_of_the_mean() {
        // Up by 10, down by 10, up by 10: two turns, each after a swing of the size of the mean.
        let saw = [5.0, 10.0, 15.0, 10.0, 5.0, 10.0, 15.0];
        let mean = 10.0;
        assert_eq!(turns(&saw), Some((2, Some(round(10.0 / mean)))));
        assert_eq!(turns(&[10.0, 10.4, 9.9, 10.3]), Some((0, None)));
    }
}
