//! Shares, percentiles and an index of fairness, rounded so that they can be read.

use mimosa_units::{TimeDelta, nearest_rank};

use crate::figures::FrameDelays;

/// The delays of completed frames, which are sorted on the way; `None` without frames.
pub(crate) fn frame_delays(delays: &mut [TimeDelta]) -> Option<FrameDelays> {
    delays.sort_unstable();
    let sum: i128 = delays
        .iter()
        .map(|delay| i128::from(delay.as_nanos()))
        .sum();
    let at = |share: f64| Some(round(nearest_rank(delays, share)?.as_millis(), 3));
    Some(FrameDelays {
        mean: round(sum as f64 / delays.len() as f64 / 1e6, 3),
        p50: at(0.50)?,
        p95: at(0.95)?,
        p99: at(0.99)?,
        max: at(1.0)?,
    })
}

/// Jain's fairness index; `None` without flows.
pub(crate) fn jain(throughputs: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for x in throughputs {
        n += 1.0;
        sum += x;
        squares += x * x;
    }
    (squares > 0.0).then(|| round(sum * sum / (n * squares), 6))
}

/// `part` over `whole`, to six decimals; `None` of nothing.
pub(crate) fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| round(part as f64 / whole as f64, 6))
}

/// `value` to so many decimals, so that figures can be read and compared.
pub(crate) fn round(value: f64, decimals: u32) -> f64 {
    let scale = f64::from(10_u32.pow(decimals));
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jain_is_one_for_equals_and_a_third_for_one_of_three() {
        assert_eq!(jain([5.0, 5.0, 5.0].into_iter()), Some(1.0));
        assert_eq!(jain([9.0, 0.0, 0.0].into_iter()), Some(0.333_333));
        assert_eq!(jain([].into_iter()), None);
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let ms = |ms| TimeDelta::from_millis(ms);
        let mut delays: Vec<_> = (1..=100).rev().map(ms).collect();
        let delays = frame_delays(&mut delays).unwrap();
        assert_eq!(
            (delays.p50, delays.p95, delays.p99, delays.max, delays.mean),
            (50.0, 95.0, 99.0, 100.0, 50.5)
        );
        assert_eq!(frame_delays(&mut []), None);
    }
}
