//! Reports on a recorded link, alone and as a part of a session's report.

mod belief;
mod figures;
mod frame_figures;
mod join;
mod joined;
mod summary;
mod tables;
mod traffic;
mod way;

use mimosa_plot::{Page, Part, PlotError, Table};
use mimosa_record::Link;
use mimosa_units::TimeDelta;
use serde::Serialize;

use crate::about::About;
use crate::axis::Axis;
use crate::page::Section;
use crate::tables::{number, percent};

pub use belief::{Belief, Beliefs};
use join::nanos;
pub use join::{ClockMatch, JoinError};
pub use joined::JoinSummary;
pub(crate) use joined::JoinedLink;
pub use summary::{Direction, Share};
use traffic::{Traffic, extent};
pub use way::{WayMillis, WayShares};

/// Shortest interval of a figure.
const LEAST: TimeDelta = TimeDelta::from_millis(100);

/// A report on a link.
#[derive(Clone, Debug)]
pub struct LinkReport {
    name: String,
    about: About,
    link: Link,
    directions: Vec<Direction>,
}

impl LinkReport {
    /// Makes a report on `link`, from the recording with this name.
    #[must_use]
    pub fn new(name: &str, link: Link) -> Self {
        let (begin, span) = extent(&link);
        let each = [true, false].map(|is_forward| {
            let traffic = Traffic::new(&link, is_forward, nanos(begin), span, |_| false);
            (!traffic.packets.is_empty())
                .then(|| Direction::new(&traffic, is_forward, span, link.queues.of(is_forward)))
        });
        Self {
            name: name.to_owned(),
            about: About::parse(&link.about),
            directions: each.into_iter().flatten().collect(),
            link,
        }
    }

    /// The numbers of each direction with packets.
    #[must_use]
    pub fn directions(&self) -> &[Direction] {
        &self.directions
    }

    /// Description of the link in one line; empty if there is none.
    #[must_use]
    pub fn about(&self) -> String {
        self.about.line()
    }

    /// The numbers as tables.
    #[must_use]
    pub fn tables(&self) -> Vec<Table> {
        self.directions.iter().flat_map(tables::direction).collect()
    }

    /// The description of the link and the numbers, as a JSON object.
    ///
    /// # Errors
    ///
    /// Does not happen: the numbers are all finite or absent.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        #[derive(Serialize)]
        struct Whole<'a> {
            link: &'a About,
            directions: &'a [Direction],
        }
        serde_json::to_string_pretty(&Whole {
            link: &self.about,
            directions: &self.directions,
        })
    }

    /// The whole report as an HTML page without external references.
    ///
    /// # Errors
    ///
    /// [`PlotError`] if the drawing library fails.
    pub fn to_html(&self) -> Result<String, PlotError> {
        let (begin, span) = extent(&self.link);
        let axis = Axis::new(span, LEAST);
        let mut parts = Vec::new();
        for direction in &self.directions {
            let is_forward = direction.direction == "forward";
            let traffic = Traffic::new(&self.link, is_forward, nanos(begin), span, |_| false);
            parts.push(Part::Heading(tables::way(direction).to_owned()));
            parts.push(Part::Values(glance(direction)));
            parts.extend(tables::direction(direction).into_iter().map(Part::Table));
            let sections = figures::of_direction(&traffic, &axis, tables::way(direction));
            parts.extend(sections.into_iter().flat_map(Section::parts));
        }
        let page = Page {
            title: self.name.clone(),
            subtitle: self.about(),
            parts,
        };
        page.to_html()
    }
}

/// The most important numbers of a direction.
fn glance(direction: &Direction) -> Vec<(String, String)> {
    let with = |value: Option<f64>, unit: &str| match value {
        Some(_) => format!("{} {unit}", number(value, 1)),
        None => number(None, 0),
    };
    let queue = direction.all.queue_ms;
    [
        ("link's rate", with(direction.link_mbps, "Mbit/s")),
        ("carried", with(direction.all.mbps, "Mbit/s")),
        ("time in use", percent(direction.busy, 1)),
        (
            "wait in the queue, p50",
            with(queue.map(|all| all.p50), "ms"),
        ),
        (
            "wait in the queue, p99",
            with(queue.map(|all| all.p99), "ms"),
        ),
        ("packets dropped", direction.all.dropped.to_string()),
        ("packets marked", direction.all.marked.to_string()),
        ("lost on the path", direction.all.lost.to_string()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec()
}
