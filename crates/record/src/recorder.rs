//! A session to a file, while it lasts.

use std::io::Write;

use parquet::file::writer::SerializedFileWriter;

use crate::file;
use crate::recording::RecordError;
use crate::session::SessionFrame;
use crate::table::Run;

/// Frames held in memory until they are written as one row group: a minute's
/// at 60 fps.
const GROUP: usize = 3_600;

/// A file of one session's frames on its way to `W`.
///
/// Whole row groups are written as they fill, so that a session of any length
/// takes the memory of one. A Parquet file can be read only once its end is
/// written: write to a file with a name of its own, say `NAME.part`, and give
/// it its name after [`finish`](Self::finish). What a host that is killed
/// leaves behind then cannot be taken for a recording.
pub struct SessionRecorder<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    waiting: Vec<SessionFrame>,
    run: Run,
}

impl<W: Write + Send> SessionRecorder<W> {
    /// Begins the file of the session that `session`, a JSON object, describes.
    ///
    /// A report knows `role`, `source`, `width`, `height`, `fps`, `encoder`,
    /// `controller`, `feedback`, `max_bitrate` (bit/s), `version`, and `started`
    /// (text) or `begun_unix_s`, in it or in objects inside of it, and shows
    /// whatever else there is.
    ///
    /// # Errors
    ///
    /// [`RecordError`] when `sink` fails.
    pub fn new(sink: W, session: &str) -> Result<Self, RecordError> {
        Ok(Self {
            writer: file::begin::<SessionFrame, W>(sink, "session", session)?,
            waiting: Vec::with_capacity(GROUP),
            run: Run::default(),
        })
    }

    /// Adds a frame.
    ///
    /// # Errors
    ///
    /// [`RecordError`] when the sink fails. The file is of no use then; frames
    /// that were waiting to be written are dropped.
    pub fn push(&mut self, frame: SessionFrame) -> Result<(), RecordError> {
        self.waiting.push(frame);
        if self.waiting.len() < GROUP {
            return Ok(());
        }
        self.flush()
    }

    /// Ends the file and gives the sink back.
    ///
    /// # Errors
    ///
    /// [`RecordError`] when the sink fails.
    pub fn finish(mut self) -> Result<W, RecordError> {
        self.flush()?;
        file::end(self.writer)
    }

    fn flush(&mut self) -> Result<(), RecordError> {
        let written = file::append(&mut self.writer, &self.run, &self.waiting);
        self.waiting.clear();
        Ok(written?)
    }
}
