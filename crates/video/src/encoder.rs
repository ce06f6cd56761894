//! What an encoder is asked for, frame by frame, and what it says it can do.

use mimosa_control::FrameId;
use mimosa_units::{Bytes, TimeDelta};

use crate::picture::{Picture, Size};

/// A video codec.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Codec {
    /// ITU-T H.264, as an Annex B byte stream.
    H264,
    /// ITU-T H.265 (HEVC), as an Annex B byte stream.
    H265,
    /// AV1, as a temporal unit in the low-overhead bitstream format (section 5 of its
    /// specification).
    Av1,
}

impl Codec {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::H264, Self::H265, Self::Av1];

    /// Its name in RTP (the encoding name of `a=rtpmap`), settings and recordings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::H264 => "H264",
            Self::H265 => "H265",
            Self::Av1 => "AV1",
        }
    }

    /// What the name of a file with its stream ends with.
    #[must_use]
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::H264 => "h264",
            Self::H265 => "h265",
            Self::Av1 => "obu",
        }
    }
}

/// How much work an encoder puts into a frame: the levels of the ACE paper,
/// section 5.1, from the cheapest.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, PartialOrd)]
pub enum Complexity {
    /// c0: the fewest partitions, a small motion search.
    #[default]
    C0,
    /// c0 with inter partitions, hexagonal search and finer sub-pixels; between
    /// the paper's levels.
    C0Plus,
    /// c1: all partitions, hexagonal search.
    C1,
    /// c2: c1 with trellis quantisation.
    C2,
}

impl Complexity {
    /// From the least work on.
    pub const ALL: [Self; 4] = [Self::C0, Self::C0Plus, Self::C1, Self::C2];

    /// Its name in settings and recordings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::C0 => "c0",
            Self::C0Plus => "c0+",
            Self::C1 => "c1",
            Self::C2 => "c2",
        }
    }
}

/// What an encoder can do. A field that is false means that the matching field of
/// a [`FrameRequest`] has no effect.
#[derive(Clone, Debug, PartialEq)]
pub struct Capabilities {
    /// A name for people, e.g. `libx264 0.164`.
    pub name: String,
    /// What it produces.
    pub codec: Codec,
    /// It keeps every frame within [`FrameRequest::budget`].
    pub obeys_budget: bool,
    /// [`FrameRequest::complexity`] can change from frame to frame.
    pub switches_complexity: bool,
    /// [`Recovery::Without`] is possible.
    pub invalidates_references: bool,
}

/// What is asked for with one picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameRequest {
    /// The frame's number; it rises from call to call, with gaps.
    pub frame: FrameId,
    /// The most the frame may have, coded.
    pub budget: Bytes,
    /// Time to the next frame.
    pub interval: TimeDelta,
    /// How much work to put in.
    pub complexity: Complexity,
    /// Whether the viewer's decoder lacks something.
    pub recovery: Recovery,
}

/// What the viewer's decoder lacks, and how the next frame makes up for it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Recovery {
    /// Nothing.
    #[default]
    None,
    /// The frames from this one to the last encoded: the next one must not
    /// refer to any of them.
    Without(FrameId),
    /// Everything: a keyframe.
    Keyframe,
}

/// A coded frame.
#[derive(Clone, Debug, PartialEq)]
pub struct EncodedFrame {
    /// Which.
    pub frame: FrameId,
    /// The access unit as the codec's byte stream.
    pub data: Vec<u8>,
    /// It needs no other frame.
    pub is_keyframe: bool,
    /// The mean quantisation parameter (H.264: 0 to 51), if known.
    pub quantiser: Option<f32>,
    /// How often it was encoded to fit; one for at once.
    pub attempts: u32,
    /// The mean squared error of its brightness, in levels squared, if known.
    pub distortion: Option<f64>,
}

/// Why there is no frame.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The picture has another size than the encoder was opened for.
    #[error("a picture of {got} for an encoder opened for {expected}; open another")]
    WrongSize {
        /// The picture's.
        got: Size,
        /// The encoder's.
        expected: Size,
    },
    /// The encoder failed at an operation, with its own word for why.
    #[error("{encoder} failed at {operation}: {reason}")]
    Failed {
        /// Which encoder.
        encoder: &'static str,
        /// At what.
        operation: &'static str,
        /// Its error code or message.
        reason: String,
    },
}

/// A video encoder without delay: one picture in, one frame out.
pub trait Encoder: Send {
    /// What it can do.
    fn capabilities(&self) -> &Capabilities;

    /// Encodes `picture` as the next frame.
    ///
    /// # Errors
    ///
    /// [`EncodeError`]; the stream can go on after [`EncodeError::WrongSize`]
    /// only.
    fn encode(
        &mut self,
        picture: &Picture,
        request: &FrameRequest,
    ) -> Result<EncodedFrame, EncodeError>;
}
