//! What goes over the wire, as bytes: H.264 in RTP, input, the fate of frames,
//! and control messages. The formats are those of `docs/protocol.md`.
//!
//! Everything read may come from anybody: no input makes anything here panic, and an
//! error says what is wrong, where, and what is expected.

mod action;
pub mod congestion_control;
pub mod control;
pub mod dependency;
pub mod enclosed;
mod fields;
pub mod flexfec;
pub mod frames;
pub mod h264;
pub mod info;
pub mod input;
pub mod nack;
mod page_time;
pub mod problem;
mod reader;
pub mod red;
pub mod repair;
pub mod rtcp;
pub mod rtx;
pub mod transport_cc;

pub use action::{Action, Button, Gamepad, TouchPhase};
pub use page_time::PageTime;
