//! Reads the frames of a file, one after the other.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::JoinHandle;

use mimosa_facts::Codec;
use mimosa_quality::{Frame, PlaneSize, Reader};

use super::error::QualityError;
use super::ffmpeg::{self, Ffmpeg};

/// Bytes that are read at once.
const PIECE: usize = 1 << 16;

/// The frames of a file.
pub(super) struct Frames {
    path: PathBuf,
    source: Source,
    reader: Reader,
    piece: Vec<u8>,
    /// Range of the piece that has not been used.
    rest: std::ops::Range<usize>,
    size: PlaneSize,
    /// The first frame, until it is taken.
    first: Option<Frame>,
    /// Number of frames taken.
    count: u64,
}

/// The source of the bytes.
enum Source {
    File(File),
    Decoder(Decoder),
    Ended,
}

/// A running ffmpeg.
struct Decoder {
    program: PathBuf,
    child: Child,
    /// Thread that reads the error output.
    complaints: JoinHandle<String>,
    /// Thread that writes the input.
    feeder: Option<JoinHandle<std::io::Result<()>>>,
}

impl Frames {
    /// Opens a file: a .y4m directly, others and those to be scaled through ffmpeg.
    pub(super) fn open(
        path: &Path,
        ffmpeg: &Ffmpeg,
        scale: Option<PlaneSize>,
    ) -> Result<Self, QualityError> {
        let failed = |source| QualityError::Read {
            path: path.to_owned(),
            source,
        };
        // A file that cannot be opened is not given to ffmpeg.
        let file = File::open(path).map_err(failed)?;
        if file.metadata().map_err(failed)?.is_dir() {
            return Err(failed(std::io::ErrorKind::IsADirectory.into()));
        }
        let is_y4m = path.extension().is_some_and(|suffix| suffix == "y4m");
        let source = if is_y4m && scale.is_none() {
            Source::File(file)
        } else {
            let mut command = decoder(path, ffmpeg)?;
            command.arg("-i").arg(ffmpeg::input(path));
            if let Some(PlaneSize { width, height }) = scale {
                command.args(["-vf", &format!("scale={width}:{height}:flags=bicubic")]);
            }
            command.stdin(Stdio::null());
            Source::Decoder(start(path, command)?)
        };
        Self::new(path, source)
    }

    /// Opens a stream of this codec and decodes these parts of it, one after the other, to pictures
    /// of `size`; those in the stream may be smaller.
    pub(super) fn open_parts(
        path: &Path,
        codec: Codec,
        ffmpeg: &Ffmpeg,
        parts: Vec<Range<u64>>,
        PlaneSize { width, height }: PlaneSize,
    ) -> Result<Self, QualityError> {
        let file = File::open(path).map_err(|source| QualityError::Read {
            path: path.to_owned(),
            source,
        })?;
        let mut command = decoder(path, ffmpeg)?;
        let form = match codec {
            Codec::H264 => "h264",
            Codec::H265 => "hevc",
            Codec::Av1 => "obu",
        };
        command.args(["-f", form, "-i", "pipe:0"]);
        command.args(["-vf", &format!("scale={width}:{height}:flags=bicubic")]);
        command.stdin(Stdio::piped());
        let mut decoder = start(path, command)?;
        if let Some(input) = decoder.child.stdin.take() {
            decoder.feeder = Some(std::thread::spawn(move || feed(file, &parts, input)));
        }
        Self::new(path, Source::Decoder(decoder))
    }

    fn new(path: &Path, source: Source) -> Result<Self, QualityError> {
        let mut frames = Self {
            path: path.to_owned(),
            source,
            reader: Reader::new(),
            piece: vec![0; PIECE],
            rest: 0..0,
            size: PlaneSize {
                width: 0,
                height: 0,
            },
            first: None,
            count: 0,
        };
        let first = frames.read()?;
        let first = first.ok_or_else(|| QualityError::NoFrames {
            path: path.to_owned(),
        })?;
        frames.size = first.size();
        frames.first = Some(first);
        Ok(frames)
    }

    /// Path of the file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Size of the frames.
    pub(super) const fn size(&self) -> PlaneSize {
        self.size
    }

