//! Equal intervals of a run, and what is counted in each.

use mimosa_units::{Bytes, Rate, Time, TimeDelta};
use serde_json::{Value, json};

/// The shortest interval, in milliseconds: six frames of 60 a second.
const SHORTEST: i64 = 100;
/// The most intervals: about one for each pixel of a plot.
const MOST: i64 = 600;

/// A run that is divided into equal intervals; the last may be shorter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bins {
    width: TimeDelta,
    end: Time,
    count: usize,
}

impl Bins {
    /// Intervals of 100, 200, 500 ms and so on, few enough for a plot.
    pub(crate) fn of(duration: TimeDelta) -> Self {
        let widths = (0..9).flat_map(|power| [1, 2, 5].map(|factor| factor * 10_i64.pow(power)));
        let mut widths = widths.map(|factor| TimeDelta::from_millis(SHORTEST * factor));
        let in_all = |width: TimeDelta| {
            let whole = duration.as_nanos() / width.as_nanos();
            whole + i64::from(duration.as_nanos() % width.as_nanos() > 0)
        };
        let width = widths.find(|width| in_all(*width) <= MOST);
        // Longer than a time can be.
        let width = width.unwrap_or(TimeDelta::MAX);
        Self {
            width,
            end: Time::ZERO + duration,
            count: usize::try_from(in_all(width)).unwrap_or_default(),
        }
    }

    /// Number of intervals.
    pub(crate) const fn count(self) -> usize {
        self.count
    }

    /// Length of an interval.
    pub(crate) const fn width(self) -> TimeDelta {
        self.width
    }

    /// The number of the interval with `at` in it; `None` from the end on.
    fn index(self, at: Time) -> Option<usize> {
        let width = self.width.as_nanos().unsigned_abs().max(1);
        let index = usize::try_from(at.as_nanos() / width).ok()?;
        (at < self.end).then_some(index)
    }

    /// Beginning and end of each interval.
    pub(crate) fn spans(self) -> impl Iterator<Item = (Time, Time)> {
        let starts = std::iter::successors(Some(Time::ZERO), move |at| Some(*at + self.width));
        starts
            .take(self.count)
            .map(move |at| (at, (at + self.width).min(self.end)))
    }
}

/// Bytes in each interval.
#[derive(Clone, Debug)]
pub(crate) struct Amounts {
    bins: Bins,
    bytes: Vec<Bytes>,
}

impl Amounts {
    pub(crate) fn new(bins: Bins) -> Self {
        Self {
            bins,
            bytes: vec![Bytes::ZERO; bins.count()],
        }
    }

    pub(crate) fn add(&mut self, at: Time, size: Bytes) {
        let index = self.bins.index(at);
        if let Some(bytes) = index.and_then(|index| self.bytes.get_mut(index)) {
            *bytes += size;
        }
    }

    /// The rate in each interval, in Mbit/s.
    pub(crate) fn mbps(&self) -> Vec<f64> {
        let spans = self.bins.spans().zip(&self.bytes);
        spans
            .map(|((from, to), bytes)| thousandths(Rate::of(*bytes, to.since(from)).as_mbps()))
            .collect()
    }
}

/// Mean and worst of the values in each interval.
#[derive(Clone, Debug)]
pub(crate) struct Values {
    bins: Bins,
    /// Number, sum and highest of the values.
    all: Vec<(u32, f64, f64)>,
}

impl Values {
    pub(crate) fn new(bins: Bins) -> Self {
        Self {
            bins,
            all: vec![(0, 0.0, 0.0); bins.count()],
        }
    }

    /// Counts a value, which is not negative.
    pub(crate) fn add(&mut self, at: Time, value: f64) {
        let index = self.bins.index(at);
        if let Some((count, sum, worst)) = index.and_then(|index| self.all.get_mut(index)) {
            *count += 1;
            *sum += value;
            *worst = worst.max(value);
        }
    }

    /// The mean of each interval; `null` where there was no value.
    pub(crate) fn means(&self) -> Value {
        let mean = |(count, sum, _): &(u32, f64, f64)| {
            (*count > 0).then(|| thousandths(sum / f64::from(*count)))
        };
        json!(self.all.iter().map(mean).collect::<Vec<_>>())
    }

    /// The highest value of each interval; `null` where there was no value.
    pub(crate) fn worst(&self) -> Value {
        let worst = |(count, _, worst): &(u32, f64, f64)| (*count > 0).then(|| thousandths(*worst));
        json!(self.all.iter().map(worst).collect::<Vec<_>>())
    }
}

/// `value` to three decimals, which no plot can show.
pub(crate) fn thousandths(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bins(millis: i64) -> Bins {
        Bins::of(TimeDelta::from_millis(millis))
    }

    #[test]
    fn intervals_are_round_and_few() {
        for (duration, width, count) in [
            (1, 100, 1),
            (30_000, 100, 300),
            (60_000, 100, 600),
            (60_001, 200, 301),
            (120_000, 200, 600),
            (3_600_000, 10_000, 360),
        ] {
            let bins = bins(duration);
            let width = TimeDelta::from_millis(width);
            assert_eq!((bins.width(), bins.count()), (width, count), "{duration}");
        }
        assert!(Bins::of(TimeDelta::MAX).count() <= 600);
    }

    #[test]
    fn a_short_last_interval_has_its_own_length() {
        let mut amounts = Amounts::new(bins(150));
        for millis in [0, 99, 100, 149, 150, 999] {
            amounts.add(Time::from_millis(millis), Bytes::new(625));
        }
        assert_eq!(amounts.mbps(), [0.1, 0.2]);
    }

    #[test]
    fn an_interval_without_values_has_none() {
        let mut values = Values::new(bins(300));
        for (millis, value) in [(0, 1.0), (50, 4.0), (299, 3.0), (300, 9.0)] {
            values.add(Time::from_millis(millis), value);
        }
        assert_eq!(values.means(), json!([2.5, null, 3.0]));
        assert_eq!(values.worst(), json!([4.0, null, 3.0]));
    }
}
