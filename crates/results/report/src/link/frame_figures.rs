//! The figures of a session's frames on their way through a link.

use mimosa_facts::SessionFrame;
use mimosa_plot::{Figure, Kind, Panel};
use mimosa_units::{TimeDelta, nearest_rank};

use crate::axis::Axis;
use crate::figures::{cut, highest, is_seen, over, panel, series};
use crate::link::belief::{self, Truth};
use crate::link::way::{Way, WayMillis};
use crate::spread::{mean, sorted};
use crate::timeline::Timeline;

/// Values by the interval that contains their time.
fn by_stretch<T>(axis: &Axis, values: impl Iterator<Item = (TimeDelta, T)>) -> Vec<Vec<T>> {
    let mut stretches: Vec<_> = (0..axis.stretches()).map(|_| Vec::new()).collect();
    for (at, value) in values {
        let stretch = axis.stretch(at);
        if let Some(values) = stretch.and_then(|stretch| stretches.get_mut(stretch)) {
            values.push(value);
        }
    }
    stretches
}

/// The parts of the frame delay; `None` if no frame's way is known.
pub(crate) fn delay(
    timeline: &Timeline<'_>,
    frames: &[SessionFrame],
    ways: &[Option<Way>],
) -> Option<Figure> {
    let axis = timeline.axis();
    let known = frames
        .iter()
        .zip(ways)
        .filter_map(|(frame, way)| Some((frame.captured - timeline.begin(), (*way)?)));
    let stretches = by_stretch(axis, known);
    let means: Vec<_> = stretches
        .iter()
        .map(|ways| WayMillis::means(ways))
        .collect();
    let slowest: Vec<_> = stretches
        .iter()
        .map(|ways| WayMillis::means(&[*ways.iter().max_by_key(|way| way.delay)?]))
        .collect();
    let title = format!("Frame delay, means over {}", axis.width_text());
    let means = stack(axis, &title, &means)?;
    let title = format!(
        "Frame delay, the slowest frame of each {}",
        axis.width_text()
    );
    let slowest = stack(axis, &title, &slowest)?;
    Some(over(axis, vec![means, slowest]))
}

/// The parts of the delay, stacked.
fn stack(axis: &Axis, title: &str, all: &[Option<WayMillis>]) -> Option<Panel> {
    let up_to = |last: usize| {
        let points = all.iter().enumerate().map(|(stretch, way)| {
            let parts = way.map(|way| way.parts()[..=last].iter().map(|part| part.max(0.0)).sum());
            (axis.at(axis.bounds(stretch).0), parts.unwrap_or(f64::NAN))
        });
        let end = (axis.end(), f64::NAN);
        points.chain([end]).collect()
    };
    let names = WayMillis::NAMES.iter().enumerate();
    let areas: Vec<_> = names
        .map(|(last, name)| series(name, Kind::Area, up_to(last)))
        .collect();
    let totals = sorted(areas.last()?.points.iter().map(|point| point.1));
    let top = cut(nearest_rank(&totals, 0.95)?, *totals.last()?);
    let mut panel = panel(title, "ms", areas);
    panel.y_range = top.map(|top| (0.0, top));
    Some(panel)
}

/// Functions for an estimate of a frame, and for the truth at that time.
type Believed = fn(&SessionFrame) -> Option<f64>;
type True = fn(&Truth) -> Option<f64>;

/// The controller's estimates and the truth; `None` if the controller makes no estimates.
pub(crate) fn beliefs(
    timeline: &Timeline<'_>,
    frames: &[SessionFrame],
    truths: &[Truth],
) -> Option<Figure> {
    let axis = timeline.axis();
    let line = |values: &dyn Fn(usize) -> Option<f64>| {
        let due = frames.iter().map(|frame| frame.life.due - timeline.begin());
        let values = due
            .enumerate()
            .filter_map(|(index, at)| Some((at, values(index)?)));
        let stretches = by_stretch(axis, values).into_iter().enumerate();
        stretches
            .map(|(stretch, values)| {
                let (from, to) = axis.bounds(stretch);
                let mean = mean(values.into_iter());
                (axis.at(from + (to - from) / 2), mean.unwrap_or(f64::NAN))
            })
            .collect::<Vec<_>>()
    };
    let all: [(&str, &str, Believed, True); 4] = [
        ("Service rate", "Mbit/s", belief::service_mbps, |truth| {
            truth.link_mbps
        }),
        ("Utilisation", "ratio", belief::utilization, |truth| {
            truth.busy
        }),
        ("Queue delay", "ms", belief::queue_ms, |truth| {
            truth.queue_ms
        }),
        ("The stream's backlog", "kB", belief::backlog_kb, |truth| {
            truth.backlog_kb
        }),
    ];
    let panels = all
        .into_iter()
        .filter_map(|(title, unit, believed, truth)| {
            let believed = line(&|index| believed(frames.get(index)?));
            let truth = line(&|index| truth(truths.get(index)?));
            let both = vec![
                series("truth", Kind::Line, truth.clone()),
                series("believed", Kind::Line, believed.clone()),
            ];
            is_seen(both.last()?).then(|| {
                let usual = sorted(truth.iter().chain(&believed).map(|point| point.1));
                let usual = nearest_rank(&usual, 0.95).unwrap_or_default();
                let top = cut(usual, highest(&[&truth, &believed]));
                let title = format!("{title}, means over {}", axis.width_text());
                let mut panel = panel(&title, unit, both);
                panel.y_range = top.map(|top| (0.0, top));
                panel
            })
        });
    let panels: Vec<_> = panels.collect();
    (!panels.is_empty()).then(|| over(axis, panels))
}
