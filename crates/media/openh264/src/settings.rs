//! The settings that OpenH264 is opened with.

use mimosa_video::{FINEST_QUANTISER, Size};

use crate::raw::FixedSettings;

/// The levels of H.264 in use with their macroblocks per second and per frame, table A-1.
/// Lower levels would allow small pictures, but they limit the bit rate.
const LEVELS: [(i32, u64, u64); 3] = [
    (42, 522_240, 8_704),
    (51, 983_040, 36_864),
    (52, 2_073_600, 36_864),
];

/// The settings that an encoder is opened with.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The size of the pictures.
    pub size: Size,
    /// The frame rate, from which the level in the stream follows. A budget holds for one
    /// frame, whatever the time to the next.
    pub frames_per_second: u32,
    /// The number of slices that a frame is cut into, each encoded by its own thread.
    pub threads: u8,
    /// The lowest quantiser in use, 1 to 51.
    pub finest: u8,
}

impl Config {
    /// Settings with one thread and a quantiser of 17 or more.
    #[must_use]
    pub fn new(size: Size, frames_per_second: u32) -> Self {
        Self {
            size,
            frames_per_second,
            threads: 1,
            finest: FINEST_QUANTISER,
        }
    }

    /// The settings in the form that OpenH264 takes.
    pub(crate) fn fixed(&self) -> FixedSettings {
        FixedSettings {
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
