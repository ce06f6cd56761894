//! A session that is divided into equal intervals of time.

use mimosa_facts::SessionFrame;
use mimosa_units::{Time, TimeDelta};

use crate::axis::Axis;

/// A session's frames, by the interval of their capture.
pub(crate) struct Timeline<'a> {
    begin: Time,
    axis: Axis,
    bins: Vec<&'a [SessionFrame]>,
}

impl<'a> Timeline<'a> {
    /// Divides `frames`, which are in the order of their capture, into intervals of 1, 2, 5, 10
    /// times `least` and so on, few enough for a figure.
    pub(crate) fn new(frames: &'a [SessionFrame], least: TimeDelta) -> Self {
        let begin = frames.first().map_or(Time::ZERO, |frame| frame.captured);
        let end = frames.last().map_or(begin, |frame| {
            frame.captured + frame.life.interval.max(TimeDelta::ZERO)
        });
        let axis = Axis::new(end.since(begin), least);
        let number = |frame: &SessionFrame| axis.index(frame.captured.since(begin));
        Self {
            begin,
            axis,
            bins: frames
                .chunk_by(|one, other| number(one) == number(other))
                .collect(),
        }
    }

    /// Beginning of the session.
    pub(crate) const fn begin(&self) -> Time {
        self.begin
    }

    /// Axis of the session.
    pub(crate) const fn axis(&self) -> &Axis {
        &self.axis
    }

    /// Position of the axis's end.
    pub(crate) fn end(&self) -> f64 {
        self.axis.end()
    }

    /// Position of `time` on the axis.
    pub(crate) fn at(&self, time: Time) -> f64 {
        self.axis.at(time - self.begin)
    }

    /// For each interval, its middle and the `value` of its frames and of its length in seconds,
    /// with gaps where there is no value.
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

    /// For each interval, its middle and the `value` of the `points` in it, which are in the order
    /// of time.
    pub(crate) fn of_points(
        &self,
        points: &[(Time, f64)],
        value: impl Fn(&mut dyn Iterator<Item = f64>) -> Option<f64>,
    ) -> Vec<(f64, f64)> {
        let number = |point: &(Time, f64)| self.axis.index(point.0.since(self.begin));
        let parts = points.chunk_by(|one, other| number(one) == number(other));
        parts
            .filter_map(|part| {
                let from = self.from(number(part.first()?));
                let value = value(&mut part.iter().map(|point| point.1))?;
                let middle = self.at(from + self.axis.width() / 2);
                Some((middle.min(self.end()), value))
            })
            .collect()
    }

    /// For each interval, its beginning and the `value` of its frames, which is valid until the
    /// next, with gaps where there is no value.
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

    /// Number, beginning and end of an interval.
    fn span(&self, bin: &[SessionFrame]) -> (i64, Time, Time) {
        let captured = bin.first().map_or(self.begin, |frame| frame.captured);
        let number = self.axis.index(captured.since(self.begin));
        let from = self.from(number);
        let end = self.begin + self.axis.span();
        (number, from, (from + self.axis.width()).min(end).max(from))
    }

    /// Beginning of the interval with this number.
    fn from(&self, number: i64) -> Time {
        self.begin + self.axis.from(number)
    }
}
