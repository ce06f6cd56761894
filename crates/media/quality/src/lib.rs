//! Pictures in files, and the difference between two pictures.
//!
//! ```text
//! bytes -> Reader -> Frame, Frame -> FrameDifference -> Summary
//! ```
//!
//! [`Reader`] takes YUV4MPEG2 (`.y4m`) in pieces of any size; [`Header`] and [`frame_line`]
//! write it. [`FrameDifference`] holds the squared error and the structural similarity of
//! each plane of a frame. An [`IndexRow`] states the place of a coded frame in a recorded
//! stream. This crate opens no file.

mod difference;
mod frame;
mod header;
mod index;
mod reader;
mod similarity;
mod summary;
mod writer;

pub use difference::{DifferenceError, FrameDifference, psnr};
pub use frame::{Frame, PlaneSize};
pub use header::{FrameRate, Header, Y4mError};
pub use index::{INDEX_HEADER, IndexError, IndexRow};
pub use reader::Reader;
pub use summary::{Distribution, Summary};
pub use writer::frame_line;
