//! The settings that libx264 is opened with, and those that change per frame.
//!
//! libx264 has a mode for a buffer of a single frame, in which it plans every frame to fill
//! that buffer and corrects the quantiser row by row. It then aims at 0.95 of the buffer, and
//! keeps below it by coding the last row again at the coarsest quantiser. The buffer is filled
//! again when a frame ends, at that frame's rate, so a rise of the budget comes one frame late.
//! [`Aim::Buffer`] is this mode, in which a [ballast](crate::ballast) lets any frame follow
//! any other. What frames leave is predictable, and a caller gives it to later frames.
//!
//! For [`Aim::Learnt`], the buffer is larger. The nominal frame rate decides whether the buffer is a
//! single frame, but the time base decides how much a frame gets. Stating a frame rate
//! [`SLOWDOWN`] times below the time base's keeps the mode, and the buffer holds that many
//! frames: it is full enough for any rise up to that factor, and no frame is planned larger
//! than its own budget. The limit that the smaller buffer would enforce follows from the
//! tolerance of the plan and from encoding again.

use mimosa_facts::{Complexity, EntropyCoding};
use mimosa_units::Bytes;
use mimosa_video::{FINEST_QUANTISER, Size};

use crate::budget::Margin;
use crate::raw::{FixedSettings, Tuning};

/// The number of frames in libx264's buffer for [`Aim::Learnt`]: the factor by which the budget
/// may rise from one frame to the next and be followed at once.
const SLOWDOWN: u32 = 16;
/// libx264's smallest tolerance: a frame keeps to its plan as well as the rows allow.
const TOLERANCE: f32 = 0.01;
/// The most parts of a frame: more would hardly leave sooner, and each one costs a slice's header and
/// context.
const MOST_PARTS: u32 = 16;
/// The highest rate and buffer that libx264 takes, in kilobits.
const MOST_KILOBITS: u64 = 2_000_000;
/// The levels of H.264 in use, table A-1: ten times the level, macroblocks per second, per
/// frame, and in the decoded picture buffer. Lower levels would allow small pictures, but
/// they limit the bit rate and the size of a frame.
const LEVELS: [(i32, u64, u64, u64); 4] = [
    (42, 522_240, 8_704, 34_816),
    (51, 983_040, 36_864, 184_320),
    (52, 2_073_600, 36_864, 184_320),
    (62, 16_711_680, 139_264, 696_320),
];

/// What keeps frames within their budgets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Aim {
    /// libx264's buffer of one frame. Nearly no frame is encoded twice, and frames use 0.75 to 0.9 of
    /// their budgets, with less spread than with [`Aim::Learnt`]. With more than one thread, frames
    /// would use 0.6 of random budgets, and the size is learnt within the default margin.
    Buffer,
    /// A size to ask for that is learnt from those that come out, within this margin. Frames that
    /// exceed their budgets are encoded again.
    Learnt(Margin),
}

/// The settings that an encoder is opened with.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The size of the pictures.
    pub size: Size,
    /// The frame rate that the stream states. A budget holds for one frame, whatever the
    /// time to the next.
    pub frames_per_second: u32,
    /// The number of slices that a frame is cut into, each encoded by its own thread.
    pub threads: u8,
    /// The number of frames that encoder and decoder can refer to, at most 16. A loss
    /// reaches back this far without need for a keyframe. Every rejected attempt occupies
    /// one of the places for a while.
    pub references: u8,
    /// What keeps frames within their budgets.
    pub aim: Aim,
    /// How decisions become bits.
    pub entropy: EntropyCoding,
    /// The lowest quantiser in use, 1 to 51. A picture that does not need its budget at
    /// this quantiser does not use it: nobody would see the difference, but both ends would
    /// work for every bit.
    pub finest: u8,
}

impl Config {
    /// Settings with one thread, four references, CABAC, and a quantiser of 17 or more.
    #[must_use]
    pub fn new(size: Size, frames_per_second: u32) -> Self {
        Self {
            size,
            frames_per_second,
            threads: 1,
            references: 4,
            aim: Aim::Learnt(Margin::default()),
            entropy: EntropyCoding::Arithmetic,
            finest: FINEST_QUANTISER,
        }
    }

    /// The settings that never change after the encoder is opened.
    pub(crate) fn fixed(&self) -> FixedSettings {
        FixedSettings {
            size: self.size,
            frames_per_second: self.frames_per_second,
            slowdown: self.buffer_frames(),
            threads: i32::from(self.threads),
            references: i32::from(self.references),
            level: self.level(),
            is_arithmetic: self.entropy == EntropyCoding::Arithmetic,
            finest: f32::from(self.finest),
            tolerance: TOLERANCE,
            full: self.full(),
        }
    }

    /// The margin within which the size to ask for is learnt; `None` if libx264's buffer keeps frames
    /// within their budgets.
    pub(crate) fn margin(&self) -> Option<Margin> {
        match self.aim {
            Aim::Buffer if self.threads == 1 => None,
            Aim::Buffer => Some(Margin::default()),
            Aim::Learnt(margin) => Some(margin),
        }
    }

    /// The number of frames in libx264's buffer.
    fn buffer_frames(&self) -> u32 {
        self.margin().map_or(1, |_| SLOWDOWN)
    }

    /// The part of libx264's buffer that is full at the start: libx264's own, or all of a buffer that
    /// each frame is to find full.
    fn full(&self) -> f32 {
        self.margin().map_or(1.0, |_| 0.9)
    }

