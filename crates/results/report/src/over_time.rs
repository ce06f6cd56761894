//! The figures over time.

use mimosa_facts::{Evidence, FrameEnd, SessionFrame};
use mimosa_plot::{Figure, Kind, Panel};
use mimosa_units::{Bytes, TimeDelta, nearest_rank};

use crate::causes::{backlog_kb, queue_ms, service_mbps};
use crate::figures::{INSIDE, above, cut, highest, is_seen, over, panel, series};
use crate::sound::{made_up_ms, skew_ms};
use crate::spread::{mean, sorted};
use crate::stages::StageMillis;
use crate::summary::{Summary, delay_ms, gaps, target_mbps};
use crate::timeline::Timeline;

/// Shortest interval for means, which has several frames at 60 fps.
const LEAST: TimeDelta = TimeDelta::from_millis(100);
/// Shortest interval for medians.
const SECOND: TimeDelta = TimeDelta::from_millis(1_000);
/// Causes with their own colours, which make eight with that of all others.
const OWN_COLOUR: usize = 7;

/// Draws a session over time.
pub(crate) struct OverTime<'a> {
    frames: &'a [SessionFrame],
    summary: &'a Summary,
    means: Timeline<'a>,
    medians: Timeline<'a>,
}

impl<'a> OverTime<'a> {
    pub(crate) fn new(frames: &'a [SessionFrame], summary: &'a Summary) -> Self {
        Self {
            frames,
            summary,
            means: Timeline::new(frames, LEAST),
            medians: Timeline::new(frames, SECOND),
        }
    }

    /// The target, the bitrate, and the controller's estimate of the bottleneck's rate.
    pub(crate) fn bitrate(&self) -> Figure {
        let target = self.mean(target_mbps);
        let sent = self.means.middles(|frames, seconds| {
            let sent: Bytes = frames.iter().map(|frame| frame.life.size).sum();
            Some(sent.bits() as f64 / seconds / 1e6).filter(|rate| rate.is_finite())
        });
        let bottleneck = self.mean(|frame| service_mbps(frame.life.decision.evidence));
        let top = highest(&[&target, &sent]) * 1.25;
        let all = vec![
            series("bottleneck, as estimated", Kind::Reference, bottleneck),
            series("target", Kind::Line, target),
            series("sent", Kind::Line, sent),
        ];
        let title = format!("Bitrate, means over {}", self.means.axis().width_text());
        let mut panel = panel(&title, "Mbit/s", all);
        panel.y_range = Some((0.0, top));
        self.figure(panel)
    }

    /// The causes of targets and limits, as shares of the frames.
    pub(crate) fn causes(&self) -> Figure {
        let names: Vec<_> = self
            .summary
            .causes
            .iter()
            .map(|cause| cause.cause)
            .collect();
        let all = names.len();
        let own = if all <= OWN_COLOUR + 1 {
            all
        } else {
            OWN_COLOUR
        };
        let mut areas: Vec<_> = (0..own)
            .map(|rank| (names[rank], &names[..=rank]))
            .collect();
        if own < all {
            areas.push(("others", &names));
        }
        let share = |causes: &[&str], frames: &[SessionFrame]| {
            let is_one =
                |frame: &&SessionFrame| causes.contains(&frame.life.decision.cause.as_str());
            let count = frames.iter().filter(is_one).count();
            Some(count as f64 / frames.len() as f64 * 100.0)
        };
        let areas = areas.into_iter().map(|(name, causes)| {
            let points = self.means.steps(|frames| share(causes, frames));
            series(name, Kind::Area, points)
        });
        let title = format!(
            "Causes, shares of the frames of each {}",
            self.means.axis().width_text()
        );
        let mut panel = panel(&title, "%", areas.collect());
        panel.y_range = Some((0.0, 100.0));
        self.figure(panel)
    }

