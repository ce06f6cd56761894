//! Measures a recording with pictures: what the encoder made of them, and what was displayed.
//!
//! A stock browser does not return pictures as it decoded them. But it decodes every frame that
//! came whole, and decoding is exact: the frames that it acknowledged, decoded here, are what it
//! had. A frame that it never displayed leaves the one before on the screen.

use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use mimosa_facts::{Codec, FrameEnd, SessionFrame};
use mimosa_quality::{Frame, IndexRow};
use mimosa_record::read_session;

use super::args::Args;
use super::error::QualityError;
use super::ffmpeg::Ffmpeg;
use super::figures::{Figures, Results};
use super::frames::Frames;
use super::measure::{Measure, Measured};
use crate::report::caught;

/// The recorded pictures, with their index.
struct Kept<'a> {
    folder: &'a Path,
    ffmpeg: &'a Ffmpeg,
    metrics: [bool; 3],
    rows: Vec<IndexRow>,
}

/// Counts of what was displayed.
#[derive(Default)]
struct Screen {
    shown: u64,
    repeated: u64,
    /// Number of pictures before anything was displayed.
    before: u64,
}

/// Measures a recording as coded and as displayed.
pub(super) fn recording(args: &Args, folder: &Path) -> Result<Results, QualityError> {
    let ffmpeg = Ffmpeg::new(args.ffmpeg.clone());
    let kept = Kept {
        folder,
        ffmpeg: &ffmpeg,
        metrics: args.metrics(),
        rows: index(&folder.join("frames.csv"))?,
    };
    let fates = session(&folder.join("session.parquet"))?;
    let size = kept.pictures()?.size();
    let coded = kept.coded()?;
    let (seen, screen) = kept.seen(&fates)?;
    let frames = kept.rows.len();
    let left_out = kept.rows.iter().filter(|row| !row.has_picture).count();
    let Screen {
        shown,
        repeated,
        before,
    } = screen;
    Ok(Results {
        about: format!("{}", folder.display()),
        size,
        notes: vec![format!(
            "{frames} frames, of which {left_out} have no picture: {shown} were shown, at \
             {repeated} the one before stayed, {before} came before the first"
        )],
        measured: vec![
            Figures::new("the stream as coded", coded),
            Figures::new("the screen with repeats", seen),
        ],
    })
}

