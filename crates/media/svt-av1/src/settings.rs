//! The settings that SVT-AV1 is opened with.

use mimosa_video::{FINEST_QUANTISER, Size};

use crate::raw::FixedSettings;

/// The preset by default: it fits into a frame's time at 1280x720, and preset 13 takes as
/// long.
const PRESET: u8 = 12;
/// SVT-AV1's highest frame rate. The frame rate makes no difference at fixed quantisers.
const MOST_FRAMES_PER_SECOND: u32 = 240;

/// The settings that an encoder is opened with.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The size of the pictures.
    pub size: Size,
    /// The frame rate, from which the level in the stream follows. A budget holds for one
    /// frame, whatever the time to the next.
    pub frames_per_second: u32,
    /// The number of logical processors that SVT-AV1 divides its work for, 1 to 3.
    pub threads: u8,
    /// SVT-AV1's preset, 8 to 13: the higher, the less work.
    pub preset: u8,
    /// The lowest quantiser in use on H.264's scale, 1 to 51.
    pub finest: u8,
}

impl Config {
    /// Settings with one thread, preset 12, and a quantiser of 17 or more.
    #[must_use]
    pub fn new(size: Size, frames_per_second: u32) -> Self {
        Self {
            size,
            frames_per_second,
            threads: 1,
            preset: PRESET,
            finest: FINEST_QUANTISER,
        }
    }

    /// The settings in the form that SVT-AV1 takes.
    pub(crate) fn fixed(&self) -> FixedSettings {
        FixedSettings {
            size: self.size,
            frames_per_second: self.frames_per_second.min(MOST_FRAMES_PER_SECOND),
            threads: self.threads,
            preset: self.preset,
        }
    }
}
