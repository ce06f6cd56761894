//! The messages of `docs/embed/protocol.md`, as bytes: input, the fate of frames, control.
//!
//! Everything read may come from anybody: no input makes anything here panic, and an
//! error says what is wrong, where, and what is expected.

pub mod control;
mod fields;
pub mod frames;
pub mod info;
pub mod input;
mod page_time;
pub mod problem;

pub use page_time::PageTime;
