//! Sessions and links to a file, while they last.

use std::io::Write;

use parquet::file::writer::SerializedFileWriter;

use crate::column::Row;
use crate::file::{self, Names};
use crate::link::{LinkPacket, Queues};
use crate::recording::RecordError;
use crate::session::SessionFrame;
use crate::table::Run;

/// Frames held in memory until they are written as one row group: a minute's
/// at 60 fps.
const FRAMES: usize = 3_600;
/// Packets held in memory likewise: about two megabytes of them.
const PACKETS: usize = 16_384;

/// A file of one session's frames on its way to `W`.
///
/// Whole row groups are written as they fill, so that a session of any length
/// takes the memory of one. A Parquet file can be read only once its end is
/// written: write to a file with a name of its own, say `NAME.part`, and give
/// it its name after [`finish`](Self::finish). What a host that is killed
/// leaves behind then cannot be taken for a recording.
pub struct SessionRecorder<W: Write + Send>(Groups<SessionFrame, W>);

impl<W: Write + Send> SessionRecorder<W> {
    /// Begins the file of the session that `session`, a JSON object, describes.
    ///
    /// A report knows `role`, `source`, `width`, `height`, `fps`, `encoder`,
    /// `controller`, `feedback`, `max_bitrate` (bit/s), `version`, and `started`
    /// (text) or `begun_unix_s`, in it or in objects inside of it, and shows
    /// whatever else there is. `begun_unix_ns`, the wall clock in nanoseconds
    /// since 1970 at the recording's time zero, says which part of a link's
    /// recording is the session's.
    ///
    /// # Errors
    ///
    /// [`RecordError`] when `sink` fails.
    pub fn new(sink: W, session: &str) -> Result<Self, RecordError> {
        let texts = [("session", session)];
        Groups::new(sink, &texts, Queues::default(), FRAMES).map(Self)
    }

    /// Adds a frame.
    ///
    /// # Errors
    ///
    /// [`RecordError`] when the sink fails. The file is of no use then; frames
    /// that were waiting to be written are dropped.
    pub fn push(&mut self, frame: SessionFrame) -> Result<(), RecordError> {
        self.0.push(frame)
    }

    /// Ends the file and gives the sink back.
    ///
    /// # Errors
    ///
    /// [`RecordError`] when the sink fails.
    pub fn finish(self) -> Result<W, RecordError> {
        self.0.finish()
    }
}

/// A file of a link's packets on its way to `W`, written as a
/// [`SessionRecorder`] writes.
pub struct LinkRecorder<W: Write + Send>(Groups<LinkPacket, W>);

impl<W: Write + Send> LinkRecorder<W> {
    /// Begins the file of the link that `about_json`, a JSON object, describes.
    ///
    /// A report knows `name`, `path`, and `begun_unix_ns`: the wall clock in
    /// nanoseconds since 1970 at the recording's time zero. The names of the
    /// queues of each direction, each one line, are what
    /// [`LinkPacket::queue`] counts.
    ///
    /// # Errors
    ///
    /// [`RecordError`] when `sink` fails.
    pub fn new(
        sink: W,
        about_json: &str,
        forward_queues: &[String],
        reverse_queues: &[String],
    ) -> Result<Self, RecordError> {
        let queues = Queues {
            forward: forward_queues.to_vec(),
            reverse: reverse_queues.to_vec(),
        };
        let lines = [&queues.forward, &queues.reverse].map(|names| names.join("\n"));
        let texts = [
            ("link", about_json),
            (Queues::KEYS[0], &lines[0]),
            (Queues::KEYS[1], &lines[1]),
        ];
        Groups::new(sink, &texts, queues, PACKETS).map(Self)
    }

    /// Adds a packet.
    ///
    /// # Errors
    ///
    /// As [`SessionRecorder::push`].
    pub fn push(&mut self, packet: LinkPacket) -> Result<(), RecordError> {
        self.0.push(packet)
    }

    /// Ends the file and gives the sink back.
    ///
    /// # Errors
    ///
    /// [`RecordError`] when the sink fails.
    pub fn finish(self) -> Result<W, RecordError> {
        self.0.finish()
    }
}

/// Rows to a file, one row group in memory.
struct Groups<R, W: Write + Send> {
    writer: SerializedFileWriter<W>,
    waiting: Vec<R>,
    most: usize,
    run: Run,
    queues: Queues,
}

impl<R: Row, W: Write + Send> Groups<R, W> {
    fn new(
        sink: W,
        texts: &[(&str, &str)],
        queues: Queues,
        most: usize,
    ) -> Result<Self, RecordError> {
        Ok(Self {
            writer: file::begin::<R, W>(sink, texts)?,
            waiting: Vec::with_capacity(most),
            most,
            run: Run::default(),
            queues,
        })
    }

    fn push(&mut self, row: R) -> Result<(), RecordError> {
        self.waiting.push(row);
        if self.waiting.len() < self.most {
            return Ok(());
        }
        self.flush()
    }

    fn finish(mut self) -> Result<W, RecordError> {
        self.flush()?;
        file::end(self.writer)
    }

    fn flush(&mut self) -> Result<(), RecordError> {
        let names = Names {
            run: &self.run,
            queues: &self.queues,
        };
        let written = file::append(&mut self.writer, names, &self.waiting);
        self.waiting.clear();
        Ok(written?)
    }
}
