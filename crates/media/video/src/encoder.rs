//! The interface of encoders: requests, frame by frame, and capabilities.

use mimosa_facts::{Codec, Complexity, EntropyCoding, FrameId};
use mimosa_units::{Bytes, TimeDelta};

use crate::picture::{Picture, Size};

/// The lowest quantiser of an encoder by default, on H.264's scale: what x264's users call
/// visually lossless.
pub const FINEST_QUANTISER: u8 = 17;

/// The abilities of an encoder. A field that is false means that the matching field of a
/// [`FrameRequest`] has no effect.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an ability of its own"
)]
pub struct Capabilities {
    /// A name for people, e.g. `libx264 0.164`.
    pub name: String,
    /// The codec of the encoder's frames.
    pub codec: Codec,
    /// Whether every frame keeps within [`FrameRequest::budget`].
    pub obeys_budget: bool,
    /// Whether [`FrameRequest::complexity`] can change from frame to frame.
    pub switches_complexity: bool,
    /// Whether [`Recovery::Without`] avoids a keyframe.
    pub invalidates_references: bool,
    /// Whether threads of the encoder's own do the work, so that the caller's processor time does
    /// not say how much it was.
    pub has_own_threads: bool,
}

/// The request for the frame of one picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameRequest {
    /// The frame's number; it rises from call to call, with gaps.
    pub frame: FrameId,
    /// The most bytes that the coded frame may have.
    pub budget: Bytes,
    /// The time to the next frame.
    pub interval: TimeDelta,
    /// The amount of encoding work.
    pub complexity: Complexity,
    /// The frames that the viewer's decoder lacks.
    pub recovery: Recovery,
}

/// The frames that the viewer's decoder lacks, and how the next frame makes up for them.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Recovery {
    /// The decoder lacks nothing.
    #[default]
    None,
    /// The decoder lacks the frames from this one to the last encoded: the next frame must
    /// not refer to any of them.
    Without(FrameId),
    /// The decoder lacks everything: the next frame is a keyframe.
    Keyframe,
}

impl Recovery {
    /// Whether the next frame must be a keyframe, for an encoder whose frames always refer
    /// to the last one. `last` is the last frame that was encoded.
    #[must_use]
    pub fn needs_keyframe(self, last: Option<FrameId>) -> bool {
        match (self, last) {
            (_, None) | (Self::Keyframe, _) => true,
            (Self::Without(first), Some(last)) => first <= last,
            (Self::None, Some(_)) => false,
        }
    }
}

/// A coded frame.
#[derive(Clone, Debug, PartialEq)]
pub struct EncodedFrame {
    /// The frame's number.
    pub frame: FrameId,
    /// The access unit as the codec's byte stream.
    pub data: Vec<u8>,
    /// Whether the frame can be decoded without any other.
    pub is_keyframe: bool,
    /// The mean quantisation parameter (H.264: 0 to 51), if known.
    pub quantiser: Option<f32>,
    /// The number of times that the picture was encoded until it fitted, at least one.
    pub attempts: u32,
    /// The mean squared error of the brightness, in levels squared, if known.
    pub distortion: Option<f64>,
}

/// A part of a frame, handed out as soon as it is coded.
#[derive(Clone, Copy, Debug)]
pub struct FramePart<'a> {
    /// The next bytes of the access unit: whole units of the codec's byte stream.
    pub data: &'a [u8],
    /// Whether the part's frame can be decoded without any other.
    pub is_keyframe: bool,
    /// Whether the frame has no further part.
    pub is_last: bool,
}

/// The reason why there is no frame.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The picture has another size than the encoder was opened for.
    #[error("a picture of {got} for an encoder opened for {expected}; open another")]
    WrongSize {
        /// The size of the picture.
        got: Size,
        /// The size that the encoder was opened for.
        expected: Size,
    },
    /// The encoder failed at an operation.
    #[error("{encoder} failed at {operation}: {reason}")]
    Failed {
        /// The encoder's name.
        encoder: &'static str,
        /// The operation.
        operation: &'static str,
        /// The encoder's error code or message.
        reason: String,
    },
}

impl EncodeError {
    /// Checks that a picture has the size that an encoder was opened for.
    ///
    /// # Errors
    ///
    /// [`EncodeError::WrongSize`] if it has another one.
    pub fn check_size(picture: &Picture, expected: Size) -> Result<(), Self> {
        let got = picture.size();
        if got == expected {
            Ok(())
        } else {
            Err(Self::WrongSize { got, expected })
        }
    }
}

/// A video encoder without delay: one picture in, one frame out.
pub trait Encoder: Send {
    /// The abilities of this encoder.
    fn capabilities(&self) -> &Capabilities;

    /// The entropy coding that it was opened for; `None` if it has no choice between the two.
    fn entropy_coding(&self) -> Option<EntropyCoding> {
        None
    }

    /// Encodes `picture` as the next frame.
    ///
    /// # Errors
    ///
    /// [`EncodeError`]; the stream can go on only after [`EncodeError::WrongSize`].
    fn encode(
        &mut self,
        picture: &Picture,
        request: &FrameRequest,
    ) -> Result<EncodedFrame, EncodeError>;

    /// Encodes `picture` as the next frame, in at most `parts` parts (slices, in H.264), and gives each to
    /// `part` as soon as it is coded. The frame that is returned holds all of them. It may exceed its
    /// budget, since what has been handed out cannot be encoded again.
    ///
    /// An encoder that hands out no parts gives the whole frame to `part`.
    ///
    /// # Errors
    ///
    /// [`EncodeError`], as for [`Encoder::encode`]. Parts may have been handed out before.
    fn encode_in_parts(
        &mut self,
        picture: &Picture,
        request: &FrameRequest,
        parts: u8,
        part: &mut dyn FnMut(FramePart<'_>),
    ) -> Result<EncodedFrame, EncodeError> {
        let _ = parts;
        let frame = self.encode(picture, request)?;
        part(FramePart {
            data: &frame.data,
            is_keyframe: frame.is_keyframe,
            is_last: true,
        });
        Ok(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keyframe_is_needed_first_and_when_the_last_frame_is_lost() {
        let last = Some(FrameId(7));
        for (recovery, last, needed) in [
            (Recovery::None, None, true),
            (Recovery::None, last, false),
            (Recovery::Keyframe, last, true),
            (Recovery::Without(FrameId(7)), last, true),
            (Recovery::Without(FrameId(8)), last, false),
            (Recovery::Without(FrameId(8)), None, true),
        ] {
            assert_eq!(
                recovery.needs_keyframe(last),
                needed,
                "{recovery:?} {last:?}"
            );
        }
    }
}
