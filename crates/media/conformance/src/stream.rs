//! A short stream whose pictures are known, for decoding parts of it.

use mimosa_facts::{Codec, FrameId};
use mimosa_quality::psnr;
use mimosa_units::Bytes;
use mimosa_video::{EncodedFrame, Encoder, FrameRequest, Picture, Plane, Recovery, Size};

use crate::clip::Clip;
use crate::ffmpeg::{decode, try_to_decode};
use crate::request::plain_request;

/// The number of frames in a stream.
pub const FRAMES: u64 = 100;
/// The budget of every frame: 2.9 Mbit/s.
pub const BUDGET: Bytes = Bytes::new(6_000);
/// How far apart the numbers of two frames are: two of three frames are skipped.
const STRIDE: u64 = 3;

/// The size of a stream's pictures.
#[must_use]
pub fn stream_size() -> Size {
    Size::new(320, 240).unwrap()
}

/// A stream of [`FRAMES`] frames, with the pictures that went in.
///
/// Frames are counted from zero here. The encoder sees every third number, see
/// [`Stream::id`].
pub struct Stream {
    codec: Codec,
    pictures: Vec<Picture>,
    frames: Vec<EncodedFrame>,
}

impl Stream {
    /// Encodes a stream in which `recovery` gives what each frame makes up for.
    #[must_use]
    pub fn encode(encoder: &mut dyn Encoder, recovery: impl Fn(u64) -> Recovery) -> Self {
        let mut clip = Clip::new(stream_size(), 6);
        let pictures: Vec<_> = (0..FRAMES).map(|time| clip.picture(time)).collect();
        let frames = (0..)
            .zip(&pictures)
            .map(|(number, picture)| {
                let request = FrameRequest {
                    recovery: recovery(number),
                    ..plain_request(Self::id(number).0, BUDGET)
                };
                encoder.encode(picture, &request).unwrap()
            })
            .collect();
        Self {
            codec: encoder.capabilities().codec,
            pictures,
            frames,
        }
    }

    /// The number under which the encoder knows frame `number`.
    #[must_use]
    pub const fn id(number: u64) -> FrameId {
        FrameId(number * STRIDE)
    }

    /// The frames.
    #[must_use]
    pub fn frames(&self) -> &[EncodedFrame] {
        &self.frames
    }

    /// The pictures that were encoded.
    #[must_use]
    pub fn pictures(&self) -> &[Picture] {
        &self.pictures
    }

    /// The numbers of the keyframes.
    #[must_use]
    pub fn keyframes(&self) -> Vec<u64> {
        let frames = (0..).zip(&self.frames);
        frames
            .filter(|(_, frame)| frame.is_keyframe)
            .map(|(number, _)| number)
            .collect()
    }

    /// The coded bytes of the frames that `arrives` is true for.
    #[must_use]
    pub fn bytes(&self, arrives: impl Fn(u64) -> bool) -> Vec<u8> {
        let frames = (0..).zip(&self.frames);
        frames
            .filter(|(number, _)| arrives(*number))
            .flat_map(|(_, frame)| frame.data.iter().copied())
            .collect()
    }

    /// The pictures that a decoder makes of the frames that `arrives` is true for, none of
    /// which it may complain about.
    #[must_use]
    pub fn decode(&self, arrives: impl Fn(u64) -> bool) -> Vec<Vec<u8>> {
        decode(self.codec, stream_size(), self.bytes(arrives))
    }

    /// The complaints of a decoder about the frames that `arrives` is true for.
    #[must_use]
    pub fn complaints(&self, arrives: impl Fn(u64) -> bool) -> String {
        try_to_decode(self.codec, stream_size(), self.bytes(arrives)).1
    }

    /// The quality in decibels of each frame that `arrives` is true for, with its number.
    #[must_use]
    pub fn qualities(&self, arrives: impl Fn(u64) -> bool) -> Vec<(u64, f64)> {
        let decoded = self.decode(&arrives);
        let sources = (0..).zip(&self.pictures);
        let sources: Vec<_> = sources.filter(|(number, _)| arrives(*number)).collect();
        assert_eq!(decoded.len(), sources.len(), "pictures out of the decoder");
        sources
            .into_iter()
            .zip(decoded)
            .map(|((number, picture), decoded)| (number, luma_psnr(picture, &decoded)))
            .collect()
    }
}

/// The peak signal-to-noise ratio of a decoded picture's brightness, in decibels; at most
/// that of a picture with one level of error in one sample.
#[must_use]
pub fn luma_psnr(picture: &Picture, decoded: &[u8]) -> f64 {
    let luma = picture.plane(Plane::Y);
    let squares: u64 = luma
        .iter()
        .zip(decoded)
        .map(|(&source, &result)| u64::from(source.abs_diff(result)).pow(2))
        .sum();
    psnr(squares.max(1) as f64 / luma.len() as f64)
}
