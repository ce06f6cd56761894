//! Where frames are decoded: in a process of its own, or here.

use mimosa_avcodec::{DecodedPicture, decodable};
use mimosa_facts::Codec;
use mimosa_sandbox::{CopiedPicture, Local, Outcome, Program, SandboxError, Sandboxed, Stop};
use mimosa_session::viewer::{Slices, Whole};
use mimosa_video::{Size, View};

use super::error::PlayError;

/// Where frames are decoded.
#[derive(Clone, Debug)]
pub enum DecodeIn {
    /// In a process that can reach nothing, of this program.
    Sandbox(Program),
    /// In the client's own process.
    Client,
}

/// Lists the codecs that can be decoded here, after opening a decoder of the first.
///
/// # Errors
///
/// [`PlayError::Decode`] if there is no decoder.
pub fn decoders() -> Result<Vec<Codec>, PlayError> {
    Local::open(1)?;
    Ok(decodable())
}

/// Lists the codecs that can be decoded in a process that can reach nothing, after starting it.
///
/// # Errors
///
/// [`SandboxError`], with the reason why there is none.
pub fn sandboxed_decoders(program: Program) -> Result<Vec<Codec>, SandboxError> {
    Sandboxed::start(program, 1, Stop::default()).map(|decoder| decoder.codecs().to_vec())
}

/// A decoded picture.
#[derive(Debug)]
pub enum DecodedFrame {
    /// In libavcodec's memory.
    Own(DecodedPicture),
    /// Copied out of the memory of the decoder's process.
    Copied(CopiedPicture),
}

impl DecodedFrame {
    /// The size of the picture.
    #[must_use]
    pub const fn size(&self) -> Size {
        match self {
            Self::Own(picture) => picture.size(),
            Self::Copied(picture) => picture.size(),
        }
    }

    /// Whether something in the picture was missing or wrong, and was filled in.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        match self {
            Self::Own(picture) => picture.is_damaged(),
            Self::Copied(picture) => picture.is_damaged(),
        }
    }

    /// The picture's samples.
    #[must_use]
    pub fn view(&self) -> View<'_> {
        match self {
            Self::Own(picture) => picture.view(),
            Self::Copied(picture) => picture.view(),
        }
    }
}

/// What becomes of a frame.
#[derive(Debug)]
pub(super) enum Done {
    /// The frame was decoded, into a picture if it has one.
    Picture(Option<DecodedFrame>),
    /// The frame cannot be decoded, for this reason.
    Refused(String),
    /// The frame ended the decoder's process, for this reason, and another process has its place.
    Replaced(String),
}

/// A decoder.
#[derive(Debug)]
pub(super) enum Engine {
    Sandbox(Box<Sandboxed>),
    Client(Local),
}

impl Engine {
    /// Starts a decoder, which ends with the calling thread or when it is stopped.
    pub(super) fn start(place: DecodeIn, threads: u8, stop: Stop) -> Result<Self, PlayError> {
        let DecodeIn::Sandbox(program) = place else {
            return Ok(Self::Client(Local::open(threads)?));
        };
        match Sandboxed::start(program, threads, stop) {
            Ok(sandboxed) => Ok(Self::Sandbox(Box::new(sandboxed))),
            Err(error) => {
                // Without libavcodec, or with a wrong number of threads, there is no decoder at all.
                Local::open(threads)?;
                Err(PlayError::NoSandbox(error))
            }
        }
    }

    /// The codecs that are decoded.
    pub(super) fn codecs(&self) -> Vec<Codec> {
        match self {
            Self::Sandbox(sandboxed) => sandboxed.codecs().to_vec(),
            Self::Client(_) => decodable(),
        }
    }

    pub(super) fn begin(&mut self, slices: &Slices) {
        let (number, from, units) = (slices.number, slices.from, &slices.units);
        match self {
            Self::Sandbox(sandboxed) => sandboxed.begin(number, from, units),
            Self::Client(local) => local.begin(number, from, units),
        }
    }

    /// Decodes a frame.
    ///
    /// # Errors
    ///
    /// [`PlayError::DecoderGone`] if no frame can be decoded any more.
    pub(super) fn decode(&mut self, frame: &Whole) -> Result<Done, PlayError> {
        let (number, codec, unit) = (frame.number, frame.codec, &frame.access_unit);
        match self {
            Self::Sandbox(sandboxed) => match sandboxed.decode(number, codec, unit) {
                Ok(Outcome::Picture(picture)) => {
                    Ok(Done::Picture(Some(DecodedFrame::Copied(picture))))
                }
                Ok(Outcome::Nothing) => Ok(Done::Picture(None)),
                Ok(Outcome::Refused(reason)) => Ok(Done::Refused(reason)),
                Ok(Outcome::Replaced(death)) => Ok(Done::Replaced(death.to_string())),
                Err(error) => Err(PlayError::DecoderGone(error)),
            },
            Self::Client(local) => Ok(match local.decode(number, codec, unit) {
                Ok(picture) => Done::Picture(picture.map(DecodedFrame::Own)),
                Err(error) => Done::Refused(error.to_string()),
            }),
        }
    }
}
