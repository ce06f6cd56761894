//! What a session gives to its encoder and gets back, and what its source gives.

use std::sync::Arc;

use mimosa_facts::{FrameId, FramePlan};
use mimosa_rtp::video::Payloads;
use mimosa_units::{Rate, Time};
use mimosa_video::{FrameRequest, Picture, Size};

use super::inputs::Inputs;

/// Earlier frames of sound that each packet repeats while packets are lost. Chosen: two make
/// up for two lost packets in a row.
pub const REDUNDANCY: usize = 2;

/// A picture of the source, with its times.
#[derive(Debug)]
pub struct Captured {
    /// The picture.
    pub picture: Picture,
    /// When the damage was reported, or drawing began.
    pub at: Time,
    /// The player's actions since the picture before, all applied before this one.
    pub inputs: Inputs,
}

/// A block of sound, coded once for all sessions.
#[derive(Clone, Debug)]
pub struct SoundFrame {
    /// Number of the block's first sample, of 48000 in a second, from the start of the sound.
    pub sample: u64,
    /// When that sample was captured.
    pub captured: Time,
    /// The block as Opus.
    pub data: Vec<u8>,
}

/// A picture to encode.
#[derive(Clone, Debug)]
pub struct Job {
    /// The picture.
    pub picture: Arc<Captured>,
    /// Budget and purpose of the frame; the encoder's thread decides how much work goes in.
    pub request: FrameRequest,
    /// The rate at which the frame's packets will pass.
    pub bandwidth: Rate,
    /// The size at which the picture is encoded.
    pub size: Size,
    /// Whether the budget is this frame's alone, rather than the mean of frames.
    pub is_limit: bool,
    /// RTP timestamp of the frame's packets.
    pub timestamp: u32,
}

/// A frame as it left the encoder.
#[derive(Debug)]
pub struct Encoded {
    /// Number of the frame.
    pub frame: FrameId,
    /// When the encoder took the picture.
    pub begun: Time,
    /// When the encoder was done.
    pub ended: Time,
    /// The coded frame, or why there is none.
    pub result: Result<Coded, EncoderFailure>,
}

/// Why no frame came out of an encoder. The session ends with it.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{reason}")]
pub struct EncoderFailure {
    /// What went wrong, in words for whoever runs the host.
    pub reason: String,
}

/// A coded frame.
#[derive(Clone, Debug)]
pub struct Coded {
    /// The frame in payloads of RTP.
    pub payloads: Payloads,
    /// Bytes of the frame before it was cut into payloads.
    pub length: usize,
    /// What the frame was meant to be.
    pub plan: FramePlan,
    /// Whether the frame can be decoded without the frames before.
    pub is_keyframe: bool,
    /// The encoder's quantiser, where it says.
    pub quantiser: Option<f32>,
    /// How often the frame was encoded until it fitted.
    pub attempts: u32,
}