    /// The frame delay, and the frames that were given up.
    pub(crate) fn frame_delay(&self) -> Figure {
        let worst = self.worst(delay_ms);
        let median = self
            .means
            .middles(|frames, _| nearest_rank(&sorted(frames.iter().filter_map(delay_ms)), 0.5));
        let spread = self.summary.frame_delay_ms;
        let p99 = spread.map_or(0.0, |spread| spread.p99);
        let top = cut(p99, highest(&[&worst]));
        let height = top.map_or_else(|| highest(&[&worst]), |top| top * INSIDE);
        let given_up = self
            .frames
            .iter()
            .filter(|frame| frame.life.end == Some(FrameEnd::GivenUp))
            .map(|frame| (self.means.at(frame.captured), height))
            .collect();
        let mut all = vec![
            series("worst", Kind::Line, worst.clone()),
            series("median", Kind::Line, median),
            series("given up", Kind::Dots, given_up),
        ];
        if let Some(top) = top {
            all.push(above(top, worst));
        }
        if let Some(spread) = spread {
            let level = [0.0, self.means.end()].map(|at| (at, spread.p95));
            let name = format!("p95 of all, {:.1} ms", spread.p95);
            all.push(series(&name, Kind::Reference, level.to_vec()));
        }
        let title = format!("Frame delay, in each {}", self.means.axis().width_text());
        let mut panel = panel(&title, "ms", all);
        panel.y_range = top.map(|top| (0.0, top));
        self.figure(panel)
    }

    /// The stages, stacked; `None` if the browser reported nothing.
    pub(crate) fn stages(&self) -> Option<Figure> {
        let up_to = |last: usize| {
            self.medians.steps(|frames| {
                let stages: Vec<_> = frames.iter().filter_map(SessionFrame::stages).collect();
                let parts = StageMillis::medians(&stages)?.parts();
                Some(parts[..=last].iter().map(|part| part.max(0.0)).sum())
            })
        };
        let names = StageMillis::NAMES.iter().enumerate();
        let areas: Vec<_> = names
            .map(|(last, name)| series(name, Kind::Area, up_to(last)))
            .collect();
        let totals = sorted(areas.last()?.points.iter().map(|point| point.1));
        let top = cut(nearest_rank(&totals, 0.95)?, *totals.last()?);
        let title = format!(
            "Capture to screen, medians over {}",
            self.medians.axis().width_text()
        );
        let mut panel = panel(&title, "ms", areas);
        panel.y_range = top.map(|top| (0.0, top));
        Some(self.figure(panel))
    }

    /// The utilisation of the bottleneck; `None` if the controller does not estimate it.
    pub(crate) fn utilization(&self) -> Option<Figure> {
        let all = [
            series(
                "newest sample",
                Kind::Line,
                self.mean(|frame| frame.life.decision.evidence.utilization),
            ),
            series(
                "smoothed",
                Kind::Line,
                self.mean(|frame| frame.life.decision.evidence.smoothed_utilization),
            ),
        ];
        let mut all: Vec<_> = all.into_iter().filter(is_seen).collect();
        if all.is_empty() {
            return None;
        }
        let full = [0.0, self.means.end()].map(|at| (at, 1.0));
        all.push(series("", Kind::Reference, full.to_vec()));
        let title = format!(
            "Bandwidth utilisation, means over {}",
            self.means.axis().width_text()
        );
        Some(self.figure(panel(&title, "ratio", all)))
    }

    /// The queue in the controller's estimate; `None` if there is none.
    pub(crate) fn queue(&self) -> Option<Figure> {
        let width = self.means.axis().width_text();
        let seen = |value: fn(Evidence) -> Option<f64>| {
            self.mean(move |frame| value(frame.life.decision.evidence))
        };
        let panels = [
            ("Queueing delay", "ms", seen(queue_ms)),
            ("Own data in queues", "kB", seen(backlog_kb)),
        ];
        let panels = panels.into_iter().filter_map(|(what, unit, points)| {
            let line = series("", Kind::Line, points);
            let title = format!("{what}, means over {width}");
            is_seen(&line).then(|| panel(&title, unit, vec![line]))
        });
        let panels: Vec<_> = panels.collect();
        (!panels.is_empty()).then(|| over(self.means.axis(), panels))
    }

