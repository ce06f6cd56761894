//! The native client: everything between the network and the decoder, and the decoder's news
//! back to the host.
//!
//! ```text
//! datagram -> Session::receive -> Assembler -> Outcome::Decode -> decoder -> screen
//!                    |       \-> SoundBuffer <- Session::play <- loudspeaker
//!                    v
//!                 Reporter -> datagram            Session::act, Session::seen -> datagram
//! ```

mod assembler;
mod drive;
mod pen;
mod reporter;
mod session;
mod sound;

pub use assembler::{Assembler, Counts, Piece, Whole};
pub use drive::{
    Address, Clock, Coded, Connection, ConnectionConfig, DecodeThread, Decoded, FromHost, Headless,
    Loudspeaker, News, PlayError, Player, Report, ToHost, Windowed, play, play_in_window,
};
pub use pen::Pen;
pub use reporter::{Came, Reporter, ReporterConfig};
pub use session::{Outcome, Packets, Seen, Session, SessionConfig, Tally};
pub use sound::{Play, SoundBuffer, SoundConfig, SoundCounts};
