//! The arguments of `mimosa encode`.

use std::path::PathBuf;

use clap::ValueEnum;
use mimosa_facts::Complexity;
use mimosa_settings::{ElementName, EncoderName};
use mimosa_units::Rate;

/// The arguments.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The clip: YUV4MPEG2 (.y4m) in 4:2:0.
    pub(crate) clip: PathBuf,

    /// Folder for `stream.h264`, or `stream.h265`, or `stream.obu` of AV1, and
    /// `frames.csv`, a row for each frame.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) output: PathBuf,

    /// Bitrate of frames in the mean.
    #[arg(long, value_name = "RATE", default_value = "10Mbit/s")]
    pub(crate) bitrate: Rate,

    /// Rate at which packets leave; without it a quarter more than the bitrate.
    #[arg(long, value_name = "RATE")]
    pub(crate) pace: Option<Rate>,

    /// Take every so many frames of the clip.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) every: u32,

    /// At most so many of them.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) frames: Option<u64>,

    /// Work for each frame; `adaptive`: more for large ones.
    #[arg(long, value_enum, default_value_t = Work::C0)]
    pub(crate) complexity: Work,

    /// The greatest level of `adaptive`.
    #[arg(long, value_enum, default_value_t = Work::C2)]
    pub(crate) most: Work,

    /// Frames that sizes are evened out over; 1: none has more than its budget.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=60))]
    pub(crate) buffer_frames: u32,

    /// How sizes are predicted.
    #[arg(long, value_enum, default_value_t = Prediction::Motion)]
    pub(crate) size_prediction: Prediction,

    /// What codes the frames.
    #[arg(long, value_enum, default_value_t = Coder::Auto)]
    pub(crate) encoder: Coder,

    /// The element of GStreamer that codes; without it the first hardware that works.
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true, value_parser = element)]
    pub(crate) encoder_element: ElementName,

    /// Slices coded side by side.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=16))]
    pub(crate) threads: u8,

    /// Lowest quantiser.
    #[arg(long, value_name = "NUMBER", default_value_t = 17, value_parser = clap::value_parser!(u8).range(1..=51))]
    pub(crate) finest_quantiser: u8,

    /// Print the summary as a JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// How much work goes into each frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Work {
    C0,
    #[value(name = "c0+")]
    C0Plus,
    C1,
    C2,
    Adaptive,
}

impl Work {
    /// The complexity level; `None` for `adaptive`.
    pub(crate) const fn level(self) -> Option<Complexity> {
        match self {
            Self::C0 => Some(Complexity::C0),
            Self::C0Plus => Some(Complexity::C0Plus),
            Self::C1 => Some(Complexity::C1),
            Self::C2 => Some(Complexity::C2),
            Self::Adaptive => None,
        }
    }
}

/// An encoder, as the command line names it.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Coder {
    /// The best encoder that works here.
    Auto,
    X264,
    #[value(name = "openh264")]
    OpenH264,
    #[value(name = "svt-av1")]
    SvtAv1,
    #[value(name = "gstreamer")]
    GStreamer,
}

impl From<Coder> for EncoderName {
    fn from(coder: Coder) -> Self {
        match coder {
            Coder::Auto => Self::Auto,
            Coder::X264 => Self::X264,
            Coder::OpenH264 => Self::OpenH264,
            Coder::SvtAv1 => Self::SvtAv1,
            Coder::GStreamer => Self::GStreamer,
        }
    }
}

/// A predictor of frames' sizes.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Prediction {
    /// From the difference that a motion search leaves.
    Motion,
    /// From the difference in place.
    Difference,
}

fn element(text: &str) -> Result<ElementName, &'static str> {
    ElementName::new(text).ok_or("write up to 31 letters and digits, e.g. `vah264enc`")
}
