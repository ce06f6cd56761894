//! What came of a recorded session: numbers, tables and figures.
//!
//! A [`Report`] is made of a [`Session`] alone and
//! gives the same bytes for the same one.

mod about;
mod figures;
mod over_time;
mod page;
mod spread;
mod stages;
mod summary;
mod tables;
mod timeline;

use mimosa_plot::{PlotError, Table};
use mimosa_record::{Session, SessionFrame};

use about::About;
pub use spread::Spread;
pub use stages::{StageMillis, StageShares};
pub use summary::{BudgetUse, CauseShare, Encoder, Freezes, Summary};

/// A session and what came of it.
#[derive(Clone, Debug)]
pub struct Report {
    name: String,
    about: About,
    frames: Vec<SessionFrame>,
    summary: Summary,
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
        }
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
        tables::all(&self.summary)
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
        }
        serde_json::to_string_pretty(&Whole {
            session: &self.about,
            summary: &self.summary,
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
