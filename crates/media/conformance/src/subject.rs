//! The description of an encoder that its own crate gives to the checks.

use mimosa_facts::Codec;
use mimosa_units::Bytes;
use mimosa_video::{Encoder, Size};

/// How a check wants the encoder opened.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The size of the pictures.
    pub size: Size,
    /// The frame rate that the stream states.
    pub frames_per_second: u32,
    /// The number of threads or slices.
    pub threads: u8,
    /// The lowest quantiser in use; `None` for the encoder's default.
    pub finest: Option<u8>,
}

impl Setup {
    /// Pictures of `size` at 60 frames per second, one thread, the default quantiser.
    #[must_use]
    pub const fn new(size: Size) -> Self {
        Self {
            size,
            frames_per_second: 60,
            threads: 1,
            finest: None,
        }
    }
}

/// A function that opens the encoder, or says why it cannot be opened.
pub type Open = Box<dyn Fn(&Setup) -> Result<Box<dyn Encoder>, String>>;

/// An encoder and its promises.
pub struct Subject {
    /// The encoder's name in messages.
    pub name: &'static str,
    /// The codec of the stream.
    pub codec: Codec,
    /// Opens the encoder.
    pub open: Open,
    /// Pictures for the checks of budgets, large enough for the rate control to matter.
    pub large: Pictures,
    /// Pictures for checks that need many frames.
    pub small: Pictures,
    /// How well frames keep to their budgets.
    pub budgets: Budgets,
    /// How many pictures lie between two scene cuts of the keyframe check. A scene cut
    /// makes no keyframe.
    pub cut: usize,
    /// The units that frames consist of; `None` where the encoder does not promise any.
    pub units: Option<Units>,
    /// Whether the stream states its colours: ITU-R BT.709 in limited range.
    pub states_colours: bool,
    /// Further lines that `ffprobe -show_streams` prints about the stream.
    pub states: &'static [&'static str],
    /// The effect of [`Setup::finest`].
    pub quantiser_limit: QuantiserLimit,
    /// The numbers of threads with which two runs give the same bytes.
    pub repeatable: &'static [u8],
    /// The sizes that the encoder takes and refuses.
    pub sizes: Sizes,
    /// What a decoder makes of a stream that lacks a frame.
    pub missing: MissingFrame,
}

impl Subject {
    /// Opens the encoder, which must succeed.
    #[must_use]
    pub fn opened(&self, setup: &Setup) -> Box<dyn Encoder> {
        (self.open)(setup).unwrap_or_else(|error| panic!("{} at {setup:?}: {error}", self.name))
    }
}

/// The pictures of a check, and their bitrates.
#[derive(Clone, Copy, Debug)]
pub struct Pictures {
    /// The size.
    pub size: Size,
    /// The noise of the clip, see [`Clip::new`](crate::Clip::new).
    pub noise: u32,
    /// The highest rate in Mbit/s; random rates go down to a tenth of it.
    pub highest: f64,
    /// The rate after a fall in Mbit/s, and the rate after a rise.
    pub steps: (f64, f64),
}

impl Pictures {
    /// Noisy pictures of 1280x720 at up to 30 Mbit/s, for fast encoders.
    #[must_use]
    pub fn hd() -> Self {
        Self {
            size: Size::new(1280, 720).unwrap(),
            noise: 14,
            highest: 30.0,
            steps: (5.0, 30.0),
        }
    }

    /// Pictures of 640x360 at up to 30 Mbit/s, for fast encoders.
    #[must_use]
    pub fn quarter_hd() -> Self {
        Self {
            size: Size::new(640, 360).unwrap(),
            noise: 8,
            ..Self::hd()
        }
    }
}

/// How well an encoder keeps frames within their budgets.
#[derive(Clone, Copy, Debug)]
pub enum Budgets {
    /// Every frame is within its budget.
    Kept {
        /// The numbers of threads to try, each with the least mean use of random budgets.
        used: &'static [(u8, f64)],
        /// The most frames of 240 that may be encoded more than once; `None` for an
        /// encoder that encodes every frame twice.
        retried: Option<usize>,
        /// The least use of the first frame after a rise.
        rise: f64,
        /// The smallest budget that is kept at 1280x720.
        smallest: Bytes,
        /// How far above the smallest budget small budgets go.
        smallest_range: u64,
    },
    /// Most frames are within their budgets.
    Mostly {
        /// A steady rate in Mbit/s that is tried as well.
        steady: f64,
        /// The least mean use of random and steady budgets.
        used: f64,
        /// The most that may be above random or steady budgets, as a share of the frames.
        above: f64,
        /// The most that may be above budgets that step, as a share of the frames.
        above_steps: f64,
        /// The largest use of each of the first four frames after a fall.
        after_a_fall: f64,
    },
    /// The mean of half a second follows the budgets, half a second after a change.
    OnAverage {
        /// The range of the mean use after a fall.
        low: (f64, f64),
        /// The range of the mean use after a rise.
        high: (f64, f64),
        /// The range of the mean use of random budgets.
        random: (f64, f64),
    },
}

/// The units of a coded frame, by the numbers that the codec gives their types.
#[derive(Clone, Copy, Debug)]
pub struct Units {
    /// The types of a keyframe's units.
    pub keyframe: &'static [u8],
    /// The types of any other frame's units.
    pub other: &'static [u8],
}

/// The sizes that an encoder is tried with.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Sizes that work, from the smallest to a large one.
    pub work: &'static [(u32, u32)],
    /// Sizes that are refused when the encoder is opened.
    pub refused: &'static [(u32, u32)],
    /// The numbers of threads with which every size is tried.
    pub threads: &'static [u8],
    /// The frame rate at which every size is tried.
    pub frames_per_second: u32,
}

/// The effect of a lowest quantiser.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum QuantiserLimit {
    /// Frames state their quantisers, and none is below the lowest.
    Stated,
    /// Frames state no quantisers; a higher limit makes them smaller.
    Unstated,
    /// The encoder has no such limit.
    None,
}

/// The reaction of a decoder to a stream that lacks one frame.
#[derive(Clone, Copy, Debug)]
pub enum MissingFrame {
    /// Without this frame, the next picture is at least 3 dB worse.
    Worsens(u64),
    /// Without this frame, the decoder complains in these words.
    IsRefused(u64, &'static str),
}
