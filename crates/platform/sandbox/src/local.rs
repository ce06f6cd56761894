//! A decoder in the process that asks for pictures.

use mimosa_avcodec::{DecodeError, DecodedPicture, Decoder, decodable};
use mimosa_facts::Codec;

/// A decoder of whatever codec comes, in this process.
#[derive(Debug)]
pub struct Local {
    decoder: Decoder,
    threads: u8,
}

impl Local {
    /// Opens a decoder of the first codec that libavcodec decodes.
    ///
    /// # Errors
    ///
    /// [`DecodeError`] without a decoder.
    pub fn open(threads: u8) -> Result<Self, DecodeError> {
        let codec = decodable().first().copied().unwrap_or(Codec::H264);
        let decoder = open(codec, threads)?;
        Ok(Self { decoder, threads })
    }

    /// Decodes slices of a frame that is not whole: [`Decoder::begin`].
    pub fn begin(&mut self, frame: u64, from: usize, slices: &[u8]) {
        self.decoder.begin(frame, from, slices);
    }

    /// Decodes a frame, with a decoder of its codec: [`Decoder::decode_begun`].
    ///
    /// # Errors
    ///
    /// As of [`Decoder::decode_begun`].
    pub fn decode(
        &mut self,
        frame: u64,
        codec: Codec,
        access_unit: &[u8],
    ) -> Result<Option<DecodedPicture>, DecodeError> {
        if self.decoder.codec() != codec {
            self.decoder = open(codec, self.threads)?;
        }
        self.decoder.decode_begun(frame, access_unit)
    }
}

/// Opens a decoder. With one thread, slices of H.264 are decoded as they come; with several, those of a whole
/// frame are decoded side by side.
pub(crate) fn open(codec: Codec, threads: u8) -> Result<Decoder, DecodeError> {
    match (codec, threads) {
        (Codec::H264, 1) => Decoder::of_slices(),
        _ => Decoder::new(codec, threads),
    }
}
