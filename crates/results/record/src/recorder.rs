//! Sessions and links to a file, while they last.

use std::io::{Seek, Write};

use mimosa_facts::{LinkPacket, Passage, SessionFrame};
use parquet::file::writer::SerializedFileWriter;

use crate::column::Row;
use crate::file::{self, Names};
use crate::link::Queues;
use crate::recording::RecordError;
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
/// leaves behind is then known for what it is, and can be read up to the last
/// [`checkpoint`](Self::checkpoint).
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

    /// Writes all frames so far and an end behind them: what is in the sink from now on is
    /// a file that can be read. What follows is written over that end, back from the last
    /// whole row group on, and never ends before it. Without checkpoints between, the file
    /// that [`finish`](Self::finish) leaves is the same.
    ///
    /// A sink with a buffer that holds a whole checkpoint, a few hundred kilobytes, is only
    /// for the moment of one write without its end.
    ///
    /// # Errors
    ///
    /// As [`push`](Self::push).
    pub fn checkpoint(&mut self) -> Result<(), RecordError>
    where
        W: Seek,
    {
        self.0.checkpoint()
    }

    /// Ends the file and gives the sink back, with its position at the end. After
    /// checkpoints a few bytes may be left behind that position; cut them off.
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
pub struct LinkRecorder<W: Write + Send>(Groups<Passage<LinkPacket>, W>);

impl<W: Write + Send> LinkRecorder<W> {
    /// Begins the file of the link that `about_json`, a JSON object, describes.
    ///
    /// A report knows `name`, `path`, and `begun_unix_ns`: the wall clock in
    /// nanoseconds since 1970 at the recording's time zero. The names of the
    /// queues of each direction, each one line, are what
    /// [`LinkPacket::queue`](mimosa_facts::LinkPacket::queue) counts.
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
    pub fn push(&mut self, passage: Passage<LinkPacket>) -> Result<(), RecordError> {
        self.0.push(passage)
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
    texts: Vec<(String, String)>,
    waiting: Vec<R>,
    most: usize,
    run: Run,
    queues: Queues,
    /// Where the last checkpoint ended, if there was one: row groups are then written by
    /// those alone, as what is written in between takes the file its end.
    checkpoint_end: Option<usize>,
}

impl<R: Row, W: Write + Send> Groups<R, W> {
    fn new(
        sink: W,
        texts: &[(&str, &str)],
        queues: Queues,
        most: usize,
    ) -> Result<Self, RecordError> {
        let owned = |&(key, text): &(&str, &str)| (key.to_owned(), text.to_owned());
        Ok(Self {
            writer: file::begin::<R, W>(sink, texts)?,
            texts: texts.iter().map(owned).collect(),
            waiting: Vec::with_capacity(most),
            most,
            run: Run::default(),
            queues,
            checkpoint_end: None,
        })
    }

    fn push(&mut self, row: R) -> Result<(), RecordError> {
        self.waiting.push(row);
        if self.waiting.len() < self.most || self.checkpoint_end.is_some() {
            return Ok(());
        }
        self.flush_whole()
    }

    fn finish(mut self) -> Result<W, RecordError> {
        self.flush_whole()?;
        let rest = std::mem::take(&mut self.waiting);
        self.append(&rest)?;
        file::end(self.writer)
    }

    fn checkpoint(&mut self) -> Result<(), RecordError>
    where
        W: Seek,
    {
        self.flush_whole()?;
        let texts: Vec<_> = self
            .texts
            .iter()
            .map(|(key, text)| (&**key, &**text))
            .collect();
        let least = self.checkpoint_end.unwrap_or_default();
        let names = Names {
            run: &self.run,
            queues: &self.queues,
        };
        let tail = file::tail(&self.writer, &texts, names, &self.waiting, least)?;
        self.checkpoint_end = Some(self.writer.bytes_written() + tail.len());
        self.writer.flush()?;
        let sink = self.writer.inner_mut();
        let begin = sink.stream_position()?;
        sink.write_all(&tail)?;
        sink.flush()?;
        sink.seek(std::io::SeekFrom::Start(begin))?;
        Ok(())
    }

    /// Writes the row groups that are full.
    fn flush_whole(&mut self) -> Result<(), RecordError> {
        while self.waiting.len() >= self.most {
            let rest = self.waiting.split_off(self.most);
            let whole = std::mem::replace(&mut self.waiting, rest);
            self.append(&whole)?;
        }
        Ok(())
    }

    fn append(&mut self, rows: &[R]) -> Result<(), RecordError> {
        let names = Names {
            run: &self.run,
            queues: &self.queues,
        };
        Ok(file::append(&mut self.writer, names, rows)?)
    }
}
