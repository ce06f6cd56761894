//! Suites of scenarios, the measurements in them, and pages of their results.
//!
//! A [`Suite`] is a folder of scenario files with an index, `suite.toml`. The index says for each
//! case where it comes from, which part of a run counts, and what the simulation cannot do.
//! [`Suite::jobs`] are its runs; [`Suite::run`] makes a [`Record`] of one, and [`page`] a page of
//! all. A suite may contain a paper's claims: [`verdicts`] says which of them hold in the runs.
//! This crate reads no clock and no file, and the same suite gives the same bytes.
//!
//! ```
//! use mimosa_lab::{Choice, Embedded, Suite};
//!
//! let mut files = Embedded::named("scoreboard").ok_or("no such suite")?;
//! let suite = Suite::load("scoreboard", &mut files, &[])?;
//! let choice = Choice {
//!     controllers: vec!["pudica".to_owned()],
//!     seeds: Some((1, 1)),
//!     cases: vec!["constant-8".to_owned()],
//! };
//! let job = &suite.jobs(&choice)?[0];
//! let record = suite.run(job)?;
//! assert!(record.link.utilization > Some(0.8));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bins;
mod clairvoyant;
mod convergence;
mod embedded;
mod error;
mod figure;
mod index;
mod matrix;
mod means;
mod measure;
mod numbers;
mod overview;
mod page;
mod reader;
mod record;
mod rivals;
mod scoreboard;
mod suite;
mod table;
mod trace;

pub use embedded::{Embedded, SUITES};
pub use error::SuiteError;
pub use figure::{Claim, Plot, Quantity, Shown, Verdict, verdicts};
pub use means::{Means, means};
pub use page::{Drawing, Page, page};
pub use record::{
    Converged, Delays, FlowRecord, Key, LinkRecord, QueueRecord, Record, Rival, TcpRecord,
};
pub use suite::{Body, Case, Choice, Job, PageKind, Setting, Suite};
pub use trace::{FlowTrace, Round, Trace};
