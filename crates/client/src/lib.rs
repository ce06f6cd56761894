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
mod pen;
mod reporter;
mod session;
mod sound;

pub use assembler::{Assembler, Counts, Piece, Whole};
pub use pen::Pen;
pub use reporter::{Came, Reporter, ReporterConfig};
pub use session::{Outcome, Packets, Seen, Session, SessionConfig, Tally};
pub use sound::{Play, SoundBuffer, SoundConfig, SoundCounts};
