//! The figures of a link's traffic.

use mimosa_facts::Fate;
use mimosa_plot::{Figure, Kind, Series};
use mimosa_units::nearest_rank;

use crate::axis::Axis;
use crate::figures::{above, cut, highest, is_seen, over, panel, series};
use crate::link::summary::flows;
use crate::link::traffic::{Placed, Traffic, is_marked};
use crate::page::Section;
use crate::spread::sorted;

/// Flows with their own colours, which make eight with that of all others.
const OWN_COLOUR: usize = 7;
/// A link's rate is shown up to this multiple of the rates that it carried.
const ROOM: f64 = 3.0;

/// The figures of one direction, which `way` names if there are two.
pub(crate) fn of_direction(traffic: &Traffic<'_>, axis: &Axis, way: &str) -> Vec<Section> {
    let heading = |text: &str| {
        if way.is_empty() {
            format!("{text} of the link")
        } else {
            format!("{text}, {}", way.to_lowercase())
        }
    };
    let has_stream = traffic.packets.iter().any(|placed| placed.is_own);
    let mut sections = vec![Section {
        heading: heading("Rate"),
        text: format!(
            "The link's rate is the size of the packets over the time that the link took to \
             serialise them; where nothing passed there is a gap. Carried is what passed, in use \
             the share of the time in which it did{}.",
            if has_stream {
                "; the stream is what came to the link of it"
            } else {
                ""
            }
        ),
        figure: rate(traffic, axis, has_stream),
        table: None,
    }];
    sections.extend(by_flow(traffic, axis).map(|figure| Section {
        heading: heading("Traffic"),
        text: "What the link carried of each flow, one upon the other.".to_owned(),
        figure,
        table: None,
    }));
    sections.push(Section {
        heading: heading("Queue"),
        text: "How long packets waited in the queue, by when they came, and how much they found \
               there."
            .to_owned(),
        figure: queue(traffic, axis, has_stream),
        table: None,
    });
    sections.extend(losses(traffic, axis).map(|figure| {
        Section {
            heading: heading("Drops and marks"),
            text: "Packets that the queue dropped or marked, and that the path lost, by when they \
               came."
                .to_owned(),
            figure,
            table: None,
        }
    }));
    sections
}

/// The link's rate over time.
fn link_rate(traffic: &Traffic<'_>, axis: &Axis) -> Series {
    let points = (0..axis.stretches()).map(|stretch| {
        let (from, to) = axis.bounds(stretch);
        let rate = traffic.served.mbps(from, to);
        (axis.at(from), rate.unwrap_or(f64::NAN))
    });
    // The last value only holds until the end of the axis.
    series("link's rate", Kind::Reference, points.collect())
}

/// The range of an axis of rates.
fn top(link: &Series, others: &[&[(f64, f64)]]) -> Option<(f64, f64)> {
    let carried = highest(others);
    let high = highest(&[&link.points]).min(carried * ROOM).max(carried);
    (high > 0.0).then_some((0.0, high * 1.1))
}

fn rate(traffic: &Traffic<'_>, axis: &Axis, has_stream: bool) -> Figure {
    let link = link_rate(traffic, axis);
    let carried = middles(traffic.carried(axis, |_| true), axis);
    let mut all = vec![link.clone(), series("carried", Kind::Line, carried.clone())];
    let range = top(&link, &[&carried]);
    if has_stream {
        let stream = traffic.offered(axis, |placed| placed.is_own);
        all.push(series("stream", Kind::Line, stream));
    }
    let title = format!("Bitrate, means over {}", axis.width_text());
    let mut rates = panel(&title, "Mbit/s", all);
    rates.y_range = range;
    let busy = (0..axis.stretches()).filter_map(|stretch| {
        let (from, to) = axis.bounds(stretch);
        let busy = traffic.served.busy(from, to)?;
        Some((axis.at(from + (to - from) / 2), busy.min(1.0) * 100.0))
    });
    let busy = vec![series("in use", Kind::Line, busy.collect())];
    let mut busy = panel("Time in use", "%", busy);
    busy.y_range = Some((0.0, 100.0));
    over(axis, vec![rates, busy])
}

/// The points at the middles of their intervals instead of the beginnings.
fn middles(mut points: Vec<(f64, f64)>, axis: &Axis) -> Vec<(f64, f64)> {
    for (stretch, point) in points.iter_mut().enumerate() {
        let (from, to) = axis.bounds(stretch);
        point.0 = axis.at(from + (to - from) / 2);
    }
    points
}

