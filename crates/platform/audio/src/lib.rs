//! Sound: recording a game through PulseAudio, tones, and Opus.
//!
//! ```text
//! game ─► null sink ─► its monitor ─► parec ─pipe─► Recording ─► Timeline ─► OpusEncoder
//!         PrivateSound: a PulseAudio of our own         Tones ──────────────────┘
//! ```
//!
//! Sound comes in blocks of 10 ms, 48 kHz, two channels. [`Timeline`] gives the time at
//! which a block was captured, because a recording arrives late and in bursts.

mod codec;
mod error;
mod recording;
mod server;
mod timeline;
mod tones;

pub use codec::{CodedBlock, LARGEST, OpusDecoder, OpusEncoder};
pub use error::AudioError;
pub use recording::Recording;
pub use server::PrivateSound;
pub use timeline::{Stamp, Timeline};
pub use tones::{Tone, Tones};
