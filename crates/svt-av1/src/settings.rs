//! What SVT-AV1 is opened with.

use mimosa_video::Size;

use crate::raw::Fixed;

/// What x264's users call visually lossless.
const FINEST: u8 = 17;
/// What fits into a frame's time at 1280x720; 13 takes as long.
const PRESET: u8 = 12;
/// SVT-AV1's, which make no difference to how it codes at fixed quantisers.
const MOST_FRAMES_PER_SECOND: u32 = 240;

/// What an encoder is opened with.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The pictures' size.
    pub size: Size,
    /// Frames per second, for the level that the stream states; a budget holds for
    /// a frame whatever the time to the next.
    pub frames_per_second: u32,
    /// Logical processors that SVT-AV1 divides its work for, 1 to 3.
    pub threads: u8,
    /// SVT-AV1's preset, 8 to 13: the higher, the less work.
    pub preset: u8,
    /// The lowest quantiser in use on H.264's scale, 1 to 51.
    pub finest: u8,
}

impl Config {
    /// One thread, preset 12, a quantiser of 17 or more.
    #[must_use]
    pub fn new(size: Size, frames_per_second: u32) -> Self {
        Self {
            size,
            frames_per_second,
            threads: 1,
            preset: PRESET,
            finest: FINEST,
        }
    }

    /// The same as SVT-AV1 takes it.
    pub(crate) fn fixed(&self) -> Fixed {
        Fixed {
            size: self.size,
            frames_per_second: self.frames_per_second.min(MOST_FRAMES_PER_SECOND),
            threads: self.threads,
            preset: self.preset,
        }
    }
}
