//! The parts with clocks, sockets and threads.

mod address;
mod data;
mod decode;
mod engine;
mod error;
mod headless;
mod hosts;
mod line;
mod network;
#[cfg(feature = "window")]
mod overlay;
mod pair;
mod player;
#[cfg(feature = "window")]
mod presenting;
mod report;
mod secure;
mod socket;
#[cfg(feature = "window")]
mod system;
mod whep;
#[cfg(feature = "window")]
mod windowed;

pub use address::Address;
pub use data::DataPlan;
pub use decode::{Coded, DecodeThread, Decoded, FromDecoder};
pub use engine::{DecodeIn, DecodedFrame, decoders, sandboxed_decoders};
pub use error::PlayError;
pub use headless::{Headless, play};
pub use line::test_line;
pub use mimosa_sandbox::{Program, serve as serve_decoder};
pub use mimosa_tls::KeyHash;
pub use network::{Connection, ConnectionConfig, FromHost, Loudspeaker, ToHost};
pub use pair::{ask_for_pin, pair};
pub use player::{News, Player};
pub use report::PlayReport;

#[cfg(feature = "window")]
pub use presenting::Presentation;
#[cfg(feature = "window")]
pub use windowed::{Windowed, play_in_window};
