//! The parts with clocks, sockets and threads.

mod clock;
mod decode;
mod error;
mod headless;
mod network;
mod overlay;
mod player;
mod report;
mod socket;
mod system;
mod whep;
mod windowed;

pub use clock::Clock;
pub use decode::{Coded, DecodeThread, Decoded};
pub use error::PlayError;
pub use headless::{Headless, play};
pub use network::{Connection, ConnectionConfig, FromHost, Loudspeaker, ToHost};
pub use player::{News, Player};
pub use report::Report;
pub use whep::Address;
pub use windowed::{Windowed, play_in_window};
