//! What was seen of a run, as series over time.

use std::collections::BTreeMap;

use mimosa_facts::{Fate, FrameEnd, FrameLife, Passage, StreamPacket};
use mimosa_figures::Window;
use mimosa_net::Schedule;
use mimosa_plot::{Kind, Series};
use mimosa_record::FrameRow;
use mimosa_scenario::{FlowConfig, FlowKind, Scenario};
use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use super::bins::{Bins, Summary};

/// A link with more changes than this is drawn as means.
const MOST_STEPS: usize = 500;
/// Age from which a frame that is open at the end counts as never completed, as in the figures.
const OVERDUE: TimeDelta = TimeDelta::from_millis(200);
/// Shortest interval for throughput; in a shorter one it depends on single packets.
const LEAST_WIDTH: TimeDelta = TimeDelta::from_millis(200);
/// Where frames without completion are drawn if no frame was completed, in milliseconds.
const NO_DELAY_MS: f64 = 100.0;

/// A video flow's name and its frames within the window, in order.
pub(super) struct Flow<'a> {
    name: &'a str,
    frames: Vec<&'a FrameLife>,
}

/// The video flows of `scenario`.
pub(super) fn flows<'a>(
    scenario: &'a Scenario,
    rows: &'a [FrameRow],
    window: Window,
) -> Vec<Flow<'a>> {
    let videos = scenario
        .flows
        .iter()
        .enumerate()
        .filter(|(_, flow)| matches!(flow.kind, FlowKind::Video(_)));
    videos
        .map(|(number, flow)| {
            let mut frames: Vec<_> = rows
                .iter()
                .filter(|row| row.flow == number && within(window, row.life.handed_over))
                .map(|row| &row.life)
                .collect();
            frames.sort_by_key(|life| life.frame);
            Flow {
                name: &flow.name,
                frames,
            }
        })
        .collect()
}

/// The link's rate, each video flow's target, the rates of cross traffic, and what TCP
/// flows send through the link.
pub(super) fn bitrates(
    scenario: &Scenario,
    flows: &[Flow],
    packets: &[Passage<StreamPacket>],
    window: Window,
    bins: Bins,
) -> Vec<Series> {
    let mut all = vec![link(&scenario.link.schedule, window, bins)];
    // A mean is not the value at any time, while a single target is valid until the next.
    let kind = if bins.shows_each() {
        Kind::Steps
    } else {
        Kind::Line
    };
    for flow in flows {
        let target = |life: &FrameLife| Some(life.decision.target.as_mbps());
        all.extend(flow.series(kind, bins, Summary::Mean, target));
    }
    for (number, flow) in scenario.flows.iter().enumerate() {
        match &flow.kind {
            FlowKind::Video(_) => {}
            FlowKind::Cbr(cbr) => all.extend(cross_traffic(flow, cbr.rate, window)),
            FlowKind::Tcp(_) => {
                let own = packets.iter().filter(|packet| packet.packet.flow == number);
                let width = bins.width().max(LEAST_WIDTH);
                all.extend(series(
                    &flow.name,
                    Kind::Line,
                    throughput(own, window, width),
                ));
            }
        }
    }
    all
}

/// Mean rates over intervals of `width` of what leaves the link, from the first of `packets` to the
/// last.
fn throughput<'a>(
    packets: impl Iterator<Item = &'a Passage<StreamPacket>>,
    window: Window,
    width: TimeDelta,
) -> Vec<(f64, f64)> {
    let mut passed: BTreeMap<i64, Bytes> = BTreeMap::new();
    for packet in packets {
        if let Some(at) = packet.finished.filter(|at| within(window, *at)) {
            let number = at.since(window.from).as_nanos() / width.as_nanos().max(1);
            *passed.entry(number).or_default() += packet.size;
        }
    }
    let (Some((first, _)), Some((last, _))) = (passed.first_key_value(), passed.last_key_value())
    else {
        return Vec::new();
    };
    let point = |number: i64| {
        let size = passed.get(&number).copied().unwrap_or_default();
        let from = window.from + TimeDelta::from_nanos(width.as_nanos().saturating_mul(number));
        let at = (from + width / 2).min(window.to);
        (at.as_secs(), Rate::of(size, width).as_mbps())
    };
    (*first..=*last).map(point).collect()
}

