//! Opus (RFC 6716): a block in, a frame out, and back.

use mimosa_facts::sound::{Block, CHANNELS, FRAMES, RATE};
use mimosa_units::Rate;
use opus::{Application, Bitrate, Channels, Encoder};

use crate::error::AudioError;

/// The largest frame in bytes: three of them, with their headers, fit a datagram of 1200
/// bytes. At 256 kbit/s a frame has 320.
pub const LARGEST: usize = 376;

/// The work for each frame, 0 to 10: libopus's own default. A block takes 0.1 ms of 10.
const COMPLEXITY: i32 = 9;

/// A coded block.
pub type CodedBlock = Vec<u8>;

/// An encoder of blocks.
#[derive(Debug)]
pub struct OpusEncoder {
    encoder: Encoder,
    loss: u8,
}

impl OpusEncoder {
    /// An encoder for this bitrate, which it keeps within a frame or two.
    ///
    /// # Errors
    ///
    /// [`AudioError::Opus`] when libopus refuses the settings.
    pub fn new(bitrate: Rate) -> Result<Self, AudioError> {
        let mut encoder = Encoder::new(RATE, Channels::Stereo, Application::Audio)?;
        let bits = i32::try_from(bitrate.as_bps()).unwrap_or(i32::MAX);
        encoder.set_bitrate(Bitrate::Bits(bits))?;
        encoder.set_complexity(COMPLEXITY)?;
        encoder.set_vbr_constraint(true)?;
        encoder.set_inband_fec(true)?;
        encoder.set_packet_loss_perc(0)?;
        Ok(Self { encoder, loss: 0 })
    }

    /// Sets how many of a hundred packets are lost.
    ///
    /// # Errors
    ///
    /// [`AudioError::Opus`] when libopus refuses the number.
    pub fn set_loss(&mut self, percent: u8) -> Result<(), AudioError> {
        if percent != self.loss {
            self.encoder
                .set_packet_loss_perc(i32::from(percent.min(100)))?;
            self.loss = percent;
        }
        Ok(())
    }

    /// Encodes a block.
    ///
    /// # Errors
    ///
    /// [`AudioError::Opus`] when libopus fails.
    pub fn encode(&mut self, block: &Block) -> Result<CodedBlock, AudioError> {
        let mut coded = vec![0; LARGEST];
        let length = self.encoder.encode(block, &mut coded)?;
        coded.truncate(length);
        Ok(coded)
    }
}

/// A decoder of blocks.
#[derive(Debug)]
pub struct OpusDecoder {
    decoder: opus::Decoder,
}

impl OpusDecoder {
    /// A decoder that has decoded nothing.
    ///
    /// # Errors
    ///
    /// [`AudioError::Opus`] when libopus refuses the settings.
    pub fn new() -> Result<Self, AudioError> {
        let decoder = opus::Decoder::new(RATE, Channels::Stereo)?;
        Ok(Self { decoder })
    }

    /// Decodes a frame.
    ///
    /// # Errors
    ///
    /// [`AudioError::Opus`] for data that is no frame of 10 ms.
    pub fn decode(&mut self, coded: &[u8]) -> Result<Block, AudioError> {
        let mut block = [0; FRAMES * CHANNELS];
        self.decoder.decode(coded, &mut block, false)?;
        Ok(block)
    }

    /// Makes up a missing block from the blocks before it.
    ///
    /// # Errors
    ///
    /// [`AudioError::Opus`] when libopus fails.
    pub fn make_up(&mut self) -> Result<Block, AudioError> {
        self.decode(&[])
    }
}

#[cfg(test)]
mod tests {
    use mimosa_units::Bytes;

    use super::*;
    use crate::tones::crossings;
    use mimosa_facts::sound::BLOCK;

    /// Blocks of a sine of this frequency.
    fn sine(frequency: f64, blocks: usize) -> Vec<Block> {
        let sample = |number: usize| {
            let at = number as f64 / f64::from(RATE);
            let value = libm::sin(std::f64::consts::TAU * frequency * at);
            #[expect(clippy::cast_possible_truncation, reason = "within its bounds")]
            let value = (value * 12_000.0) as i16;
            value
        };
        let block = |number: usize| {
            let mut block = [0; FRAMES * CHANNELS];
            for (index, frame) in block.chunks_mut(CHANNELS).enumerate() {
                frame.fill(sample(number * FRAMES + index));
            }
            block
        };
        (0..blocks).map(block).collect()
    }

    /// Whether a frame uses CELT only, by its configuration (RFC 6716, table 2).
    fn is_celt(frame: &[u8]) -> bool {
        frame[0] >> 3 >= 16
    }

    #[test]
    fn what_is_decoded_has_the_same_frequency_and_the_bitrate_is_kept() {
        let bitrate = Rate::from_kbps(64);
        let mut coder = OpusEncoder::new(bitrate).unwrap();
        let frames: Vec<_> = sine(440.0, 100)
            .iter()
            .map(|block| coder.encode(block).unwrap())
            .collect();
        let mut player = OpusDecoder::new().unwrap();
        let mut left = Vec::new();
        for (number, frame) in frames.iter().enumerate() {
            // One of the blocks is lost and made up, which nobody can hear.
            let block = match number {
                50 => player.make_up(),
                _ => player.decode(frame),
            };
            let block = block.unwrap();
            left.extend(block.iter().step_by(CHANNELS).copied());
        }
        let cycles = crossings(&left);
        assert!((436..=441).contains(&cycles), "{cycles}");
        let size: Bytes = frames
            .iter()
            .map(|frame| Bytes::new(frame.len() as u64))
            .sum();
        let rate = Rate::of(size, BLOCK * 100).ratio(bitrate);
        assert!((0.8..1.1).contains(&rate), "{rate}");
        assert!(player.decode(&[0xff; 3]).is_err(), "no frame");
    }

    /// Forward error correction is part of SILK (RFC 6716, section 2.1.7), which libopus
    /// does not use at this bitrate until enough is lost.
    #[test]
    fn its_own_correction_comes_with_much_loss_only() {
        let mut coder = OpusEncoder::new(Rate::from_kbps(64)).unwrap();
        let celt = |percent| {
            coder.set_loss(percent).unwrap();
            let blocks = sine(440.0, 50);
            let frames = blocks.iter().map(|block| coder.encode(block).unwrap());
            frames.skip(10).filter(|frame| is_celt(frame)).count()
        };
        assert_eq!([0, 1, 20].map(celt), [40, 40, 0]);
    }
}
