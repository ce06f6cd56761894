//! The report as a page.

use mimosa_plot::{Figure, Page, Part, Table};

use crate::over_time::OverTime;
use crate::summary::Summary;
use crate::tables::{self, number, percent};
use crate::{Report, figures};

/// The page of `report`.
pub(crate) fn of(report: &Report) -> Page {
    let summary = &report.summary;
    let mut parts = vec![
        Part::Values(glance(summary)),
        Part::Table(tables::stream(summary)),
    ];
    parts.extend(tables::delays(summary).map(Part::Table));
    if !report.frames.is_empty() {
        let sections = sections(report).into_iter();
        parts.extend(sections.flat_map(Section::parts));
    }
    parts.extend(report.links.iter().flat_map(|link| link.parts(report)));
    Page {
        title: report.name.clone(),
        subtitle: report.about(),
        parts,
    }
}

/// The most important numbers.
fn glance(summary: &Summary) -> Vec<(String, String)> {
    let with = |value: Option<f64>, unit: &str| match value {
        Some(_) => format!("{} {unit}", number(value, 1)),
        None => number(None, 0),
    };
    let delay = summary.frame_delay_ms;
    let screen = summary.to_screen_ms;
    let freezes = summary.freezes.map(|freezes| freezes.count as f64);
    [
        ("bitrate", with(summary.bitrate_mbps, "Mbit/s")),
        ("frame delay, p50", with(delay.map(|all| all.p50), "ms")),
        ("frame delay, p99", with(delay.map(|all| all.p99), "ms")),
        (
            "capture to screen, p50",
            with(screen.map(|all| all.p50), "ms"),
        ),
        ("stalls above 100 ms", summary.stalls.to_string()),
        ("freezes above 200 ms", number(freezes, 0)),
        ("packet loss", percent(summary.loss, 2)),
        ("utilisation", percent(summary.utilization, 1)),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec()
}

/// A figure with its heading, explanation and table.
pub(crate) struct Section {
    pub(crate) heading: String,
    pub(crate) text: String,
    pub(crate) figure: Figure,
    pub(crate) table: Option<Table>,
}

impl Section {
    pub(crate) fn parts(self) -> impl Iterator<Item = Part> {
        [
            Part::Heading(self.heading),
            Part::Text(self.text),
            Part::Figure(self.figure),
        ]
        .into_iter()
        .chain(self.table.map(Part::Table))
    }
}

/// The sections with content.
fn sections(report: &Report) -> Vec<Section> {
    let (frames, summary) = (&report.frames, &report.summary);
    let over_time = OverTime::new(frames, summary);
    let all = [
        (
            "Bitrate",
            "What the controller wanted, what was sent, and the rate at which the bottleneck \
             serves this stream as far as the controller can tell.",
            Some(over_time.bitrate()),
            None,
        ),
        (
            "Causes",
            "The rules that set the target, or the limit of a single frame, and the evidence on \
             which they did, as means: the share of the bottleneck in use, newest and smoothed, \
             the rate at which it serves this stream, and what waits in queues. Rates are in \
             Mbit/s.",
            Some(over_time.causes()),
            tables::causes_in_words(summary).map(untitled),
        ),
        (
            "Frame delay",
            "From the hand-over to the pacer to the acknowledgement of the last packet.",
            Some(over_time.frame_delay()),
            None,
        ),
        (
            "Where the time goes",
            "From the capture: waiting for the encoder, encoding, until the last packet has left, \
             until it has arrived, decoding, until the picture is on the screen. The figure has \
             the medians of each stage, one upon the other. Typical and slow are the means of the \
             frames whose totals are around the median and around the 95th percentile, a \
             twentieth of all frames each: these add up. The last two columns are of each stage \
             by itself.",
            over_time.stages(),
            tables::stages(summary),
        ),
        (
            "Bandwidth utilisation",
            "The share of the bottleneck in use; above one a queue grows.",
            over_time.utilization(),
            None,
        ),
        (
            "Queue",
            "What waits in the network as far as the controller can tell: the delay of the newest \
             packet above the smallest, and the stream's own data.",
            over_time.queue(),
            None,
        ),
        (
            "Frame size",
            "What the encoder was allowed and what it made.",
            Some(over_time.sizes()),
            None,
        ),
        (
            "Encoding",
            "How long the encoder takes for a frame. Repeated are those that did not fit at the \
             first attempt.",
            Some(figures::encoding(frames)),
            tables::encoder(summary).map(untitled),
        ),
        (
            "Pictures on the screen",
            "How long each picture stood until the next one came. A freeze is longer than 200 ms, \
             pauses of the source taken off.",
            over_time.pictures(),
            None,
        ),
        (
            "Sound",
            "How much later sound is heard than the picture of the same time is seen, as the page \
             tells once a second, and how much sound it has made up because none was there to \
             play.",
            over_time.sound(),
            tables::sound(summary).map(untitled),
        ),
        (
            "Capture to screen",
            "All frames, and those that were the first after an action of the player. The way of \
             the action to the host comes on top.",
            figures::to_screen(frames),
            None,
        ),
    ];
    let drawn = all
        .into_iter()
        .filter_map(|(heading, text, figure, table)| {
            Some(Section {
                heading: heading.to_owned(),
                text: text.to_owned(),
                figure: figure?,
                table,
            })
        });
    drawn.collect()
}

/// A table without its title, for a section whose heading says enough.
pub(crate) fn untitled(table: Table) -> Table {
    Table {
        title: String::new(),
        ..table
    }
}
