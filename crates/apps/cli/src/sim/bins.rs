//! Summarises long series: one value for each interval of time.

use mimosa_figures::Window;
use mimosa_units::{Time, TimeDelta};

/// Most intervals in a figure.
const MOST: u32 = 200;
/// Longest interval at which every frame is drawn: at 60 fps, no interval has more than two.
const EACH: TimeDelta = TimeDelta::from_millis(20);
/// Longest time between two points that a line connects.
const SILENCE: TimeDelta = TimeDelta::from_millis(500);

/// A window that is divided into equal intervals, which begin at multiples of their width.
#[derive(Clone, Copy)]
pub(super) struct Bins {
    window: Window,
    width: TimeDelta,
}

/// How an interval is summarised.
#[derive(Clone, Copy)]
pub(super) enum Summary {
    Mean,
    Worst,
}

impl Bins {
    /// Intervals of 10, 20, 50, 100 ms and so on, few enough for a figure.
    pub(super) fn of(window: Window) -> Self {
        let least = window.to.since(window.from) / MOST;
        let mut decade = TimeDelta::from_millis(10);
        loop {
            for factor in [1, 2, 5] {
                let width = decade * factor;
                if width >= least {
                    return Self { window, width };
                }
            }
            decade = decade * 10;
        }
    }

    /// Whether every frame and packet can be drawn.
    pub(super) fn shows_each(self) -> bool {
        self.width <= EACH
    }

    /// Width of the intervals.
    pub(super) fn width(self) -> TimeDelta {
        self.width
    }

    /// The words about [`Self::summarise`] for a title.
    pub(super) fn title(self, summary: Summary) -> String {
        let width = self.width.as_millis();
        match summary {
            _ if self.shows_each() => String::new(),
            Summary::Mean => format!(", means over {width} ms"),
            Summary::Worst => format!(", worst in every {width} ms"),
        }
    }

    /// One point at the middle of each interval that has points, unless each point can be drawn.
    /// `points` are in order of time.
    pub(super) fn summarise(self, points: Vec<(Time, f64)>, summary: Summary) -> Vec<(Time, f64)> {
        if self.shows_each() {
            return points;
        }
        points
            .chunk_by(|one, other| self.start(one.0) == self.start(other.0))
            .map(|part| {
                let values = part.iter().map(|(_, value)| *value);
                let value = match summary {
                    Summary::Mean => values.sum::<f64>() / part.len() as f64,
                    Summary::Worst => values.fold(f64::MIN, f64::max),
                };
                (self.start(part[0].0) + self.width / 2, value)
            })
            .collect()
    }

    /// The points as seconds and values, with a gap while the flow was silent.
    pub(super) fn with_gaps(self, points: &[(Time, f64)]) -> Vec<(f64, f64)> {
        let longest = SILENCE.max(self.width * 2);
        let mut drawn = Vec::with_capacity(points.len());
        let mut before: Option<Time> = None;
        for (at, value) in points {
            if let Some(before) = before.filter(|before| at.since(*before) > longest) {
                drawn.push((before.as_secs(), f64::NAN));
            }
            drawn.push((at.as_secs(), *value));
            before = Some(*at);
        }
        drawn
    }

    /// Beginning and end of each interval of the window.
    pub(super) fn spans(self) -> impl Iterator<Item = (Time, Time)> {
        let Window { from, to } = self.window;
        let starts =
            std::iter::successors(Some(self.start(from)), move |at| Some(*at + self.width));
        starts
            .take_while(move |at| *at < to)
            .map(move |at| (at.max(from), (at + self.width).min(to)))
    }

    /// Beginning of the interval that contains `at`.
    fn start(self, at: Time) -> Time {
        let width = self.width.as_nanos().unsigned_abs();
        Time::from_nanos(at.as_nanos() / width * width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bins(from: u64, to: u64) -> Bins {
        Bins::of(Window {
            from: Time::from_millis(from),
            to: Time::from_millis(to),
        })
    }

    fn points(all: &[(u64, f64)]) -> Vec<(Time, f64)> {
        all.iter()
            .map(|(at, value)| (Time::from_millis(*at), *value))
            .collect()
    }

    #[test]
    fn widths_are_round_and_fit_the_window() {
        for (secs, millis) in [
            (1, 10),
            (4, 20),
            (5, 50),
            (30, 200),
            (80, 500),
            (3600, 20_000),
        ] {
            let width = bins(0, secs * 1000).width();
            assert_eq!(width, TimeDelta::from_millis(millis), "{secs} s");
        }
    }

    #[test]
    fn each_stretch_has_its_mean_or_its_worst() {
        let bins = bins(0, 30_000);
        let all = points(&[(10, 1.0), (190, 4.0), (200, 2.0), (900, 3.0)]);
        let means = points(&[(100, 2.5), (300, 2.0), (900, 3.0)]);
        assert_eq!(bins.summarise(all.clone(), Summary::Mean), means);
        let worst = points(&[(100, 4.0), (300, 2.0), (900, 3.0)]);
        assert_eq!(bins.summarise(all, Summary::Worst), worst);
    }

    #[test]
    fn silence_is_a_gap() {
        let drawn = bins(0, 30_000).with_gaps(&points(&[(100, 1.0), (600, 1.0), (1200, 1.0)]));
        let gaps: Vec<_> = drawn.iter().map(|(_, value)| value.is_nan()).collect();
        assert_eq!(gaps, [false, false, true, false]);
    }

    #[test]
    fn spans_cover_the_window() {
        let spans: Vec<_> = bins(30, 9_990).spans().collect();
        assert_eq!(spans[0], (Time::from_millis(30), Time::from_millis(50)));
        assert_eq!(spans.last().unwrap().1, Time::from_millis(9_990));
        assert!(spans.windows(2).all(|pair| pair[0].1 == pair[1].0));
    }
}
