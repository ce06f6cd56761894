//! Real encoders and decoders, for runs in which pictures are coded and compared.
//!
//! Beside each encoder runs a decoder that misses nothing. The digest of its picture is what
//! the player's picture has to be: a frame that refers to one that the player's decoder
//! lacks gives another picture, whether or not the decoder notices.

use std::collections::BTreeMap;

use mimosa_session::host::{EncoderFailure, Job};
use mimosa_video::{EncodedFrame, Encoder, Picture, Size};

/// Frames whose digest is kept: more than a player may be behind.
const MOST: usize = 1_024;

/// Opens an encoder for pictures of one size; the error is for people.
pub type OpenEncoder = fn(Size) -> Result<Box<dyn Encoder>, String>;
/// Opens a decoder; the error is for people.
pub type OpenDecoder = fn() -> Result<Box<dyn PictureDecoder>, String>;

/// Real encoders and decoders in the place of models.
#[derive(Clone, Copy, Debug)]
pub struct Codecs {
    /// Opens the encoder of a session, and another one when the pictures change their size.
    pub encoder: OpenEncoder,
    /// Opens the decoder of a player.
    pub decoder: OpenDecoder,
}

/// A decoder whose pictures are compared.
pub trait PictureDecoder {
    /// Decodes one frame and gives a digest of the picture's samples; `None` for a frame that
    /// gives no picture, or one that the decoder marks as damaged.
    fn decode(&mut self, frame: &[u8]) -> Option<u64>;
}

/// FNV-1a of 64 bits over bytes, from the value that an earlier call gave, or from zero.
#[must_use]
pub fn digest(before: u64, bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(before ^ 0xcbf2_9ce4_8422_2325, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

/// A session's real encoder, and the digests of its pictures as they decode.
pub(crate) struct RealEncoder {
    codecs: Codecs,
    opened: Option<(Size, Box<dyn Encoder>)>,
    mirror: Box<dyn PictureDecoder>,
    /// Digests of pictures, by the RTP timestamps of frames.
    digests: BTreeMap<u32, u64>,
}

impl RealEncoder {
    /// An encoder that opens with its first frame; `None` where no decoder opens.
    pub(crate) fn new(codecs: Codecs) -> Option<Self> {
        Some(Self {
            codecs,
            opened: None,
            mirror: (codecs.decoder)().ok()?,
            digests: BTreeMap::new(),
        })
    }

    /// The coded frame that a job asks for.
    pub(crate) fn code(&mut self, job: &Job) -> Result<EncodedFrame, EncoderFailure> {
        let picture = &job.picture.picture;
        let failed = |reason: String| EncoderFailure { reason };
        let opened = match self.opened.take_if(|(size, _)| *size == picture.size()) {
            Some(opened) => opened,
            None => (
                picture.size(),
                (self.codecs.encoder)(picture.size()).map_err(failed)?,
            ),
        };
        let (_, encoder) = self.opened.insert(opened);
        let frame = encoder.encode_in_parts(picture, &job.request, job.parts, &mut |_| {});
        let frame = frame.map_err(|error| failed(error.to_string()))?;
        let decoded = self.mirror.decode(&frame.data);
        let digest = decoded.ok_or_else(|| failed("the coded frame does not decode".to_owned()))?;
        self.digests.insert(job.timestamp, digest);
        if self.digests.len() > MOST {
            self.digests.pop_first();
        }
        Ok(frame)
    }

    /// The digest of the picture with this RTP timestamp.
    pub(crate) fn digest(&self, timestamp: u32) -> Option<u64> {
        self.digests.get(&timestamp).copied()
    }
}

/// Draws the picture with this number: slopes that move, and grain that does not repeat.
pub(crate) fn draw(picture: &mut Picture, number: u64) {
    let width = picture.size().width() as usize;
    for (plane, samples) in picture.planes_mut().into_iter().enumerate() {
        let width = if plane == 0 { width } else { width / 2 };
        for (place, sample) in samples.iter_mut().enumerate() {
            let (column, row) = (place % width, place / width);
            let slope = (column * 2 + row * 3) as u64 + number * 2;
            let grain = digest(number, &place.to_le_bytes()) >> 60;
            *sample = u8::try_from(32 + slope % 160 + grain).unwrap_or(u8::MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_differ_and_are_the_same_each_time() {
        let drawn = |number| {
            let mut picture = Picture::new(Size::SMALLEST);
            draw(&mut picture, number);
            picture
        };
        assert_eq!(drawn(3).planes(), drawn(3).planes());
        assert_ne!(drawn(3).planes(), drawn(4).planes());
    }
}
