//! The arguments of `mimosa quality`.

use std::path::PathBuf;

/// The arguments.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The pictures as they should be: .y4m, or anything that ffmpeg decodes.
    #[arg(value_name = "REF")]
    pub(super) reference: Option<PathBuf>,

    /// The pictures as they are, likewise.
    #[arg(value_name = "DIST", requires = "reference")]
    pub(super) distorted: Option<PathBuf>,

    /// A recording of `mimosa serve --record-pictures` in place of both: the folder of
    /// one session. Measures the stream as coded, and what was on the screen.
    #[arg(
        long,
        value_name = "FOLDER",
        conflicts_with_all = ["reference", "align", "scale"]
    )]
    pub(super) recording: Option<PathBuf>,

    /// What to measure: `psnr` (decibels), `ssim` (at most 1), `vmaf` (0 to 100; by
    /// an ffmpeg that has libvmaf).
    #[arg(
        long,
        value_name = "METRIC",
        value_enum,
        value_delimiter = ',',
        default_value = "psnr,ssim"
    )]
    metrics: Vec<Metric>,

    /// Write the figures, those of each frame among them, to this file.
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,

    /// The ffmpeg to use. Without it, the one in `$MIMOSA_FFMPEG`, on the `PATH`, or of
    /// the Python package imageio-ffmpeg in ./.venv; for VMAF the first that has
    /// libvmaf.
    #[arg(long, value_name = "PATH")]
    pub(super) ffmpeg: Option<PathBuf>,

    /// Pair frames by the numbers that they have in .y4m files of `mimosa`; frames that
    /// are in one file only are left out and counted.
    #[arg(long)]
    pub(super) align: bool,

    /// Scale DIST to the size of REF where it has another.
    #[arg(long)]
    pub(super) scale: bool,
}

/// A metric.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
pub(super) enum Metric {
    Psnr,
    Ssim,
    Vmaf,
}

impl Args {
    /// Whether each metric was asked for.
    pub(super) fn metrics(&self) -> [bool; 3] {
        [Metric::Psnr, Metric::Ssim, Metric::Vmaf].map(|metric| self.metrics.contains(&metric))
    }
}
