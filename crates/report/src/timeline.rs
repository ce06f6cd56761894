//! A session cut into equal stretches of time.

use mimosa_record::SessionFrame;
use mimosa_units::{Time, TimeDelta};

/// So many values across a figure are told apart with ease.
const MOST: u32 = 250;
/// Above this, time is shown in minutes.
const IN_SECONDS: TimeDelta = TimeDelta::from_millis(900_000);

/// A session's frames by the stretch of time that they were captured in.
pub(crate) struct Timeline<'a> {
    begin: Time,
    end: Time,
    width: TimeDelta,
    bins: Vec<&'a [SessionFrame]>,
}

impl<'a> Timeline<'a> {
    /// Cuts `frames`, which are in the order of their capture, into stretches
    /// of 1, 2, 5, 10 times `least` and so on, few enough for a figure.
    pub(crate) fn new(frames: &'a [SessionFrame], least: TimeDelta) -> Self {
        let begin = frames.first().map_or(Time::ZERO, |frame| frame.captured);
        let end = frames.last().map_or(begin, |frame| {
            frame.captured + frame.life.interval.max(TimeDelta::ZERO)
        });
        let width = width(end.since(begin), least);
        let number = |frame: &SessionFrame| index(frame.captured.since(begin), width);
        Self {
            begin,
            end,
            width,
            bins: frames
                .chunk_by(|one, other| number(one) == number(other))
                .collect(),
        }
    }

    /// What the figures' x axis says.
    pub(crate) fn label(&self) -> &'static str {
        if self.in_seconds() {
            "Time (s)"
        } else {
            "Time (min)"
        }
    }

    /// How wide the stretches are, to be read.
    pub(crate) fn width(&self) -> String {
        let millis = self.width.as_millis();
        if millis < 1000.0 {
            format!("{millis} ms")
        } else {
            format!("{} s", millis / 1000.0)
        }
    }

    /// Where the x axis ends.
    pub(crate) fn end(&self) -> f64 {
        self.at(self.end)
    }

    /// Where `time` is on the x axis.
    pub(crate) fn at(&self, time: Time) -> f64 {
        let seconds = (time - self.begin).as_secs();
        if self.in_seconds() {
            seconds
        } else {
            seconds / 60.0
        }
    }

    /// For each stretch its middle and what `value` says of its frames and of
    /// their time in seconds, with gaps where it says nothing.
    pub(crate) fn middles(
        &self,
        value: impl Fn(&'a [SessionFrame], f64) -> Option<f64>,
    ) -> Vec<(f64, f64)> {
        let mut points = Vec::new();
        let mut before = None;
        for bin in &self.bins {
            let (number, from, to) = self.span(bin);
            let middle = self.at(from + to.since(from) / 2);
            if before.is_some_and(|before| before + 1 < number) {
                points.push((middle, f64::NAN));
            }
            let value = value(bin, to.since(from).as_secs());
            points.push((middle, value.unwrap_or(f64::NAN)));
            before = Some(number);
        }
        points
    }

    /// For each stretch its middle and what `value` makes of the `points` in it,
    /// which are in the order of time.
    pub(crate) fn of_points(
        &self,
        points: &[(Time, f64)],
        value: impl Fn(&mut dyn Iterator<Item = f64>) -> Option<f64>,
    ) -> Vec<(f64, f64)> {
        let number = |point: &(Time, f64)| index(point.0.since(self.begin), self.width);
        let parts = points.chunk_by(|one, other| number(one) == number(other));
        parts
            .filter_map(|part| {
                let from = self.from(number(part.first()?));
                let value = value(&mut part.iter().map(|point| point.1))?;
                let middle = self.at(from + self.width / 2);
                Some((middle.min(self.end()), value))
            })
            .collect()
    }

    /// For each stretch its beginning and what `value` says of its frames: a
    /// value that holds until the next, with gaps where it says nothing.
    pub(crate) fn steps(
        &self,
        value: impl Fn(&'a [SessionFrame]) -> Option<f64>,
    ) -> Vec<(f64, f64)> {
        let mut points: Vec<(f64, f64)> = Vec::new();
        let mut reached = self.begin;
        for bin in &self.bins {
            let (_, from, to) = self.span(bin);
            if from > reached {
                points.push((self.at(reached), f64::NAN));
            }
            points.push((self.at(from), value(bin).unwrap_or(f64::NAN)));
            reached = to;
        }
        points.push((self.at(reached), f64::NAN));
        points
    }

    /// A stretch's number, beginning and end.
    fn span(&self, bin: &[SessionFrame]) -> (i64, Time, Time) {
        let captured = bin.first().map_or(self.begin, |frame| frame.captured);
        let number = index(captured.since(self.begin), self.width);
        let from = self.from(number);
        (number, from, (from + self.width).min(self.end).max(from))
    }

    /// When the stretch with this number begins.
    fn from(&self, number: i64) -> Time {
        self.begin + TimeDelta::from_nanos(self.width.as_nanos().saturating_mul(number))
    }

    fn in_seconds(&self) -> bool {
        self.end.since(self.begin) <= IN_SECONDS
    }
}

fn index(since: TimeDelta, width: TimeDelta) -> i64 {
    since.as_nanos() / width.as_nanos()
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
}
