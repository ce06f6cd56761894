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

mod controllers;
pub mod devices;
mod encoding;
mod error;
mod http;
mod machine;
mod metrics;
mod network;
mod owning;
mod pairing;
mod private;
mod recording;
mod serve;
pub mod sessions;
mod sound;
mod source;
mod tls;
mod updates;

pub use controllers::{build_controller, check_outside};
pub use encoding::{
    ENCODERS, Element, Hardware, Leaves, choose_encoder, look_for_hardware, open_encoder,
};
pub use error::HostError;
pub use mimosa_system::priority::may_go_first;
pub use owning::{Invitation, Owning, Setting};
pub use serve::{Audience, Told, Urls, serve};
pub use tls::{Certificate, FromAuthority, TlsError, certificate, from_authority};
