//! Errors of `mimosa quality`.

use std::path::PathBuf;

use mimosa_quality::{DifferenceError, IndexError, PlaneSize, Y4mError};
use mimosa_record::ReadError;

use crate::output::OutputError;

/// Why `mimosa quality` failed. Each error says what is wrong, where, and what to do instead.
#[derive(Debug, thiserror::Error)]
pub(crate) enum QualityError {
    /// There is nothing to compare.
    #[error("nothing to compare; name two files, REF and DIST, or a recording with --recording")]
    Nothing,
    /// A file cannot be read.
    #[error("cannot read {}: {source}; name a .y4m file, or one that ffmpeg decodes", path.display())]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    /// The file is not YUV4MPEG2.
    #[error("{}: {source}", path.display())]
    Y4m { path: PathBuf, source: Y4mError },
    /// The file has no pictures.
    #[error("{} has no frame; name a file with pictures", path.display())]
    NoFrames { path: PathBuf },
    /// The files have pictures of different sizes.
    #[error("{} has pictures of {size}, {} of {other}; compare what has one size, or scale the second to the first with --scale", reference.display(), distorted.display())]
    Sizes {
        reference: PathBuf,
        size: PlaneSize,
        distorted: PathBuf,
        other: PlaneSize,
    },
    /// The files have different numbers of frames.
    #[error("{} has {count} frames, {} has {other}; cut one of them, or pair the frames by their numbers with --align where both files have such", reference.display(), distorted.display())]
    Counts {
        reference: PathBuf,
        count: u64,
        distorted: PathBuf,
        other: u64,
    },
    /// A frame has no number by which to pair it.
    #[error("frame {frame} of {}, counted from zero, has no number to pair it by; --align is for .y4m files that `mimosa` wrote; leave it out where no frame is missing", path.display())]
    Unnumbered { path: PathBuf, frame: u64 },
    /// The frames' numbers do not rise.
    #[error("frame {frame} of {}, counted from zero, has the number {number}, no more than the one before; let numbers rise, or leave --align out", path.display())]
    Falling {
        path: PathBuf,
        frame: u64,
        number: u64,
    },
    /// No frame is in both files.
    #[error("{} and {} have no frame number in common; name two files of one recording", reference.display(), distorted.display())]
    Disjoint {
        reference: PathBuf,
        distorted: PathBuf,
    },
    /// Two frames cannot be compared.
    #[error(transparent)]
    Difference(#[from] DifferenceError),
    /// There is no ffmpeg.
    #[error("no ffmpeg to decode {} with: {tried}; install it (Debian: apt-get install ffmpeg) or name one with --ffmpeg", path.display())]
    NoFfmpeg { path: PathBuf, tried: String },
    /// No ffmpeg has libvmaf.
    #[error(
        "no ffmpeg with libvmaf, which VMAF takes: {tried}; get one with `python3 -m venv .venv && .venv/bin/pip install imageio-ffmpeg`, or name one with --ffmpeg"
    )]
    NoVmaf { tried: String },
    /// ffmpeg failed at a file.
    #[error("{} failed at {}: {message}", ffmpeg.display(), path.display())]
    Decode {
        ffmpeg: PathBuf,
        path: PathBuf,
        message: String,
    },
    /// ffmpeg failed at VMAF.
    #[error("{} failed at VMAF: {message}; name another with --ffmpeg, or leave vmaf out of --metrics", ffmpeg.display())]
    Vmaf { ffmpeg: PathBuf, message: String },
    /// A part of a recording cannot be read.
    #[error("cannot read {}: {source}; name the folder of one session below the one that `mimosa serve --record-pictures` was given", path.display())]
    Recording {
        path: PathBuf,
        source: std::io::Error,
    },
    /// The index of the pictures is damaged.
    #[error("{}: {source}", path.display())]
    Index { path: PathBuf, source: IndexError },
    /// The recording of the session cannot be read.
    #[error("{}: {source}", path.display())]
    Session { path: PathBuf, source: ReadError },
    /// The recording is damaged so that the Parquet library panics.
    #[error("{} is damaged; record again or take another copy", path.display())]
    Damaged { path: PathBuf },
    /// No frame was displayed.
    #[error("no frame of {} was shown after a keyframe that came whole; record a session whose page is visible", folder.display())]
    NothingShown { folder: PathBuf },
    /// Pictures and index belong to different recordings.
    #[error("the pictures in {} have no frame {frame} where its index has one; the recording was cut short or mixed with another, record again", folder.display())]
    NotBelonging { folder: PathBuf, frame: u64 },
    /// The decoder made more or fewer pictures than there are frames.
    #[error("ffmpeg did not make one picture of each frame of {}: they part after {count}; the recording was cut short, record again", path.display())]
    Miscounted { path: PathBuf, count: u64 },
    /// The output cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The numbers cannot be put into JSON.
    #[error("cannot write JSON: {0}")]
    Json(#[from] serde_json::Error),
}
