//! Recordings of frames and packets as Parquet.
//!
//! For simulations, a [`Table`] is an observer of one run that keeps what it is told, and a
//! [`Recording`] writes tables to one file, with a row group for each run.
//!
//! [`columns`] gives the columns of tables as arrays in memory, for programs that take them further.
//!
//! For real sessions, a [`SessionRecorder`] writes a [`SessionFrame`](mimosa_facts::SessionFrame)
//! for each frame while the session lasts; [`read_session`] reads them back.
//!
//! For links, a [`LinkRecorder`] writes a [`Passage`](mimosa_facts::Passage) for each packet while
//! the link runs; [`read_link`] reads them back.
//!
//! The same rows give the same bytes. A file describes itself: its metadata has the text of the
//! scenario under the key `scenario`, or a description of the session or the link, as JSON, under
//! `session` or `link`; and its table of columns, as below, under `mimosa.columns`.
#![doc = include_str!("columns.md")]

mod cells;
mod column;
mod file;
mod frames;
mod in_memory;
mod life;
mod link;
mod packets;
mod read;
mod recorder;
mod recording;
mod restore;
mod session;
mod table;
mod values;

pub use column::{Column, Row};
pub use frames::FrameRow;
pub use in_memory::{ColumnValues, columns};
pub use link::Queues;
pub use read::{Link, ReadError, Recorded, Session, read_link, read_recording, read_session};
pub use recorder::{LinkRecorder, SessionRecorder};
pub use recording::{RecordError, Recording};
pub use table::{Run, Table};