/// The delay of each frame; frames that never completed are at the top.
pub(super) fn frame_delays(flows: &[Flow], duration: TimeDelta, bins: Bins) -> Vec<Series> {
    let delay = |life: &FrameLife| life.delay().map(TimeDelta::as_millis);
    let mut all: Vec<_> = flows
        .iter()
        .filter_map(|flow| flow.series(Kind::Line, bins, Summary::Worst, delay))
        .collect();
    let top = highest(&all).unwrap_or(NO_DELAY_MS);
    let end = Time::ZERO + duration;
    let never = flows
        .iter()
        .flat_map(|flow| &flow.frames)
        .filter(|life| match life.end {
            Some(FrameEnd::Acknowledged(_)) => false,
            Some(FrameEnd::GivenUp) => true,
            None => end.since(life.handed_over) > OVERDUE,
        });
    let points: Vec<_> = never
        .map(|life| (life.handed_over.as_secs(), top))
        .collect();
    all.extend(series("never completed", Kind::Dots, points));
    all
}

/// The smoothed utilisation of the flows whose controllers estimate it.
pub(super) fn utilization(flows: &[Flow], window: Window, bins: Bins) -> Vec<Series> {
    let smoothed = |life: &FrameLife| life.decision.evidence.smoothed_utilization;
    let mut all: Vec<_> = flows
        .iter()
        .filter_map(|flow| flow.series(Kind::Line, bins, Summary::Mean, smoothed))
        .collect();
    if !all.is_empty() {
        let full = [window.from, window.to].map(|at| (at.as_secs(), 1.0));
        all.extend(series("", Kind::Reference, full.to_vec()));
    }
    all
}

/// The wait of each packet that passed; packets that did not are at the top.
pub(super) fn queue_delays(
    packets: &[Passage<StreamPacket>],
    window: Window,
    bins: Bins,
) -> Vec<Series> {
    let inside = || {
        packets
            .iter()
            .filter(|packet| within(window, packet.offered))
    };
    let waits = inside().filter_map(|packet| {
        let wait = packet.started?.since(packet.offered);
        Some((packet.offered, wait.as_millis()))
    });
    let mut waits: Vec<_> = waits.collect();
    waits.sort_by_key(|(sent, _)| *sent);
    let waits = bins.with_gaps(&bins.summarise(waits, Summary::Worst));
    let mut all: Vec<_> = series("", Kind::Line, waits).into_iter().collect();
    let top = highest(&all).unwrap_or_default();
    let dropped = inside()
        .filter(|packet| packet.fate == Fate::Dropped)
        .map(|packet| (packet.offered.as_secs(), top));
    all.extend(series(
        "dropped by the queue",
        Kind::Dots,
        dropped.collect(),
    ));
    all
}

impl Flow<'_> {
    /// The series of `value` over the frames; `None` if it has no value for any.
    fn series(
        &self,
        kind: Kind,
        bins: Bins,
        summary: Summary,
        value: impl Fn(&FrameLife) -> Option<f64>,
    ) -> Option<Series> {
        let said = self
            .frames
            .iter()
            .filter_map(|life| Some((life.handed_over, value(life)?)));
        let points = bins.summarise(said.collect(), summary);
        series(self.name, kind, bins.with_gaps(&points))
    }
}

fn link(schedule: &Schedule, window: Window, bins: Bins) -> Series {
    let mut steps: Vec<_> = schedule.steps(window.from, window.to).collect();
    let mut name = "link".to_owned();
    if steps.len() > MOST_STEPS {
        let mean = |(from, to)| {
            let passes = schedule.capacity(from, to);
            (from, Rate::of(passes, to.since(from)))
        };
        steps = bins.spans().map(mean).collect();
        name = format!("link, means over {} ms", bins.width().as_millis());
    }
    // The last step reaches to the end of the axis.
    steps.extend(steps.last().map(|(_, rate)| (window.to, *rate)));
    Series {
        name,
        points: in_mbps(steps),
        kind: Kind::Reference,
    }
}

