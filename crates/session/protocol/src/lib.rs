//! The messages of `docs/embed/protocol.md` as bytes: input, the display of frames, control.
//!
//! A message may come from anybody. No input makes this crate panic, and an error says what is
//! wrong, where, and what is expected.

pub mod control;
mod fields;
pub mod frames;
pub mod info;
pub mod input;
mod page_time;
pub mod pairing;
pub mod problem;
pub mod proof;
pub mod relay;

pub use page_time::PageTime;