/// The rates that each flow was carried at; `None` for fewer than two flows.
fn by_flow(traffic: &Traffic<'_>, axis: &Axis) -> Option<Figure> {
    let flows = flows(&traffic.packets);
    if flows.len() < 2 {
        return None;
    }
    let own = if flows.len() <= OWN_COLOUR + 1 {
        flows.len()
    } else {
        OWN_COLOUR
    };
    let mut sums = vec![0.0; axis.stretches()];
    let mut areas = Vec::new();
    let mut add = |name: &str, flows: &[&[&Placed<'_>]]| {
        let mut carried = vec![0.0; sums.len()];
        for placed in flows.iter().copied().flatten() {
            let stretch = placed.started().and_then(|at| axis.stretch(at));
            if let Some(sum) = stretch.and_then(|stretch| carried.get_mut(stretch)) {
                *sum += placed.packet.size.get() as f64;
            }
        }
        let mut points = Vec::new();
        for (stretch, (sum, bytes)) in sums.iter_mut().zip(carried).enumerate() {
            let (from, to) = axis.bounds(stretch);
            *sum += bytes * 8.0 / (to - from).as_secs() / 1e6;
            points.push((axis.at(from), *sum));
        }
        points.push((axis.end(), f64::NAN));
        areas.push(series(name, Kind::Area, points));
    };
    for (flow, packets) in &flows[..own] {
        let is_stream = packets.iter().any(|placed| placed.is_own);
        let name = if is_stream {
            format!("stream, {}", flow.name())
        } else {
            flow.name()
        };
        add(&name, &[packets]);
    }
    if own < flows.len() {
        let others: Vec<_> = flows[own..].iter().map(|(_, packets)| &**packets).collect();
        add("others", &others);
    }
    let link = link_rate(traffic, axis);
    let range = top(&link, &[&areas.last()?.points]);
    areas.push(link);
    let title = format!("Carried, means over {}", axis.width_text());
    let mut panel = panel(&title, "Mbit/s", areas);
    panel.y_range = range;
    Some(over(axis, vec![panel]))
}

/// The true queueing delay and backlog.
fn queue(traffic: &Traffic<'_>, axis: &Axis, has_stream: bool) -> Figure {
    let waits = |packets: &[Placed<'_>], is_own: bool| {
        let waits = packets.iter().filter(|placed| placed.is_own == is_own);
        sorted(waits.filter_map(|placed| Some(placed.wait()?.as_millis())))
    };
    let worst = |is_own| traffic.middles(axis, |packets| waits(packets, is_own).last().copied());
    let median =
        |is_own| traffic.middles(axis, |packets| nearest_rank(&waits(packets, is_own), 0.5));
    let mut lines = Vec::new();
    let main = worst(has_stream);
    if has_stream {
        lines.push(series("others' longest", Kind::Line, worst(false)));
    }
    lines.push(series("longest", Kind::Line, main.clone()));
    lines.push(series("median", Kind::Line, median(has_stream)));
    let all = sorted(main.iter().map(|point| point.1));
    let top = cut(
        nearest_rank(&all, 0.99).unwrap_or_default(),
        highest(&[&main]),
    );
    if let Some(top) = top {
        lines.push(above(top, main));
    }
    let who = if has_stream {
        "The stream's waits"
    } else {
        "Waits"
    };
    let title = format!("{who} in the queue, in each {}", axis.width_text());
    let mut waits = panel(&title, "ms", lines);
    waits.y_range = top.map(|top| (0.0, top));
    let backlog = traffic.middles(axis, |packets| {
        let found = packets
            .iter()
            .map(|placed| placed.packet.packet.backlog.get());
        Some(found.max()? as f64 / 1e3)
    });
    let backlog = vec![series("most found", Kind::Line, backlog)];
    let title = format!(
        "Most bytes found in the queue, in each {}",
        axis.width_text()
    );
    over(axis, vec![waits, panel(&title, "kB", backlog)])
}

/// Drops and marks by the queue, and losses on the path; `None` if there were none.
fn losses(traffic: &Traffic<'_>, axis: &Axis) -> Option<Figure> {
    let has_stream = traffic.packets.iter().any(|placed| placed.is_own);
    let count = |is: &dyn Fn(&Placed<'_>) -> bool| {
        let points = traffic.middles(axis, |packets| {
            let count = packets.iter().filter(|placed| is(placed)).count();
            (count > 0).then_some(count as f64)
        });
        let points = points.into_iter().filter(|point| point.1.is_finite());
        points.collect::<Vec<_>>()
    };
    let mut dots = Vec::new();
    for is_own in [true, false] {
        let whose = match (has_stream, is_own) {
            (true, true) => "stream ",
            (true, false) => "others ",
            (false, _) => "",
        };
        let dropped = |placed: &Placed<'_>| placed.packet.fate == Fate::Dropped;
        let lost = |placed: &Placed<'_>| placed.packet.fate == Fate::Lost;
        let marked = |placed: &Placed<'_>| is_marked(placed.packet);
        for (what, is) in [
            ("dropped", &dropped as &dyn Fn(&Placed<'_>) -> bool),
            ("lost", &lost),
            ("marked", &marked),
        ] {
            let points = count(&|placed| placed.is_own == is_own && is(placed));
            dots.push(series(&format!("{whose}{what}"), Kind::Dots, points));
        }
    }
    dots.retain(is_seen);
    if dots.is_empty() {
        return None;
    }
    let title = format!("Packets in each {}", axis.width_text());
    Some(over(axis, vec![panel(&title, "packets", dots)]))
}
