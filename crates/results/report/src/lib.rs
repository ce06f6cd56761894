//! What came of a recorded session: numbers, tables and figures.
//!
//! A [`Report`] is made of a [`Session`], and of recordings of the links that it
//! went through where there are some; a [`LinkReport`] of a [`Link`] alone. Both
//! give the same bytes for the same recordings.

mod about;
mod axis;
mod causes;
mod figures;
mod link;
mod over_time;
mod page;
mod sound;
mod spread;
mod stages;
mod summary;
mod tables;
mod timeline;

use mimosa_facts::SessionFrame;
use mimosa_plot::{PlotError, Table};
use mimosa_record::{Link, Session};
use mimosa_units::TimeDelta;

use about::About;
pub use causes::CauseShare;
use link::JoinedLink;
pub use link::{
    Belief, Beliefs, ClockMatch, Direction, JoinError, JoinSummary, LinkReport, Share, WayMillis,
    WayShares,
};
pub use sound::Sound;
pub use spread::Spread;
pub use stages::{StageMillis, StageShares};
pub use summary::{Above, BudgetUse, Encoder, Freezes, Summary};

/// A session and what came of it.
#[derive(Clone, Debug)]
pub struct Report {
    name: String,
    about: About,
    frames: Vec<SessionFrame>,
    summary: Summary,
    links: Vec<JoinedLink>,
}

impl Report {
    /// Reports on `session`, whose recording has this name.
    #[must_use]
    pub fn new(name: &str, session: Session) -> Self {
        let Session { about, mut frames } = session;
        // Frames end in another order than they begin in.
        frames.sort_by_key(|frame| (frame.captured, frame.life.frame));
        Self {
            name: name.to_owned(),
            about: About::parse(&about),
            summary: Summary::of(&frames),
            frames,
            links: Vec::new(),
        }
    }

    /// Counts the frames with more than this delay, beside those counted before.
    pub fn count_above(&mut self, limit: TimeDelta) {
        self.summary.above.push(Above::of(&self.frames, limit));
    }

    /// Adds what the recording `name` of a link says of the session that went
    /// through it.
    ///
    /// # Errors
    ///
    /// [`JoinError`] when none of the session's packets are in it.
    pub fn add_link(&mut self, name: &str, link: Link) -> Result<(), JoinError> {
        let joined = JoinedLink::new(name, link, &self.frames, &self.about)?;
        self.links.push(joined);
        Ok(())
    }

    /// The numbers about each link.
    pub fn links(&self) -> impl Iterator<Item = &JoinSummary> {
        self.links.iter().map(JoinedLink::summary)
    }

    /// The numbers.
    #[must_use]
    pub const fn summary(&self) -> &Summary {
        &self.summary
    }

    /// What describes the session, in one line; empty when nothing does.
    #[must_use]
    pub fn about(&self) -> String {
        self.about.line()
    }

    /// The numbers as tables, those without content left out.
    #[must_use]
    pub fn tables(&self) -> Vec<Table> {
        let mut tables = tables::all(&self.summary);
        tables.extend(self.links.iter().flat_map(JoinedLink::tables));
        tables
    }

    /// What describes the session and the numbers, as an object of JSON.
    ///
    /// # Errors
    ///
    /// None in practice: the numbers are all finite or absent.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        #[derive(serde::Serialize)]
        struct Whole<'a> {
            session: &'a About,
            #[serde(flatten)]
            summary: &'a Summary,
            #[serde(skip_serializing_if = "Vec::is_empty")]
            links: Vec<&'a JoinSummary>,
        }
        serde_json::to_string_pretty(&Whole {
            session: &self.about,
            summary: &self.summary,
            links: self.links().collect(),
        })
    }

    /// The whole report as a page of HTML that refers to nothing outside of
    /// itself.
    ///
    /// # Errors
    ///
    /// [`PlotError`] when the drawing library fails.
    pub fn to_html(&self) -> Result<String, PlotError> {
        page::of(self).to_html()
    }
}
