//! Sound: a game's, recorded through PulseAudio; tones; Opus.
//!
//! ```text
//! game ─► null sink ─► its monitor ─► parec ─pipe─► Recording ─► Timeline ─► Coder
//!         PrivateSound: a PulseAudio of our own         Tones ──────────────────┘
//! ```
//!
//! Everything is in blocks of 10 ms, 48 kHz, two channels. [`Timeline`] says when a
//! block was captured: a recording comes late and in lumps.

mod block;
mod clock;
mod coder;
mod error;
mod recording;
mod server;
mod timeline;
mod tones;

pub use block::{BLOCK, Block, CHANNELS, FRAMES, RATE, span_of};
pub use coder::{Coded, Coder, LARGEST, Player};
pub use error::AudioError;
pub use recording::Recording;
pub use server::PrivateSound;
pub use timeline::{Stamp, Timeline};
pub use tones::{Tone, Tones};