    /// The lowest of [`LEVELS`] that allows the stream, or the highest.
    fn level(&self) -> i32 {
        let blocks = |side: u32| u64::from(side.div_ceil(16));
        let frame = blocks(self.size.width()) * blocks(self.size.height());
        let second = frame * u64::from(self.frames_per_second);
        let buffer = frame * u64::from(self.references);
        let allows = |&&(_, seconds, frames, buffers): &&(i32, u64, u64, u64)| {
            second <= seconds && frame <= frames && buffer <= buffers
        };
        let [.., highest] = LEVELS;
        LEVELS
            .iter()
            .find(allows)
            .map_or(highest.0, |level| level.0)
    }

    /// The settings for a frame of `ask` at `complexity`, which is handed out in `parts`.
    pub(crate) fn tuning(&self, ask: Bytes, complexity: Complexity, parts: u8) -> Tuning {
        let (rate, buffer) = rate_and_buffer(ask, self.frames_per_second, self.buffer_frames());
        let tools = Tools::of(complexity);
        Tuning {
            rate,
            buffer,
            inter: tools.inter,
            intra: tools.intra,
            motion: tools.motion.cast_signed(),
            refinement: tools.refinement,
            trellis: tools.trellis,
            // Zero lets libx264 choose: one, or one a thread.
            slices: if self.threads == 1 && parts > 1 {
                i32::from(parts)
            } else {
                0
            },
        }
    }

    /// The most parts in which a frame can be handed out: slices are whole rows of macroblocks, and are
    /// coded one after another with one thread.
    pub(crate) fn most_parts(&self) -> u8 {
        let rows = self.size.height().div_ceil(16);
        if self.threads == 1 {
            u8::try_from(rows.min(MOST_PARTS)).unwrap_or(1)
        } else {
            1
        }
    }
}

/// The rate in kilobits per second at which a frame is planned for `ask`, and the buffer of
/// `frames` such frames, in kilobits. The buffer is rounded down, as libx264 rounds the
/// one it takes for a single frame.
fn rate_and_buffer(ask: Bytes, frames_per_second: u32, frames: u32) -> (i32, i32) {
    let per_second = u64::from(frames_per_second);
    let slowdown = u64::from(frames);
    let least = per_second.div_ceil(slowdown);
    let most = MOST_KILOBITS.min(MOST_KILOBITS * per_second / slowdown);
    let rate = (ask.bits().saturating_mul(per_second) / 1000)
        .min(most)
        .max(least);
    let buffer = rate * slowdown / per_second;
    let narrow = |kilobits: u64| i32::try_from(kilobits).unwrap_or(i32::MAX);
    (narrow(rate), narrow(buffer))
}

/// The tools of libx264 that a complexity allows.
#[derive(Clone, Copy, Debug)]
struct Tools {
    inter: u32,
    intra: u32,
    motion: u32,
    refinement: i32,
    trellis: i32,
}

impl Tools {
    const fn of(complexity: Complexity) -> Self {
        use crate::library::c::{
            X264_ANALYSE_I4x4 as I4X4, X264_ANALYSE_I8x8 as I8X8,
            X264_ANALYSE_PSUB8x8 as P_BELOW_8, X264_ANALYSE_PSUB16x16 as P_BELOW_16, X264_ME_DIA,
            X264_ME_HEX,
        };
        let c0 = Self {
            inter: I8X8,
            intra: I8X8,
            motion: X264_ME_DIA,
            refinement: 1,
            trellis: 0,
        };
        let c1 = Self {
            inter: I4X4 | I8X8 | P_BELOW_16 | P_BELOW_8,
            intra: I4X4 | I8X8,
            motion: X264_ME_HEX,
            refinement: 4,
            trellis: 0,
        };
        match complexity {
            Complexity::C0 => c0,
            Complexity::C0Plus => Self {
                inter: I8X8 | P_BELOW_16,
                motion: X264_ME_HEX,
                refinement: 2,
                ..c0
            },
            Complexity::C1 => c1,
            Complexity::C2 => Self { trellis: 1, ..c1 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_gives_a_frame_what_is_asked() {
        // 20 833 bytes, 60 times a second, are 10 Mbit/s.
        assert_eq!(
            rate_and_buffer(Bytes::new(20_834), 60, SLOWDOWN),
            (10_000, 2_666)
        );
        assert_eq!(rate_and_buffer(Bytes::new(20_834), 60, 1), (10_000, 166));
    }

    #[test]
    fn no_ask_leaves_the_range_of_libx264() {
        for frames_per_second in [1, 10, 30, 60, 144, 240] {
            for ask in [0, 1, 8, 1000, 1_000_000, u64::MAX] {
                for frames in [1, SLOWDOWN] {
                    let (rate, buffer) =
                        rate_and_buffer(Bytes::new(ask), frames_per_second, frames);
                    for kilobits in [rate, buffer] {
                        assert!(
                            (1..=2_000_000).contains(&kilobits),
                            "{ask} {frames_per_second}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn the_level_allows_the_stream() {
        for (text, frames_per_second, level) in [
            ("1280x720", 60, 42),
            ("1920x1080", 60, 42),
            ("1920x1080", 120, 51),
            ("3840x2160", 60, 52),
            ("8192x8192", 240, 62),
        ] {
            let config = Config::new(text.parse().unwrap(), frames_per_second);
            assert_eq!(config.level(), level, "{text} at {frames_per_second}");
        }
    }
}
