//! An axis of time that is divided into equal intervals.

use mimosa_units::TimeDelta;

/// Most intervals in a figure.
const MOST: u32 = 250;
/// Time span above which the axis is in minutes.
const IN_SECONDS: TimeDelta = TimeDelta::from_millis(900_000);

/// A time span from zero, in intervals of equal width.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    span: TimeDelta,
    width: TimeDelta,
}

impl Axis {
    /// Divides `span` into intervals of 1, 2, 5, 10 times `least` and so on, few enough for a
    /// figure.
    pub(crate) fn new(span: TimeDelta, least: TimeDelta) -> Self {
        Self {
            span,
            width: width(span, least),
        }
    }

    /// Label of a figure's x axis.
    pub(crate) fn label(&self) -> &'static str {
        if self.in_seconds() {
            "Time (s)"
        } else {
            "Time (min)"
        }
    }

    /// Width of the intervals, as text.
    pub(crate) fn width_text(&self) -> String {
        let millis = self.width.as_millis();
        if millis < 1000.0 {
            format!("{millis} ms")
        } else {
            format!("{} s", millis / 1000.0)
        }
    }

    /// Width of the intervals.
    pub(crate) const fn width(&self) -> TimeDelta {
        self.width
    }

    /// Length of the axis.
    pub(crate) const fn span(&self) -> TimeDelta {
        self.span
    }

    /// Position of the axis's end, in the unit of its label.
    pub(crate) fn end(&self) -> f64 {
        self.at(self.span)
    }

    /// Position of the time `since` after zero, in the unit of the label.
    pub(crate) fn at(&self, since: TimeDelta) -> f64 {
        let seconds = since.as_secs();
        if self.in_seconds() {
            seconds
        } else {
            seconds / 60.0
        }
    }

    /// Number of intervals.
    pub(crate) fn stretches(&self) -> usize {
        let last = self.index(self.span - TimeDelta::from_nanos(1));
        usize::try_from(last).map_or(0, |last| last + 1)
    }

    /// Index of the interval that contains this time, if it is on the axis.
    pub(crate) fn stretch(&self, since: TimeDelta) -> Option<usize> {
        let is_on = since >= TimeDelta::ZERO && since < self.span;
        let index = is_on.then(|| self.index(since))?;
        usize::try_from(index).ok()
    }

    /// Beginning and end of an interval.
    pub(crate) fn bounds(&self, stretch: usize) -> (TimeDelta, TimeDelta) {
        let from = self.from(i64::try_from(stretch).unwrap_or(i64::MAX));
        (from, (from + self.width).min(self.span).max(from))
    }

    /// Number of the interval that contains this time, which may be off the axis.
    pub(crate) fn index(&self, since: TimeDelta) -> i64 {
        since.as_nanos().div_euclid(self.width.as_nanos())
    }

    /// Beginning of the interval with this number.
    pub(crate) fn from(&self, number: i64) -> TimeDelta {
        TimeDelta::from_nanos(self.width.as_nanos().saturating_mul(number))
    }

    fn in_seconds(&self) -> bool {
        self.span <= IN_SECONDS
    }
}

/// The least round multiple of `least` that divides `span` into few enough intervals.
fn width(span: TimeDelta, least: TimeDelta) -> TimeDelta {
    let mut decade = least;
    loop {
        for factor in [1, 2, 5] {
            let width = decade * factor;
            if width * MOST >= span {
                return width;
            }
        }
        decade = decade * 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_round_and_few() {
        let secs = |secs| TimeDelta::from_secs(secs);
        let least = TimeDelta::from_millis(100);
        for (span, expected) in [
            (0.0, 0.1),
            (25.0, 0.1),
            (26.0, 0.2),
            (120.0, 0.5),
            (3_600.0, 20.0),
        ] {
            assert_eq!(width(secs(span), least), secs(expected), "{span} s");
        }
        assert!(width(TimeDelta::MAX, least) * MOST == TimeDelta::MAX);
    }

    #[test]
    fn the_last_stretch_ends_with_the_axis() {
        let ms = TimeDelta::from_millis;
        let axis = Axis::new(ms(950), ms(100));
        assert_eq!(axis.stretches(), 10);
        assert_eq!(axis.bounds(9), (ms(900), ms(950)));
        assert_eq!(axis.stretch(ms(949)), Some(9));
        assert_eq!(axis.stretch(ms(950)), None);
        assert_eq!(axis.stretch(ms(-1)), None);
        assert_eq!(Axis::new(TimeDelta::ZERO, ms(100)).stretches(), 0);
    }
}
