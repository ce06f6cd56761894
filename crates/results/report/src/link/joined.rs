//! A link through which a session went.

use mimosa_facts::{LinkPacket, Passage, SessionFrame};
use mimosa_plot::{Part, Table};
use mimosa_record::Link;
use serde::Serialize;

use crate::Report;
use crate::about::About;
use crate::link::belief::{Beliefs, Truth, Truths};
use crate::link::join::{ClockMatch, Found, Join, JoinError, nanos};
use crate::link::summary::{Direction, Flow};
use crate::link::traffic::Traffic;
use crate::link::way::{Way, WayShares};
use crate::link::{LEAST, figures, frame_figures, glance, tables};
use crate::page::Section;
use crate::tables::{number, percent};
use crate::timeline::Timeline;

/// The numbers of a session's way through a link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JoinSummary {
    /// Name of the link's recording.
    pub file: String,
    link: About,
    /// Relation of the clocks of both recordings.
    pub clock: ClockMatch,
    /// Number of frames with a packet in the link's recording.
    pub frames: usize,
    /// Number of these frames' packets in the link's recording.
    pub packets: usize,
    /// Number of these frames' packets that are not in it.
    pub missing: usize,
    /// Parts of the frame delay.
    pub delay_ms: Option<WayShares>,
    /// The controller's estimates, compared with the truth.
    pub beliefs: Beliefs,
    /// The direction that carries the session, for as long as the session lasted.
    pub traffic: Direction,
}

/// A link through which a session went.
#[derive(Clone, Debug)]
pub(crate) struct JoinedLink {
    link: Link,
    join: Join,
    own: Vec<Flow>,
    summary: JoinSummary,
}

impl JoinedLink {
    /// Joins `link` with a session of these `frames`.
    pub(crate) fn new(
        name: &str,
        link: Link,
        frames: &[SessionFrame],
        session: &About,
    ) -> Result<Self, JoinError> {
        let about = About::parse(&link.about);
        let wall = session.begun().zip(about.begun());
        let wall = wall.map(|(session, link)| session.saturating_sub(link));
        let join = Join::new(frames, &link, wall)?;
        let found = || join.frames.iter().flat_map(|found| &found.packets);
        let mut own: Vec<_> = found()
            .map(|place| Flow::of(&link.packets[*place]))
            .collect();
        own.sort_unstable();
        own.dedup();
        let is_joined = |found: &&Found| !found.packets.is_empty();
        let timeline = Timeline::new(frames, LEAST);
        let traffic = own_traffic(&link, &join, &own, &timeline);
        let queues = link.queues.of(join.is_forward);
        let span = timeline.axis().span();
        let summary = JoinSummary {
            file: name.to_owned(),
            link: about,
            clock: join.clock,
            frames: join.frames.iter().filter(is_joined).count(),
            packets: found().count(),
            missing: join
                .frames
                .iter()
                .filter(is_joined)
                .map(|found| found.missing)
                .sum(),
            delay_ms: WayShares::of(ways(&link, &join, frames).into_iter().flatten()),
            beliefs: Beliefs::of(frames, &truths(&traffic, frames, &timeline)),
            traffic: Direction::new(&traffic, join.is_forward, span, queues),
        };
        Ok(Self {
            link,
            join,
            own,
            summary,
        })
    }

    /// The numbers of the joined link.
    pub(crate) const fn summary(&self) -> &JoinSummary {
        &self.summary
    }

    /// The numbers of the joined link as tables.
    pub(crate) fn tables(&self) -> Vec<Table> {
        tables::joined(&self.summary)
    }

