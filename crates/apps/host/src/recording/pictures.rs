//! Records pictures as the encoder got them, beside the stream that it made;
//! `mimosa quality --recording` compares the two.
//!
//! A separate thread writes them, and the encoder's thread never waits for it: while too many
//! pictures wait for the disk, whole pictures are left out and counted. The stream has every frame,
//! because a decoder needs all of them.

use std::fs::File;
use std::io::{BufWriter, Error, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;

use mimosa_facts::Codec;
use mimosa_quality::{FrameRate, Header, INDEX_HEADER, IndexRow, PlaneSize, frame_line};
use mimosa_session::host::{Captured, Job};
use mimosa_system::priority;
use mimosa_video::Size;

use crate::error::HostError;
use crate::private;

/// Most pictures that wait for the disk: half a second, or 44 MB at 1280x720.
const MOST_WAITING: usize = 32;

/// A frame that waits for the disk.
#[derive(Debug)]
struct Kept {
    /// The frame's row in the index; the writer sets the offset.
    row: IndexRow,
    /// The picture; `None` if it was left out.
    picture: Option<Arc<Captured>>,
    data: Vec<u8>,
}

/// The encoder's end of the recording, which ends when this is dropped.
#[derive(Debug)]
pub(crate) struct PictureKeeper {
    frames: mpsc::Sender<Kept>,
    waiting: Arc<AtomicUsize>,
    size: Size,
    left: u32,
}

impl PictureKeeper {
    /// Begins to record pictures of `size` and their stream in `folder`, which is made. At most
    /// `most` frames are recorded. The thread ends when the keeper was dropped and everything is
    /// written.
    ///
    /// # Errors
    ///
    /// [`HostError::Thread`] if the system refuses a thread.
    pub(crate) fn begin(
        folder: &Path,
        codec: Codec,
        size: Size,
        frames_per_second: u32,
        most: u32,
    ) -> Result<(Self, JoinHandle<()>), HostError> {
        let (frames, told) = mpsc::channel();
        let waiting = Arc::<AtomicUsize>::default();
        let counter = Arc::clone(&waiting);
        let folder = folder.to_owned();
        let thread = std::thread::Builder::new()
            .name("pictures".to_owned())
            .spawn(move || {
                priority::normal();
                let kept = Files::create(&folder, codec)
                    .and_then(|files| write(files, size, frames_per_second, &told, &counter));
                tell(kept, &folder);
            })
            .map_err(HostError::Thread)?;
        let keeper = Self {
            frames,
            waiting,
            size,
            left: most,
        };
        Ok((keeper, thread))
    }

    /// Adds the frame that the encoder made of `job`; `false` if no more are recorded.
    pub(crate) fn push(&mut self, job: &Job, data: Vec<u8>, is_keyframe: bool) -> bool {
        let picture = &job.picture;
        if self.left == 0 {
            tracing::info!("the limit of pictures is reached; no more of this session are kept");
            return false;
        }
        if picture.picture.size() != self.size {
            tracing::warn!("the pictures' size has changed; no more of this session are kept");
            return false;
        }
        self.left -= 1;
        let has_room = self.waiting.load(Ordering::Relaxed) < MOST_WAITING;
        self.waiting
            .fetch_add(usize::from(has_room), Ordering::Relaxed);
        let row = IndexRow {
            frame: job.request.frame.0,
            captured: picture.at,
            rtp_timestamp: job.timestamp,
            is_keyframe,
            has_picture: has_room,
            offset: 0,
            bytes: data.len() as u64,
        };
        let kept = Kept {
            row,
            picture: has_room.then(|| Arc::clone(picture)),
            data,
        };
        // A thread that failed has logged why.
        self.frames.send(kept).is_ok()
    }
}

/// The files of a recording.
#[derive(Debug)]
struct Files<W> {
    pictures: W,
    coded: W,
    index: W,
    /// Number of bytes written to the stream.
    offset: u64,
    frames: u64,
    left_out: u64,
}

impl Files<BufWriter<File>> {
    fn create(folder: &Path, codec: Codec) -> Result<Self, Error> {
        private::folder(folder)?;
        let create = |name: &str| private::file(&folder.join(name)).map(BufWriter::new);
        Ok(Self {
            pictures: create("pictures.y4m")?,
            coded: create(&format!("coded.{}", codec.suffix()))?,
            index: create("frames.csv")?,
            offset: 0,
            frames: 0,
            left_out: 0,
        })
    }
}

impl<W: Write> Files<W> {
    fn begin(&mut self, size: Size, frames_per_second: u32) -> Result<(), Error> {
        let header = Header {
            size: PlaneSize {
                width: size.width() as usize,
                height: size.height() as usize,
            },
            rate: Some(FrameRate {
                frames: frames_per_second,
                seconds: 1,
            }),
        };
        self.pictures.write_all(header.to_line().as_bytes())?;
        self.index.write_all(INDEX_HEADER.as_bytes())
    }

    /// Writes a frame. Its row in the index comes last, so that what it refers to is there.
    fn add(&mut self, kept: &Kept) -> Result<(), Error> {
        let row = IndexRow {
            offset: self.offset,
            ..kept.row
        };
        if let Some(captured) = &kept.picture {
            let line = frame_line(Some(row.frame));
            self.pictures.write_all(line.as_bytes())?;
            for plane in captured.picture.planes() {
                self.pictures.write_all(plane)?;
            }
        }
        self.coded.write_all(&kept.data)?;
        self.index.write_all(row.to_line().as_bytes())?;
        self.offset += row.bytes;
        self.frames += 1;
        self.left_out += u64::from(kept.picture.is_none());
        Ok(())
    }

    fn end(&mut self) -> Result<(), Error> {
        self.pictures.flush()?;
        self.coded.flush()?;
        self.index.flush()
    }
}

/// Counts of what was written.
#[derive(Clone, Copy, Debug)]
struct Count {
    frames: u64,
    left_out: u64,
}

/// Writes frames until the keeper is dropped.
fn write<W: Write>(
    mut files: Files<W>,
    size: Size,
    frames_per_second: u32,
    told: &mpsc::Receiver<Kept>,
    waiting: &AtomicUsize,
) -> Result<Count, Error> {
    files.begin(size, frames_per_second)?;
    while let Ok(kept) = told.recv() {
        let result = files.add(&kept);
        waiting.fetch_sub(usize::from(kept.picture.is_some()), Ordering::Relaxed);
        result?;
    }
    files.end()?;
    Ok(Count {
        frames: files.frames,
        left_out: files.left_out,
    })
}

/// Logs the result.
fn tell(kept: Result<Count, Error>, folder: &Path) {
    let folder = folder.display();
    match kept {
        Err(error) => tracing::error!(%error, %folder, "keeping pictures has failed"),
        Ok(Count { frames, left_out }) if left_out > 0 => tracing::warn!(
            %folder,
            frames,
            left_out,
            "pictures kept; some were left out, as the disk is too slow"
        ),
        Ok(Count { frames, .. }) => tracing::info!(%folder, frames, "pictures kept"),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    use mimosa_facts::{Complexity, FrameId};
    use mimosa_quality::Reader;
    use mimosa_units::{Bytes, Rate, Time, TimeDelta};
    use mimosa_video::{FrameRequest, Picture, Recovery};

    use super::*;

    fn size() -> Size {
        Size::new(32, 16).unwrap()
    }

    fn job(frame: u64, size: Size) -> Job {
        let picture = Captured {
            picture: Picture::new(size),
            at: Time::from_millis(frame),
            inputs: mimosa_session::host::Inputs::default(),
        };
        Job {
            picture: Arc::new(picture),
            size,
            bandwidth: Rate::from_kbps(1_000),
            is_limit: false,
            spares_analysis: false,
            timestamp: 90,
            parts: 1,
            entropy: mimosa_facts::EntropyCoding::Arithmetic,
            request: FrameRequest {
                frame: FrameId(frame),
                budget: Bytes::new(1_000),
                interval: TimeDelta::from_millis(16),
                complexity: Complexity::C0,
                recovery: Recovery::None,
            },
        }
    }

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("mimosa-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn pictures_stream_and_index_belong_together() {
        let folder = folder("kept");
        let (mut keeper, thread) =
            PictureKeeper::begin(&folder, Codec::H264, size(), 60, 3).unwrap();
        for (frame, length) in [(4, 5), (6, 7), (7, 2)] {
            assert!(keeper.push(&job(frame, size()), vec![1; length], frame == 4));
        }
        assert!(!keeper.push(&job(8, size()), vec![1], false), "the limit");
        drop(keeper);
        thread.join().unwrap();
        for file in ["frames.csv", "coded.h264", "pictures.y4m"] {
            let mode = std::fs::metadata(folder.join(file)).unwrap().permissions();
            assert_eq!(mode.mode() & 0o777, 0o600, "{file} is this user's alone");
        }
        let index = std::fs::read_to_string(folder.join("frames.csv")).unwrap();
        let rows = IndexRow::read(&index).unwrap();
        let places: Vec<_> = rows
            .iter()
            .map(|row| (row.frame, row.offset, row.bytes))
            .collect();
        assert_eq!(places, [(4, 0, 5), (6, 5, 7), (7, 12, 2)]);
        assert_eq!(std::fs::read(folder.join("coded.h264")).unwrap().len(), 14);
        let file = std::fs::read(folder.join("pictures.y4m")).unwrap();
        let (mut reader, mut rest) = (Reader::new(), file.as_slice());
        let mut numbers = Vec::new();
        while let Some(frame) = reader.read(&mut rest).unwrap() {
            numbers.push(frame.number);
        }
        assert_eq!(numbers, [Some(4), Some(6), Some(7)]);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn another_size_ends_it() {
        let folder = folder("resized");
        let (mut keeper, thread) =
            PictureKeeper::begin(&folder, Codec::H264, size(), 60, 3).unwrap();
        let other = Size::new(64, 16).unwrap();
        assert!(!keeper.push(&job(0, other), vec![1], true));
        drop(keeper);
        thread.join().unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
    }

    /// A disk that takes nothing: the channel is never read.
    #[test]
    fn a_slow_disk_costs_pictures_and_never_waiting() {
        let (frames, told) = mpsc::channel();
        let mut keeper = PictureKeeper {
            frames,
            waiting: Arc::default(),
            size: size(),
            left: 100,
        };
        for frame in 0..40 {
            assert!(keeper.push(&job(frame, size()), vec![1], false));
        }
        let mut files = Files {
            pictures: Vec::new(),
            coded: Vec::new(),
            index: Vec::new(),
            offset: 0,
            frames: 0,
            left_out: 0,
        };
        drop(keeper);
        while let Ok(kept) = told.recv() {
            files.add(&kept).unwrap();
        }
        assert_eq!((files.frames, files.left_out, files.offset), (40, 8, 40));
        let lines = String::from_utf8(files.index).unwrap();
        let rows = IndexRow::read(&format!("{INDEX_HEADER}{lines}")).unwrap();
        let kept = rows.iter().filter(|row| row.has_picture).count();
        assert_eq!(kept, MOST_WAITING);
    }
}