/// The rate from the flow's first packet to its last, which is zero during pauses.
fn cross_traffic(flow: &FlowConfig, rate: Rate, window: Window) -> Option<Series> {
    let sends = |at: Time| {
        let active = flow.active_from(at) == Some(at);
        if active { rate } else { Rate::ZERO }
    };
    let mut changes = vec![flow.start, flow.stop];
    changes.extend(flow.pauses.iter().flat_map(|(from, to)| [*from, *to]));
    changes.retain(|at| within(window, *at));
    changes.sort_unstable();
    let mut held = sends(window.from);
    let mut points = Vec::new();
    for at in std::iter::once(window.from).chain(changes) {
        let next = sends(at);
        if next > Rate::ZERO && held == Rate::ZERO {
            points.push((at, held));
        }
        if next > Rate::ZERO || held > Rate::ZERO {
            points.push((at, next));
        }
        held = next;
    }
    if held > Rate::ZERO {
        points.push((window.to, held));
    }
    series(&flow.name, Kind::Steps, in_mbps(points))
}

fn in_mbps(points: Vec<(Time, Rate)>) -> Vec<(f64, f64)> {
    let point = |(at, rate): (Time, Rate)| (at.as_secs(), rate.as_mbps());
    points.into_iter().map(point).collect()
}

/// A series of these points; `None` without points.
fn series(name: &str, kind: Kind, points: Vec<(f64, f64)>) -> Option<Series> {
    (!points.is_empty()).then(|| Series {
        name: name.to_owned(),
        points,
        kind,
    })
}

fn highest(series: &[Series]) -> Option<f64> {
    series
        .iter()
        .flat_map(|series| &series.points)
        .map(|(_, y)| *y)
        .reduce(f64::max)
        .filter(|top| top.is_finite())
}

fn within(window: Window, at: Time) -> bool {
    window.from <= at && at < window.to
}

#[cfg(test)]
mod tests {
    use mimosa_net::Piece;

    use super::*;

    fn window(from: u64, to: u64) -> Window {
        Window {
            from: Time::from_millis(from),
            to: Time::from_millis(to),
        }
    }

    fn alternating(count: i64, millis: i64) -> Schedule {
        let piece = |index: i64| Piece {
            at: TimeDelta::from_millis(index * millis),
            rate: Rate::from_kbps(10_000 + 10_000 * (index % 2).unsigned_abs()),
            delay: None,
            loss: None,
        };
        Schedule::new((0..count).map(piece).collect(), None).unwrap()
    }

    #[test]
    fn the_link_fills_the_window() {
        let window = window(1_500, 2_500);
        let series = link(&alternating(9, 1_000), window, Bins::of(window));
        assert_eq!(series.points, [(1.5, 20.0), (2.0, 10.0), (2.5, 10.0)]);
    }

    #[test]
    fn a_link_that_changes_all_the_time_is_drawn_as_means() {
        let window = window(0, 10_000);
        let series = link(&alternating(2_000, 5), window, Bins::of(window));
        assert_eq!(series.name, "link, means over 50 ms");
        assert_eq!(series.points.len(), 201);
        assert!(
            series
                .points
                .iter()
                .all(|(_, rate)| (14.9..15.1).contains(rate))
        );
    }

    #[test]
    fn cross_traffic_is_drawn_while_it_sends() {
        let text = "duration = \"9s\"\n[link]\nrate = \"10Mbit/s\"\n[[flow]]\nkind = \"cbr\"\n\
                    rate = \"2Mbit/s\"\nstart = \"1s\"\nstop = \"5s\"\n\
                    pauses = [{ from = \"2s\", to = \"3s\" }, { from = \"4s\", to = \"8s\" }]\n";
        let loaded = mimosa_scenario::load(text, "run.toml", &mut NoFiles).unwrap();
        let flow = &loaded.variants[0].1.flows[0];
        let drawn = |from, to| -> Option<String> {
            let series = cross_traffic(flow, Rate::from_kbps(2_000), window(from, to))?;
            let points = series
                .points
                .iter()
                .map(|(at, rate)| format!("{at} {rate}"));
            Some(points.collect::<Vec<_>>().join(", "))
        };
        let drawn = |from, to| drawn(from, to).unwrap_or_default();
        assert_eq!(drawn(0, 9_000), "1 0, 1 2, 2 0, 3 0, 3 2, 4 0");
        assert_eq!(drawn(1_500, 3_500), "1.5 2, 2 0, 3 0, 3 2, 3.5 2");
        assert_eq!(drawn(6_000, 9_000), "");
    }

    /// A scenario without files.
    struct NoFiles;

    impl mimosa_scenario::Files for NoFiles {
        fn read(&mut self, path: &str) -> Result<String, String> {
            Err(path.to_owned())
        }
    }
}