    /// Number of frames taken.
    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    /// Takes the next frame; `None` after the last.
    pub(super) fn next(&mut self) -> Result<Option<Frame>, QualityError> {
        let next = match self.first.take() {
            Some(first) => Some(first),
            None => self.read()?,
        };
        self.count += u64::from(next.is_some());
        Ok(next)
    }

    fn read(&mut self) -> Result<Option<Frame>, QualityError> {
        loop {
            let mut bytes = self.piece.get(self.rest.clone()).unwrap_or_default();
            let frame = self.reader.read(&mut bytes);
            self.rest.start = self.rest.end - bytes.len();
            match frame {
                Ok(Some(frame)) => return Ok(Some(frame)),
                Ok(None) => {}
                Err(source) => return Err(self.y4m(source)),
            }
            let length = match &mut self.source {
                Source::File(file) => file.read(&mut self.piece),
                Source::Decoder(decoder) => match &mut decoder.child.stdout {
                    Some(output) => output.read(&mut self.piece),
                    None => Ok(0),
                },
                Source::Ended => return Ok(None),
            };
            let length = length.map_err(|source| QualityError::Read {
                path: self.path.clone(),
                source,
            })?;
            self.rest = 0..length;
            if length == 0 {
                self.end()?;
            }
        }
    }

    /// Handles the end of the input.
    fn end(&mut self) -> Result<(), QualityError> {
        if let Source::Decoder(decoder) = std::mem::replace(&mut self.source, Source::Ended) {
            decoder.finish(&self.path)?;
        }
        self.reader.end().map_err(|source| self.y4m(source))
    }

    fn y4m(&self, source: mimosa_quality::Y4mError) -> QualityError {
        QualityError::Y4m {
            path: self.path.clone(),
            source,
        }
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        if let Source::Decoder(decoder) = &mut self.source {
            // ffmpeg may have ended already.
            let _ = decoder.child.kill();
            let _ = decoder.child.wait();
        }
    }
}

impl Decoder {
    fn finish(mut self, path: &Path) -> Result<(), QualityError> {
        let status = self.child.wait();
        let complaints = self.complaints.join().unwrap_or_default();
        let is_fed = match self.feeder.map(JoinHandle::join) {
            Some(Ok(Err(source))) => Err(QualityError::Read {
                path: path.to_owned(),
                source,
            }),
            _ => Ok(()),
        };
        match status {
            Ok(status) if status.success() => is_fed,
            _ => Err(QualityError::Decode {
                ffmpeg: self.program,
                path: path.to_owned(),
                message: ffmpeg::last_line(&complaints),
            }),
        }
    }
}

/// An ffmpeg command whose input is still to be given.
fn decoder(path: &Path, ffmpeg: &Ffmpeg) -> Result<Command, QualityError> {
    let program = ffmpeg.any().map_err(|tried| QualityError::NoFfmpeg {
        path: path.to_owned(),
        tried,
    })?;
    let mut command = Command::new(program);
    command.args(["-hide_banner", "-nostats", "-loglevel", "error"]);
    Ok(command)
}

/// Starts an ffmpeg that writes each frame once to a pipe.
fn start(path: &Path, mut command: Command) -> Result<Decoder, QualityError> {
    command
        .args(["-map", "0:v:0", "-fps_mode", "passthrough"])
        .args(["-pix_fmt", "yuv420p", "-f", "yuv4mpegpipe", "pipe:1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let program = PathBuf::from(command.get_program());
    let mut child = command.spawn().map_err(|source| QualityError::Read {
        path: path.to_owned(),
        source,
    })?;
    let stderr = child.stderr.take();
    let complaints = std::thread::spawn(move || {
        let mut text = String::new();
        // Output that is not text is ignored.
        let _ = stderr.map(|mut stderr| stderr.read_to_string(&mut text));
        text
    });
    Ok(Decoder {
        program,
        child,
        complaints,
        feeder: None,
    })
}

/// Writes parts of a file into a decoder.
fn feed(mut file: File, parts: &[Range<u64>], mut input: ChildStdin) -> std::io::Result<()> {
    for part in parts {
        file.seek(SeekFrom::Start(part.start))?;
        let length = part.end - part.start;
        let written = std::io::copy(&mut (&mut file).take(length), &mut input)?;
        if written < length {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(())
}
