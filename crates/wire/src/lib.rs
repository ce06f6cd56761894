//! What goes over the wire, as bytes: video in RTP, input, the fate of frames,
//! and control messages. The formats are those of `docs/protocol.md`.
//!
//! Everything read may come from anybody: no input makes anything here panic, and an
//! error says what is wrong, where, and what is expected.

mod action;
pub mod av1;
pub mod congestion_control;
pub mod control;
pub mod dependency;
pub mod enclosed;
mod fields;
pub mod flexfec;
pub mod frames;
pub mod h264;
pub mod h265;
pub mod info;
pub mod input;
pub mod nack;
mod nal;
mod page_time;
mod payloads;
pub mod problem;
mod reader;
pub mod red;
pub mod repair;
pub mod rtcp;
pub mod rtx;
pub mod transport_cc;
pub mod video;

pub use action::{Action, Button, Gamepad, TouchPhase};
pub use page_time::PageTime;