    /// The link's parts of the page of `report`.
    pub(crate) fn parts(&self, report: &Report) -> Vec<Part> {
        let frames = &report.frames;
        let timeline = Timeline::new(frames, LEAST);
        let traffic = own_traffic(&self.link, &self.join, &self.own, &timeline);
        let ways = ways(&self.link, &self.join, frames);
        let truths = truths(&traffic, frames, &timeline);
        let title = match self.summary.link.line() {
            line if line.is_empty() => format!("Link {}", self.summary.file),
            line => format!("Link {}: {line}", self.summary.file),
        };
        let mut parts = vec![
            Part::Heading(title),
            Part::Text(tables::clocks(&self.summary)),
            Part::Values(glance_joined(&self.summary)),
        ];
        parts.extend(
            tables::direction(&self.summary.traffic)
                .into_iter()
                .map(Part::Table),
        );
        let mut sections = figures::of_direction(&traffic, timeline.axis(), "");
        let delay = frame_figures::delay(&timeline, frames, &ways);
        let belief = frame_figures::beliefs(&timeline, frames, &truths);
        let delay = delay.map(|figure| Section {
            heading: "Frame delay in the link".to_owned(),
            text: "The frame delay, by the last packet of the frame to arrive: until it comes to \
                   the link (pacing, and what was sent again), its wait in the link's queue, its \
                   serialisation, its propagation, and the rest until the sender holds the \
                   acknowledgement. One upon the other: means of each stretch, and the slowest \
                   frame in it."
                .to_owned(),
            figure,
            table: tables::delay(&self.summary),
        });
        let belief = belief.map(|figure| Section {
            heading: "What the controller believed".to_owned(),
            text: "The controller's estimates when frames were due, and what was true of the \
                   link. The true wait is that of the stream's newest packet at the receiver."
                .to_owned(),
            figure,
            table: tables::beliefs(&self.summary),
        });
        sections.splice(1..1, delay.into_iter().chain(belief));
        parts.extend(sections.into_iter().flat_map(Section::parts));
        parts
    }
}

/// The most important numbers of a joined link.
fn glance_joined(summary: &JoinSummary) -> Vec<(String, String)> {
    let mut values = glance(&summary.traffic);
    if let Some(stream) = summary.traffic.stream() {
        let with = |value: Option<f64>| match value {
            Some(_) => format!("{} ms", number(value, 1)),
            None => number(None, 0),
        };
        let queue = stream.queue_ms;
        let own = [
            ("stream's share of it", percent(stream.share, 1)),
            ("stream's wait, p50", with(queue.map(|all| all.p50))),
            ("stream's wait, p99", with(queue.map(|all| all.p99))),
            ("stream's drops", stream.dropped.to_string()),
            ("stream's marks", stream.marked.to_string()),
        ];
        let own = own.map(|(name, value)| (name.to_owned(), value));
        values.truncate(3);
        values.extend(own);
    }
    values
}

/// The direction that carries a session, on the session's axis.
fn own_traffic<'a>(
    link: &'a Link,
    join: &Join,
    own: &[Flow],
    timeline: &Timeline<'_>,
) -> Traffic<'a> {
    let zero = nanos(timeline.begin()).saturating_add(join.clock.offset_ns);
    // Packets that are not RTP belong to the session by their addresses.
    let is_own = |packet: &Passage<LinkPacket>| {
        let rtp = packet.packet.rtp;
        rtp.is_some_and(|rtp| join.streams.binary_search(&rtp.ssrc).is_ok())
            || own.binary_search(&Flow::of(packet)).is_ok()
    };
    Traffic::new(link, join.is_forward, zero, timeline.axis().span(), is_own)
}

/// The way of each frame through the link.
fn ways(link: &Link, join: &Join, frames: &[SessionFrame]) -> Vec<Option<Way>> {
    let each = frames.iter().zip(&join.frames);
    let offset = join.clock.offset_ns;
    each.map(|(frame, found)| Way::new(frame, found, &link.packets, offset))
        .collect()
}

/// The truth when each frame was due.
fn truths(traffic: &Traffic<'_>, frames: &[SessionFrame], timeline: &Timeline<'_>) -> Vec<Truth> {
    let truths = Truths::new(traffic);
    let due = frames.iter().map(|frame| frame.life.due - timeline.begin());
    due.map(|due| truths.at(due)).collect()
}
