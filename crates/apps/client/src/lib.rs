//! The native client: what lies between the network and the decoder, and the reports back to the
//! host.
//!
//! ```text
//! datagram -> Session::receive -> viewer::Session -> Effect::Decode -> decoder -> screen
//!                    |       \-> SoundBuffer <- Session::play <- loudspeaker
//!                    v
//!                 Reporter -> datagram            Session::act, Session::seen -> datagram
//! ```

mod budget;
mod drive;

pub use budget::Plan;
pub use drive::{
    Address, Coded, Connection, ConnectionConfig, DataPlan, DecodeIn, DecodeThread, Decoded,
    DecodedFrame, FromDecoder, FromHost, Headless, KeyHash, Loudspeaker, News, PlayError,
    PlayReport, Player, Program, ToHost, ask_for_pin, decoders, pair, play, sandboxed_decoders,
    serve_decoder, test_line,
};
#[cfg(feature = "window")]
pub use drive::{Presentation, Windowed, play_in_window};
