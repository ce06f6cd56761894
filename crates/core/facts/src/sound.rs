//! Constants of sound, which is handled in blocks of ten milliseconds.

use mimosa_units::TimeDelta;

/// Sample frames in a second. Opus has no higher rate (RFC 6716, section 2.1.3), and its RTP clock
/// always has this one (RFC 7587, section 4.1).
pub const RATE: u32 = 48_000;
/// Number of channels: left and right.
pub const CHANNELS: usize = 2;
/// Duration of a block: the shortest Opus frame that can have forward error correction (RFC 6716,
/// section 2.1.4).
pub const BLOCK: TimeDelta = TimeDelta::from_millis(10);
/// Number of sample frames in a block.
pub const FRAMES: usize = 480;

/// The samples of a block, with left and right alternating.
pub type Block = [i16; FRAMES * CHANNELS];

/// Duration of this many sample frames.
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
