//! `mimosa quality`: measures how far pictures are from a reference.

mod args;
mod error;
mod ffmpeg;
mod figures;
mod frames;
mod measure;
mod recording;
mod vmaf;

use std::path::Path;

pub(crate) use self::args::Args;
pub(crate) use self::error::QualityError;
use self::ffmpeg::Ffmpeg;
use self::figures::{Figures, Results};
use self::frames::Frames;
use self::measure::{Measure, aligned, in_turn};
use self::recording::recording;
use crate::output::{Existing, Files, Output, OutputError};

/// Measures what the arguments ask for, and returns the text to print.
pub(crate) fn run(args: &Args) -> Result<String, QualityError> {
    let output = output(args)?;
    let results = match (&args.recording, &args.reference, &args.distorted) {
        (Some(folder), ..) => recording(args, folder)?,
        (None, Some(reference), Some(distorted)) => files(args, reference, distorted)?,
        _ => return Err(QualityError::Nothing),
    };
    if let Some(mut output) = output {
        output.put((results.to_json()? + "\n").as_bytes())?;
        output.finish()?;
    }
    Ok(results.to_text())
}

/// The output for the figures, which must not replace a file that is measured.
fn output(args: &Args) -> Result<Option<Output>, OutputError> {
    let Some(path) = &args.json else {
        return Ok(None);
    };
    let mut files = Files::default();
    for path in args.reference.iter().chain(&args.distorted) {
        files.reads("clip", path);
    }
    let folder = args.recording.iter().map(std::fs::read_dir);
    for entry in folder.flatten().flatten().flatten() {
        files.reads("part of the recording", &entry.path());
    }
    files.create(path, Existing::Replace).map(Some)
}

/// Compares one file with another.
fn files(args: &Args, reference: &Path, distorted: &Path) -> Result<Results, QualityError> {
    let ffmpeg = Ffmpeg::new(args.ffmpeg.clone());
    let mut reference = Frames::open(reference, &ffmpeg, None)?;
    let mut distorted = Frames::open(distorted, &ffmpeg, None)?;
    let size = reference.size();
    let mut notes = Vec::new();
    if distorted.size() != size {
        if !args.scale {
            return Err(QualityError::Sizes {
                reference: reference.path().to_owned(),
                size,
                distorted: distorted.path().to_owned(),
                other: distorted.size(),
            });
        }
        notes.push(format!(
            "{} was scaled from {} to {size}, bicubic",
            distorted.path().display(),
            distorted.size()
        ));
        let path = distorted.path().to_owned();
        distorted = Frames::open(&path, &ffmpeg, Some(size))?;
    }
    let mut measure = Measure::new(args.metrics(), size, &ffmpeg)?;
    if args.align {
        let (missing, surplus) = aligned(&mut reference, &mut distorted, &mut measure)?;
        notes.push(format!(
            "paired by frame number: {missing} frames are only in {}, {surplus} only in {}",
            reference.path().display(),
            distorted.path().display()
        ));
    } else {
        in_turn(&mut reference, &mut distorted, &mut measure)?;
    }
    let about = format!(
        "{} against {}",
        distorted.path().display(),
        reference.path().display()
    );
    Ok(Results {
        about,
        size,
        notes,
        measured: vec![Figures::new("all frames", measure.finish()?)],
    })
}
