//! Recordings of frames and packets as Parquet.
//!
//! A [`Table`] is an observer of one run that keeps what it sees; a
//! [`Recording`] writes tables to one file, a row group for each run. The same
//! tables give the same bytes.
//!
//! A file explains itself: its metadata has the text of the scenario under the
//! key `scenario` and what follows here under `mimosa.columns`.
#![doc = include_str!("columns.md")]

mod column;
mod frames;
mod packets;
mod recording;
mod table;

pub use column::{Column, Row};
pub use frames::FrameRow;
pub use recording::{RecordError, Recording};
pub use table::{Run, Table};