impl Kept<'_> {
    fn pictures(&self) -> Result<Frames, QualityError> {
        Frames::open(&self.folder.join("pictures.y4m"), self.ffmpeg, None)
    }

    /// The decoded pictures of these frames.
    fn decoded(&self, rows: &[&IndexRow]) -> Result<Frames, QualityError> {
        let ranges: Vec<Range<u64>> = rows
            .iter()
            .map(|row| row.offset..row.offset + row.bytes)
            .collect();
        let size = self.pictures()?.size();
        let (stream, codec) = self.stream();
        Frames::open_parts(&stream, codec, self.ffmpeg, ranges, size)
    }

    /// Path and codec of the coded stream, the first that exists.
    fn stream(&self) -> (PathBuf, Codec) {
        let path = |codec: Codec| self.folder.join("coded").with_extension(codec.suffix());
        let mut all = Codec::ALL.into_iter();
        let found = all.find(|codec| path(*codec).exists());
        let codec = found.unwrap_or(Codec::H264);
        (path(codec), codec)
    }

    /// Compares every coded frame with its picture.
    fn coded(&self) -> Result<Measured, QualityError> {
        let rows: Vec<_> = self.rows.iter().collect();
        let mut decoded = self.decoded(&rows)?;
        let mut pictures = self.pictures()?;
        let mut measure = Measure::new(self.metrics, pictures.size(), self.ffmpeg)?;
        for row in rows {
            let result = one_of(&mut decoded)?;
            if row.has_picture {
                let picture = self.picture(&mut pictures, row)?;
                measure.add(row.frame, &picture, &result)?;
            }
        }
        ended(&mut decoded)?;
        measure.finish()
    }

    /// Compares each picture with what was displayed at its turn.
    fn seen(
        &self,
        fates: &BTreeMap<u64, SessionFrame>,
    ) -> Result<(Measured, Screen), QualityError> {
        let was_decoded = |row: &IndexRow| fates.get(&row.frame).is_some_and(came_whole);
        let was_shown = |row: &IndexRow| {
            let fate = fates.get(&row.frame);
            fate.is_some_and(|frame| frame.shown.is_some())
        };
        let is_start = |row: &&IndexRow| row.is_keyframe && was_decoded(row);
        let start = self.rows.iter().find(is_start).map(|row| row.frame);
        let start = start.ok_or_else(|| QualityError::NothingShown {
            folder: self.folder.to_owned(),
        })?;
        let comes = |row: &IndexRow| row.frame >= start && was_decoded(row);
        let rows: Vec<_> = self.rows.iter().filter(|row| comes(row)).collect();
        let mut decoded = self.decoded(&rows)?;
        let mut pictures = self.pictures()?;
        let mut measure = Measure::new(self.metrics, pictures.size(), self.ffmpeg)?;
        let mut screen = Screen::default();
        let mut on_screen: Option<Frame> = None;
        for row in &self.rows {
            let mut is_new = false;
            if comes(row) {
                let result = one_of(&mut decoded)?;
                if was_shown(row) {
                    on_screen = Some(result);
                    is_new = true;
                }
            }
            match &on_screen {
                None => screen.before += 1,
                Some(_) if is_new => screen.shown += 1,
                Some(_) => screen.repeated += 1,
            }
            if row.has_picture {
                let picture = self.picture(&mut pictures, row)?;
                if let Some(on_screen) = &on_screen {
                    measure.add(row.frame, &picture, on_screen)?;
                }
            }
        }
        ended(&mut decoded)?;
        if screen.shown == 0 {
            return Err(QualityError::NothingShown {
                folder: self.folder.to_owned(),
            });
        }
        Ok((measure.finish()?, screen))
    }

    /// The next recorded picture, which has to be this frame's.
    fn picture(&self, pictures: &mut Frames, row: &IndexRow) -> Result<Frame, QualityError> {
        let picture = pictures.next()?;
        picture
            .filter(|picture| picture.number == Some(row.frame))
            .ok_or_else(|| QualityError::NotBelonging {
                folder: self.folder.to_owned(),
                frame: row.frame,
            })
    }
}

/// The next decoded picture.
fn one_of(decoded: &mut Frames) -> Result<Frame, QualityError> {
    let next = decoded.next()?;
    next.ok_or_else(|| miscounted(decoded))
}

/// Checks that no decoded picture is left.
fn ended(decoded: &mut Frames) -> Result<(), QualityError> {
    match decoded.next()? {
        None => Ok(()),
        Some(_) => Err(miscounted(decoded)),
    }
}

fn miscounted(decoded: &Frames) -> QualityError {
    QualityError::Miscounted {
        path: decoded.path().to_owned(),
        count: decoded.count(),
    }
}

/// Whether the browser received all of a frame.
fn came_whole(frame: &SessionFrame) -> bool {
    matches!(frame.life.end, Some(FrameEnd::Acknowledged(_)))
        || frame.decoded.is_some()
        || frame.shown.is_some()
}

fn index(path: &Path) -> Result<Vec<IndexRow>, QualityError> {
    let text = std::fs::read_to_string(path).map_err(|source| QualityError::Recording {
        path: path.to_owned(),
        source,
    })?;
    IndexRow::read(&text).map_err(|source| QualityError::Index {
        path: path.to_owned(),
        source,
    })
}

/// The frames of a session, by number.
fn session(path: &Path) -> Result<BTreeMap<u64, SessionFrame>, QualityError> {
    let file = File::open(path).map_err(|source| QualityError::Recording {
        path: path.to_owned(),
        source,
    })?;
    let session = match caught(|| read_session(file)) {
        Some(read) => read.map_err(|source| QualityError::Session {
            path: path.to_owned(),
            source,
        })?,
        None => {
            return Err(QualityError::Damaged {
                path: path.to_owned(),
            });
        }
    };
    let frames = session.frames.into_iter();
    Ok(frames.map(|frame| (frame.life.frame.0, frame)).collect())
}
