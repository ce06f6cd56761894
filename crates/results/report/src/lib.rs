//! Reports on recorded sessions and links: numbers, tables and figures.
//!
//! A [`Report`] is made from a [`Session`] and, if there are any, from recordings of the links
//! through which it went; a [`LinkReport`] from a [`Link`] alone. The same recordings give the same
//! bytes.

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

/// A report on a session.
#[derive(Clone, Debug)]
pub struct Report {
    name: String,
    about: About,
    frames: Vec<SessionFrame>,
    summary: Summary,
    links: Vec<JoinedLink>,
}

impl Report {
    /// Makes a report on `session`, from the recording with this name.
    #[must_use]
    pub fn new(name: &str, session: Session) -> Self {
        let Session { about, mut frames } = session;
        // Frames end in another order than that of their capture.
        frames.sort_by_key(|frame| (frame.captured, frame.life.frame));
        Self {
            name: name.to_owned(),
            about: About::parse(&about),
            summary: Summary::of(&frames),
            frames,
            links: Vec::new(),
        }
    }

    /// Adds the number of frames with more than this delay.
    pub fn count_above(&mut self, limit: TimeDelta) {
        self.summary.above.push(Above::of(&self.frames, limit));
    }

    /// Adds the recording `name` of a link through which the session went.
    ///
    /// # Errors
    ///
    /// [`JoinError`] if no packet of the session is in the recording.
    pub fn add_link(&mut self, name: &str, link: Link) -> Result<(), JoinError> {
        let joined = JoinedLink::new(name, link, &self.frames, &self.about)?;
        self.links.push(joined);
        Ok(())
    }

    /// Summaries of each link.
    pub fn links(&self) -> impl Iterator<Item = &JoinSummary> {
        self.links.iter().map(JoinedLink::summary)
    }

    /// Summary of the session.
    #[must_use]
    pub const fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Description of the session in one line; empty if there is none.
    #[must_use]
    pub fn about(&self) -> String {
        self.about.line()
    }

    /// The numbers as tables, without empty ones.
    #[must_use]
    pub fn tables(&self) -> Vec<Table> {
        let mut tables = tables::all(&self.summary);
        tables.extend(self.links.iter().flat_map(JoinedLink::tables));
        tables
    }

    /// The description of the session and the numbers, as a JSON object.
    ///
    /// # Errors
    ///
    /// Does not happen: the numbers are all finite or absent.
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

    /// The whole report as an HTML page without external references.
    ///
    /// # Errors
    ///
    /// [`PlotError`] if the drawing library fails.
    pub fn to_html(&self) -> Result<String, PlotError> {
        page::of(self).to_html()
    }
}
