//! How sound is counted: in blocks of ten milliseconds.

use mimosa_units::TimeDelta;

/// The sample frames per second. Opus has no higher rate (RFC 6716, section 2.1.3), and its
/// RTP clock has this rate whatever the actual one is (RFC 7587, section 4.1).
pub const RATE: u32 = 48_000;
/// The number of channels: left and right.
pub const CHANNELS: usize = 2;
/// The length of a block: the shortest frame of Opus that can have forward error correction
/// (RFC 6716, section 2.1.4).
pub const BLOCK: TimeDelta = TimeDelta::from_millis(10);
/// The number of sample frames in a block.
pub const FRAMES: usize = 480;

/// The samples of a block, left and right in turn.
pub type Block = [i16; FRAMES * CHANNELS];

/// The length of so many sample frames.
#[must_use]
pub fn span_of(frames: i64) -> TimeDelta {
    let nanos = i128::from(frames) * 1_000_000_000 / i128::from(RATE);
    TimeDelta::from_nanos(i64::try_from(nanos).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_as_long_as_it_says() {
        assert_eq!(span_of(480), BLOCK);
        assert_eq!(span_of(-48_000), TimeDelta::from_millis(-1_000));
        assert_eq!(span_of(i64::MAX), TimeDelta::from_nanos(i64::MAX));
    }
}
