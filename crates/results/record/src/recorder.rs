//! Records sessions and links while they last.

use std::io::{Seek, Write};

use mimosa_facts::{LinkPacket, Passage, SessionFrame};
use parquet::file::writer::SerializedFileWriter;

use crate::column::Row;
use crate::file::{self, Names};
use crate::link::Queues;
use crate::recording::RecordError;
use crate::table::Run;

/// Frames that are held in memory until they are written as one row group: a minute's at 60 fps.
const FRAMES: usize = 3_600;
/// Packets that are held in memory until they are written: about two megabytes of them.
const PACKETS: usize = 16_384;

/// Writes a session's frames to `W`.
///
/// A row group is written when it is full, so that a session of any length takes the memory of one.
/// A Parquet file can only be read once its end is written: write to a temporary name, say
/// `NAME.part`, and rename the file after [`finish`](Self::finish). A file that a killed host
/// leaves is then recognised, and can be read up to the last [`checkpoint`](Self::checkpoint).
pub struct SessionRecorder<W: Write + Send>(Groups<SessionFrame, W>);

impl<W: Write + Send> SessionRecorder<W> {
    /// Begins the file of the session that `session`, a JSON object, describes.
    ///
    /// Reports use `role`, `source`, `width`, `height`, `fps`, `encoder`, `controller`, `feedback`,
    /// `max_bitrate` (bit/s), `version`, and `started` (text) or `begun_unix_s`, in the object or
    /// in objects inside it, and show all other fields unchanged. `begun_unix_ns`, the wall clock
    /// in nanoseconds since 1970 at the recording's time zero, says which part of a link's
    /// recording belongs to the session.
    ///
    /// # Errors
    ///
    /// [`RecordError`] if `sink` fails.
    pub fn new(sink: W, session: &str) -> Result<Self, RecordError> {
        let texts = [("session", session)];
        Groups::new(sink, &texts, Queues::default(), FRAMES).map(Self)
    }

    /// Adds a frame.
    ///
    /// # Errors
    ///
    /// [`RecordError`] if the sink fails. The file is useless then, and frames that were waiting to
    /// be written are dropped.
    pub fn push(&mut self, frame: SessionFrame) -> Result<(), RecordError> {
        self.0.push(frame)
    }

    /// Writes all frames so far, followed by an end, so that the sink has a file that can be read.
    /// What is written later replaces this end, back to the last complete row group, and the file
    /// never becomes shorter. [`finish`](Self::finish) leaves the same file as without checkpoints.
    ///
    /// If the sink has a buffer for a whole checkpoint, a few hundred kilobytes, the file lacks its
    /// end only during a single write.
    ///
    /// # Errors
    ///
    /// The errors of [`push`](Self::push).
    pub fn checkpoint(&mut self) -> Result<(), RecordError>
    where
        W: Seek,
    {
        self.0.checkpoint()
    }

    /// Ends the file and returns the sink, whose position is at the end. After checkpoints, a few
    /// bytes may follow that position, which the caller has to cut off.
    ///
    /// # Errors
    ///
    /// [`RecordError`] if the sink fails.
    pub fn finish(self) -> Result<W, RecordError> {
        self.0.finish()
    }
}

/// Writes a link's packets to `W`, as a [`SessionRecorder`] writes frames.
pub struct LinkRecorder<W: Write + Send>(Groups<Passage<LinkPacket>, W>);

impl<W: Write + Send> LinkRecorder<W> {
    /// Begins the file of the link that `about_json`, a JSON object, describes.
    ///
    /// Reports use `name`, `path`, and `begun_unix_ns`: the wall clock in nanoseconds since 1970 at
    /// the recording's time zero. [`LinkPacket::queue`](mimosa_facts::LinkPacket::queue) counts the
    /// names of the queues of its direction, which contain no line ends.
    ///
    /// # Errors
    ///
    /// [`RecordError`] if `sink` fails.
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
    /// The errors of [`SessionRecorder::push`].
    pub fn push(&mut self, passage: Passage<LinkPacket>) -> Result<(), RecordError> {
        self.0.push(passage)
    }

    /// Ends the file and returns the sink.
    ///
    /// # Errors
    ///
    /// [`RecordError`] if the sink fails.
    pub fn finish(self) -> Result<W, RecordError> {
        self.0.finish()
    }
}

/// Writes rows to a file, with one row group in memory.
struct Groups<R, W: Write + Send> {
    writer: SerializedFileWriter<W>,
    texts: Vec<(String, String)>,
    waiting: Vec<R>,
    most: usize,
    run: Run,
    queues: Queues,
    /// The end of the last checkpoint, if there was one. After it, only checkpoints write row
    /// groups, because any other write would leave the file without an end.
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
