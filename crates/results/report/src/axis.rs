//! An axis of time, cut into equal stretches.

use mimosa_units::TimeDelta;

/// So many values across a figure are told apart with ease.
const MOST: u32 = 250;
/// Above this, time is shown in minutes.
const IN_SECONDS: TimeDelta = TimeDelta::from_millis(900_000);

/// A span of time from zero on, in stretches of equal width.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    span: TimeDelta,
    width: TimeDelta,
}

impl Axis {
    /// Cuts `span` into stretches of 1, 2, 5, 10 times `least` and so on, few
    /// enough for a figure.
    pub(crate) fn new(span: TimeDelta, least: TimeDelta) -> Self {
        Self {
            span,
            width: width(span, least),
        }
    }

    /// What a figure's x axis says.
    pub(crate) fn label(&self) -> &'static str {
        if self.in_seconds() {
            "Time (s)"
        } else {
            "Time (min)"
        }
    }

    /// How wide the stretches are, to be read.
    pub(crate) fn width_text(&self) -> String {
        let millis = self.width.as_millis();
        if millis < 1000.0 {
            format!("{millis} ms")
        } else {
            format!("{} s", millis / 1000.0)
        }
    }

    /// How wide the stretches are.
    pub(crate) const fn width(&self) -> TimeDelta {
        self.width
    }

    /// The whole.
    pub(crate) const fn span(&self) -> TimeDelta {
        self.span
    }

    /// Where the axis ends.
    pub(crate) fn end(&self) -> f64 {
        self.at(self.span)
    }

    /// Where so much time after zero is.
    pub(crate) fn at(&self, since: TimeDelta) -> f64 {
        let seconds = since.as_secs();
        if self.in_seconds() {
            seconds
        } else {
            seconds / 60.0
        }
    }

    /// How many stretches there are.
    pub(crate) fn stretches(&self) -> usize {
        let last = self.index(self.span - TimeDelta::from_nanos(1));
        usize::try_from(last).map_or(0, |last| last + 1)
    }

    /// The stretch that has this moment, if it is on the axis.
    pub(crate) fn stretch(&self, since: TimeDelta) -> Option<usize> {
        let is_on = since >= TimeDelta::ZERO && since < self.span;
        let index = is_on.then(|| self.index(since))?;
        usize::try_from(index).ok()
    }

    /// When a stretch begins and ends.
    pub(crate) fn bounds(&self, stretch: usize) -> (TimeDelta, TimeDelta) {
        let from = self.from(i64::try_from(stretch).unwrap_or(i64::MAX));
        (from, (from + self.width).min(self.span).max(from))
    }

    /// The number of the stretch that has this moment.
    pub(crate) fn index(&self, since: TimeDelta) -> i64 {
        since.as_nanos().div_euclid(self.width.as_nanos())
    }

    /// When the stretch with this number begins.
    pub(crate) fn from(&self, number: i64) -> TimeDelta {
        TimeDelta::from_nanos(self.width.as_nanos().saturating_mul(number))
    }

    fn in_seconds(&self) -> bool {
        self.span <= IN_SECONDS
    }
}

/// The least round multiple of `least` that cuts `span` into few stretches.
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
