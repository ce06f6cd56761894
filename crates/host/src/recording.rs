//! Sessions on disk, each written by a thread of its own: the network's does not
//! wait for a disk.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mimosa_record::{SessionFrame, SessionRecorder};
use mimosa_wire::control::Hello;

use crate::clock::Clock;
use crate::error::HostError;
use crate::network::SessionNumber;
use mimosa_threads::priority;

/// The way to a session's recording, which ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Recorder {
    frames: mpsc::Sender<SessionFrame>,
    thread: JoinHandle<()>,
}

impl Recorder {
    /// Begins the recording of a session in `folder`, which is made: NAME`.parquet`,
    /// which has `.part` behind its name until the session ends.
    ///
    /// # Errors
    ///
    /// [`HostError::Record`] when the folder cannot be written to.
    pub(crate) fn begin(
        folder: &Path,
        name: &str,
        number: SessionNumber,
        hello: &Hello,
        clock: Clock,
    ) -> Result<Self, HostError> {
        let failed = |error| HostError::Record {
            folder: folder.to_owned(),
            error,
        };
        std::fs::create_dir_all(folder).map_err(failed)?;
        let begun = unix_time();
        // The clock's zero is the recording's.
        let zero = nanoseconds(begun.saturating_sub(clock.since_start()));
        let begun = begun.as_secs();
        let path = folder.join(format!("{name}.parquet"));
        let part = path.with_extension("parquet.part");
        let file = File::create_new(&part).map_err(failed)?;
        let about = serde_json::json!({
            "begun_unix_s": begun,
            "begun_unix_ns": zero,
            "session": number.0,
            "hello": hello,
        });
        let recorder = SessionRecorder::new(BufWriter::new(file), &about.to_string())
            .map_err(|error| failed(std::io::Error::other(error)))?;
        let (frames, told) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("recorder".to_owned())
            .spawn(move || {
                priority::normal();
                if let Err(error) = write(recorder, &told, &part, &path) {
                    tracing::error!(%error, path = %part.display(), "the recording has failed");
                }
            })
            .map_err(HostError::Thread)?;
        Ok(Self { frames, thread })
    }

    /// Adds a frame.
    pub(crate) fn push(&mut self, frame: &SessionFrame) {
        // A recording that has failed has said so.
        let _ = self.frames.send(*frame);
    }

    /// Ends the recording and waits for it.
    pub(crate) fn finish(self) {
        drop(self.frames);
        let _ = self.thread.join();
    }
}

/// A session's name among recordings: `session-TIME-NUMBER`.
pub(crate) fn name(number: SessionNumber) -> String {
    format!("session-{}-{}", unix_time().as_secs(), number.0)
}

fn write(
    mut recorder: SessionRecorder<BufWriter<File>>,
    frames: &mpsc::Receiver<SessionFrame>,
    part: &PathBuf,
    path: &Path,
) -> Result<(), Box<dyn std::error::Error>> {
    while let Ok(frame) = frames.recv() {
        recorder.push(frame)?;
    }
    recorder.finish()?;
    std::fs::rename(part, path)?;
    tracing::info!(path = %path.display(), "recorded");
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "a recording says when it was begun"
)]
fn unix_time() -> Duration {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default()
}

fn nanoseconds(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}
