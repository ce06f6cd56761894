//! libx264 and libavcodec as the codecs of a world.

use mimosa_avcodec::Decoder;
use mimosa_facts::Codec;
use mimosa_video::{Encoder, Plane, Size};
use mimosa_x264::{Config, X264};

use crate::codecs::{Codecs, PictureDecoder, digest};

/// Frames in a second that libx264 is told; the budgets of frames are what counts.
const FRAMES_PER_SECOND: u32 = 60;

impl Codecs {
    /// H.264 by libx264, with one thread so that a seed gives the same bytes each time, and
    /// by libavcodec.
    pub const X264: Self = Self { encoder, decoder };
}

fn encoder(size: Size) -> Result<Box<dyn Encoder>, String> {
    let config = Config {
        threads: 1,
        ..Config::new(size, FRAMES_PER_SECOND)
    };
    match X264::open(config) {
        Ok(encoder) => Ok(Box::new(encoder)),
        Err(error) => Err(error.to_string()),
    }
}

fn decoder() -> Result<Box<dyn PictureDecoder>, String> {
    match Decoder::new(Codec::H264, 1) {
        Ok(decoder) => Ok(Box::new(Libavcodec(decoder))),
        Err(error) => Err(error.to_string()),
    }
}

struct Libavcodec(Decoder);

impl PictureDecoder for Libavcodec {
    fn decode(&mut self, frame: &[u8]) -> Option<u64> {
        let picture = self.0.decode(frame).ok().flatten()?;
        if picture.is_damaged() {
            return None;
        }
        let view = picture.view();
        let planes = [Plane::Y, Plane::U, Plane::V];
        Some(
            planes
                .into_iter()
                .fold(0, |hash, plane| view.rows(plane).fold(hash, digest)),
        )
    }
}