    /// Budgets and sizes of frames.
    pub(crate) fn sizes(&self) -> Figure {
        let kilobytes = |size: Bytes| size.get() as f64 / 1e3;
        let dots = |is: fn(&SessionFrame) -> bool| {
            let frames = self.frames.iter().filter(|frame| is(frame));
            frames
                .map(|frame| (self.means.at(frame.captured), kilobytes(frame.coded)))
                .collect()
        };
        let all = vec![
            series(
                "budget",
                Kind::Line,
                self.mean(|frame| Some(kilobytes(frame.budget))),
            ),
            series(
                "frame",
                Kind::Line,
                self.mean(|frame| Some(kilobytes(frame.coded))),
            ),
            series(
                "above its budget",
                Kind::Dots,
                dots(|frame| frame.coded > frame.budget),
            ),
            series("keyframe", Kind::Dots, dots(|frame| frame.is_keyframe)),
        ];
        let title = format!("Frame size, means over {}", self.means.axis().width_text());
        self.figure(panel(&title, "kB", all))
    }

    /// How long each picture was displayed; `None` if the browser reported nothing.
    pub(crate) fn pictures(&self) -> Option<Figure> {
        let gaps = gaps(self.frames);
        let lengths = sorted(gaps.iter().map(|gap| gap.length.as_millis()));
        let top = cut(nearest_rank(&lengths, 0.99)?, *lengths.last()?);
        let points: Vec<_> = gaps
            .iter()
            .map(|gap| (gap.end, gap.length.as_millis()))
            .collect();
        let longest = self
            .means
            .of_points(&points, |lengths| lengths.reduce(f64::max));
        let median = self
            .means
            .of_points(&points, |lengths| nearest_rank(&sorted(lengths), 0.5));
        let freezes = gaps.iter().filter(|gap| gap.is_freeze()).map(|gap| {
            let length = gap.length.as_millis();
            let height = top.map_or(length, |top| length.min(top * INSIDE));
            (self.means.at(gap.end), height)
        });
        let all = vec![
            series("longest", Kind::Line, longest),
            series("median", Kind::Line, median),
            series("freeze", Kind::Dots, freezes.collect()),
        ];
        let title = format!(
            "Time between pictures, in each {}",
            self.means.axis().width_text()
        );
        let mut panel = panel(&title, "ms", all);
        panel.y_range = top.map(|top| (0.0, top));
        Some(self.figure(panel))
    }

    /// The skew, and the sound that the page made up; `None` if the page reported nothing.
    pub(crate) fn sound(&self) -> Option<Figure> {
        let width = self.means.axis().width_text();
        let panels = [
            ("Sound after picture", self.mean(skew_ms)),
            ("Sound made up so far", self.worst(made_up_ms)),
        ];
        let panels = panels.into_iter().filter_map(|(what, points)| {
            let line = series("", Kind::Line, points);
            let title = format!("{what}, in each {width}");
            is_seen(&line).then(|| panel(&title, "ms", vec![line]))
        });
        let panels: Vec<_> = panels.collect();
        (!panels.is_empty()).then(|| over(self.means.axis(), panels))
    }

    fn mean(&self, value: impl Fn(&SessionFrame) -> Option<f64>) -> Vec<(f64, f64)> {
        self.means
            .middles(|frames, _| mean(frames.iter().filter_map(&value)))
    }

    fn worst(&self, value: impl Fn(&SessionFrame) -> Option<f64>) -> Vec<(f64, f64)> {
        self.means
            .middles(|frames, _| frames.iter().filter_map(&value).reduce(f64::max))
    }

    /// A figure of `panel` from the beginning of the session to its end.
    fn figure(&self, panel: Panel) -> Figure {
        over(self.means.axis(), vec![panel])
    }
}
