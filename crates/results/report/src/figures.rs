//! Parts that figures share, and the figures of distributions.

use mimosa_facts::SessionFrame;
use mimosa_plot::{Figure, Kind, Panel, Series};
use mimosa_units::nearest_rank;

use crate::axis::Axis;
use crate::spread::sorted;
use crate::summary::{action_to_screen_ms, encoding_ms, input_to_screen_ms, to_screen_ms};

/// Number of bars in a histogram.
const BARS: u32 = 60;
/// Most points of a distribution's curve, which are more than can be seen.
const POINTS: usize = 1_000;
/// A distribution is drawn up to this multiple of its 99th percentile.
const BEYOND: f64 = 1.5;
/// The frame interval is drawn in a histogram of times whose range is at least this part of it.
const NEAR: f64 = 2.5;
/// Values above this multiple of the usual ones are cut off.
const CUT: f64 = 3.0;
/// Place of the dots for values that are cut off, as a share of the axis.
pub(crate) const INSIDE: f64 = 0.98;

/// A figure of panels without a title, which the page has.
pub(crate) fn figure(x_label: &str, panels: Vec<Panel>) -> Figure {
    Figure {
        x_label: x_label.to_owned(),
        panels,
        ..Figure::default()
    }
}

pub(crate) fn panel(title: &str, y_label: &str, series: Vec<Series>) -> Panel {
    Panel {
        title: title.to_owned(),
        y_label: y_label.to_owned(),
        y_range: None,
        series,
    }
}

pub(crate) fn series(name: &str, kind: Kind, points: Vec<(f64, f64)>) -> Series {
    Series {
        name: name.to_owned(),
        points,
        kind,
    }
}

/// A figure of panels over the whole of `axis`, without empty panels and series.
pub(crate) fn over(axis: &Axis, mut panels: Vec<Panel>) -> Figure {
    for panel in &mut panels {
        panel.series.retain(is_seen);
        let whole = [0.0, axis.end()].map(|at| (at, 0.0));
        let whole = series("", Kind::Reference, whole.to_vec());
        panel.series.push(whole);
    }
    figure(axis.label(), panels)
}

/// The end of the y axis if a few values are far above the others.
pub(crate) fn cut(usual: f64, highest: f64) -> Option<f64> {
    (usual > 0.0 && highest > usual * CUT).then_some(usual * CUT)
}

/// Dots at the top of the axis for the values that are cut off there.
pub(crate) fn above(top: f64, points: Vec<(f64, f64)>) -> Series {
    let cut_off = points.into_iter().filter(|point| point.1 > top);
    let dots = cut_off.map(|point| (point.0, top * INSIDE)).collect();
    series(&format!("above {top:.0} ms"), Kind::Dots, dots)
}

pub(crate) fn highest(all: &[&[(f64, f64)]]) -> f64 {
    let values = all.iter().copied().flatten().map(|point| point.1);
    values.fold(0.0, f64::max)
}

/// Whether a series has anything to show.
pub(crate) fn is_seen(series: &Series) -> bool {
    series.points.iter().any(|(_, y)| y.is_finite())
}

/// The distribution of encoding times, as a histogram and cumulated.
pub(crate) fn encoding(frames: &[SessionFrame]) -> Figure {
    let times = sorted(frames.iter().map(encoding_ms));
    let interval = frames.last().map(|frame| frame.life.interval.as_millis());
    let high = match (high(&times), interval) {
        (high, Some(interval)) if interval <= high * NEAR => high.max(interval * 1.05),
        (high, _) => high,
    };
    let bars = histogram(&times, high);
    let top = bars.iter().map(|bar| bar.1).fold(0.0, f64::max);
    let until = |top| match interval.filter(|interval| (0.0..=high).contains(interval)) {
        Some(at) => series(
            "time between frames",
            Kind::Line,
            vec![(at, 0.0), (at, top)],
        ),
        None => Series::default(),
    };
    let how_often = vec![series("frames", Kind::Area, bars), until(top)];
    let at_most = vec![
        series("frames", Kind::Line, cumulative(&times, high)),
        until(100.0),
    ];
    let mut at_most = panel("Frames that took at most this long", "%", at_most);
    at_most.y_range = Some((0.0, 100.0));
    figure(
        "Time to encode (ms)",
        vec![panel("Frames that took this long", "%", how_often), at_most],
    )
}

/// The distribution of times from the capture to the screen: for all frames, for those after an
/// action of the player, and from the action on; `None` if no frame was displayed.
pub(crate) fn to_screen(frames: &[SessionFrame]) -> Option<Figure> {
    let all = sorted(frames.iter().filter_map(to_screen_ms));
    let after_input = sorted(input_to_screen_ms(frames));
    let from_action = sorted(action_to_screen_ms(frames));
    let high = high(&all).max(high(&from_action));
    if all.is_empty() {
        return None;
    }
    let mut lines = vec![series("all frames", Kind::Line, cumulative(&all, high))];
    if !after_input.is_empty() {
        let points = cumulative(&after_input, high);
        lines.push(series("frames after input", Kind::Line, points));
    }
    if !from_action.is_empty() {
        let points = cumulative(&from_action, high);
        lines.push(series("from the action", Kind::Line, points));
    }
    let mut panel = panel("Frames on the screen within this time", "%", lines);
    panel.y_range = Some((0.0, 100.0));
    Some(figure("From the capture to the screen (ms)", vec![panel]))
}

/// The end of a distribution's x axis, because a few values are far above the others.
fn high(sorted: &[f64]) -> f64 {
    let p99 = nearest_rank(sorted, 0.99).unwrap_or_default();
    let max = sorted.last().copied().unwrap_or_default();
    max.min(p99 * BEYOND).max(f64::MIN_POSITIVE)
}

/// The share of the values in each of equal intervals from zero to `high`, in per cent.
fn histogram(sorted: &[f64], high: f64) -> Vec<(f64, f64)> {
    let edge = |bar: u32| high * f64::from(bar) / f64::from(BARS);
    let below = |edge: f64| sorted.partition_point(|value| *value < edge);
    let bars = (0..BARS).map(|bar| {
        let count = below(edge(bar + 1)) - below(edge(bar));
        (edge(bar), percent(count, sorted.len()))
    });
    bars.chain([(high, f64::NAN)]).collect()
}

/// The share of the values up to each value, in per cent.
fn cumulative(sorted: &[f64], high: f64) -> Vec<(f64, f64)> {
    let every = sorted.len().div_ceil(POINTS).max(1);
    let mut points = vec![(0.0, 0.0)];
    let values = sorted.iter().enumerate();
    let shown = values.filter(|(index, _)| index % every == 0 || index + 1 == sorted.len());
    points.extend(
        shown
            .filter(|(_, value)| (0.0..=high).contains(*value))
            .map(|(index, value)| (*value, percent(index + 1, sorted.len()))),
    );
    points
}

fn percent(count: usize, of: usize) -> f64 {
    count as f64 / of.max(1) as f64 * 100.0
}
