//! The host: sources, encoders, sessions, signalling and statistics.
//!
//! ```text
//!  source ──pictures──┐                 ┌──jobs──> encoder, one for each session
//!                     v                 │                │
//!  HTTP ──offers──> network <───────────┴─────frames─────┘
//!                     ^ │
//!             UDP ────┘ └──actions──> source
//! ```
//!
//! Sound goes from its own thread directly to the network's.
//!
//! Each box is a thread. The network's thread owns all sessions, each of which is a state machine.

mod coders;
mod controllers;
mod encode;
mod encoders;
mod error;
mod hardware;
mod http;
mod metrics;
mod network;
mod pictures;
mod plan;
mod private;
mod random;
mod recording;
mod scale;
mod serve;
mod sound;
mod source;

pub use controllers::build_controller;
pub use encoders::{ENCODERS, choose_encoder, open_encoder};
pub use error::HostError;
pub use hardware::{Element, Hardware, look_for_hardware};
pub use mimosa_system::priority::may_go_first;
pub use serve::{Urls, serve};
