//! What a session receives from its source, what it hands to its encoder, and what comes back.

use std::sync::Arc;

use mimosa_facts::{EntropyCoding, FrameId, FramePlan};
use mimosa_rtp::video::Payloads;
use mimosa_units::{Rate, Time, TimeDelta};
use mimosa_video::{FrameRequest, Picture, Size};

use super::inputs::Inputs;

/// Number of earlier sound frames that each packet repeats while packets are lost. Our choice: two
/// make up for two lost packets in a row.
pub const REDUNDANCY: usize = 2;

/// A picture from the source, with its times.
#[derive(Debug)]
pub struct Captured {
    /// The picture.
    pub picture: Picture,
    /// When the source reported the change, or began to draw the picture.
    pub at: Time,
    /// The player's actions since the picture before, all of which this picture shows.
    pub inputs: Inputs,
}

/// A block of sound, coded once for all sessions.
#[derive(Clone, Debug)]
pub struct SoundFrame {
    /// Number of the block's first sample, at 48000 samples a second, from the start of the sound.
    pub sample: u64,
    /// When the block's first sample was captured.
    pub captured: Time,
    /// The block, coded as Opus.
    pub data: Vec<u8>,
}

/// A picture to encode.
#[derive(Clone, Debug)]
pub struct Job {
    /// The picture.
    pub picture: Arc<Captured>,
    /// What the frame has to be. The encoder's thread chooses the complexity level itself.
    pub request: FrameRequest,
    /// The rate at which the frame's packets are expected to pass the network.
    pub bandwidth: Rate,
    /// The size at which the picture is encoded.
    pub size: Size,
    /// Whether the budget limits this frame alone, rather than the mean of several frames.
    pub is_limit: bool,
    /// Whether the encoder is to look for as little as it can, whatever its settings.
    pub spares_analysis: bool,
    /// RTP timestamp of the frame's packets.
    pub timestamp: u32,
    /// The most parts in which the frame may come, each as soon as it is coded; 1 for the whole frame.
    pub parts: u8,
    /// How the encoder is to turn its decisions into bits, if it has the choice. One that was opened for the other way
    /// has to be opened anew, and begins with a keyframe.
    pub entropy: EntropyCoding,
}

/// A part of a frame that left the encoder while it works on the rest, or the last one.
#[derive(Clone, Debug)]
pub struct CodedPart {
    /// Number of the frame.
    pub frame: FrameId,
    /// When the encoder took the picture.
    pub begun: Time,
    /// The part, cut into RTP payloads.
    pub payloads: Payloads,
    /// Whether the frame can be decoded without any earlier frame.
    pub is_keyframe: bool,
    /// Whether it is the frame's last part.
    pub is_last: bool,
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
    /// How long the encoder's thread had a processor in between, if that says how much work it was.
    pub processor: Option<TimeDelta>,
    /// The coded frame, or why there is none.
    pub result: Result<Coded, EncoderFailure>,
}

/// Why no frame came out of an encoder. The failure ends the session.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{reason}")]
pub struct EncoderFailure {
    /// What went wrong, worded for the person who runs the host.
    pub reason: String,
}

/// A coded frame.
#[derive(Clone, Debug)]
pub struct Coded {
    /// The frame, cut into RTP payloads; empty if the frame came in parts.
    pub payloads: Payloads,
    /// Bytes of the frame before it was cut into payloads.
    pub length: usize,
    /// What the frame was planned to be.
    pub plan: FramePlan,
    /// Whether the frame can be decoded without any earlier frame.
    pub is_keyframe: bool,
    /// The quantiser that the encoder used, if it says.
    pub quantiser: Option<f32>,
    /// How many times the frame was encoded until it fitted its budget.
    pub attempts: u32,
}
