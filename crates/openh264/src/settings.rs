//! What OpenH264 is opened with.

use mimosa_video::Size;

use crate::raw::Fixed;

/// What x264's users call visually lossless.
const FINEST: u8 = 17;
/// Macroblocks per second and per frame of the levels of H.264 in use, table A-1.
/// Lower ones would do for small pictures, but limit the bit rate.
const LEVELS: [(i32, u64, u64); 3] = [
    (42, 522_240, 8_704),
    (51, 983_040, 36_864),
    (52, 2_073_600, 36_864),
];

/// What an encoder is opened with.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The pictures' size.
    pub size: Size,
    /// Frames per second, for the level that the stream states; a budget holds for
    /// a frame whatever the time to the next.
    pub frames_per_second: u32,
    /// Slices that a frame is cut into, each encoded by a thread of its own.
    pub threads: u8,
    /// The lowest quantiser in use, 1 to 51.
    pub finest: u8,
}

impl Config {
    /// One thread, a quantiser of 17 or more.
    #[must_use]
    pub fn new(size: Size, frames_per_second: u32) -> Self {
        Self {
            size,
            frames_per_second,
            threads: 1,
            finest: FINEST,
        }
    }

    /// The same as OpenH264 takes it.
    pub(crate) fn fixed(&self) -> Fixed {
        Fixed {
            size: self.size,
            threads: self.threads,
            level: self.level(),
            finest: self.finest,
        }
    }

    /// The lowest of [`LEVELS`] that allows the stream, or the highest.
    fn level(&self) -> i32 {
        let blocks = |side: u32| u64::from(side.div_ceil(16));
        let frame = blocks(self.size.width()) * blocks(self.size.height());
        let second = frame * u64::from(self.frames_per_second);
        let [.., highest] = LEVELS;
        LEVELS
            .iter()
            .find(|&&(_, seconds, frames)| second <= seconds && frame <= frames)
            .map_or(highest.0, |level| level.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_allows_the_stream() {
        for (text, frames_per_second, level) in [
            ("1280x720", 60, 42),
            ("1920x1080", 60, 42),
            ("1920x1080", 120, 51),
            ("3840x2160", 60, 52),
        ] {
            let config = Config::new(text.parse().unwrap(), frames_per_second);
            assert_eq!(config.level(), level, "{text} at {frames_per_second}");
        }
    }
}
