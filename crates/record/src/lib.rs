//! Recordings of frames and packets as Parquet.
//!
//! Of simulations: a [`Table`] is an observer of one run that keeps what it
//! sees; a [`Recording`] writes tables to one file, a row group for each run.
//!
//! Of real sessions: a [`SessionRecorder`] writes a [`SessionFrame`] for each
//! frame while the session lasts; [`read_session`] reads them back.
//!
//! The same rows give the same bytes. A file explains itself: its metadata has
//! the text of the scenario under the key `scenario`, or what describes the
//! session, as JSON, under `session`; and its table of those that follow here
//! under `mimosa.columns`.
#![doc = include_str!("columns.md")]

mod column;
mod file;
mod frames;
mod life;
mod packets;
mod read;
mod recorder;
mod recording;
mod restore;
mod session;
mod table;

pub use column::{Column, Row};
pub use frames::FrameRow;
pub use read::{ReadError, Session, read_session};
pub use recorder::SessionRecorder;
pub use recording::{RecordError, Recording};
pub use session::{SessionFrame, Stages};
pub use table::{Run, Table};
