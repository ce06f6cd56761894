//! Records sessions, each in its own thread, so that the network's thread never waits for a disk.

mod pictures;

use std::fs::File;
use std::io::{BufWriter, Seek};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mimosa_facts::SessionFrame;
use mimosa_protocol::control::Hello;
use mimosa_record::SessionRecorder;
use mimosa_system::clock::Clock;
use mimosa_system::priority;

pub(crate) use self::pictures::PictureKeeper;
use crate::error::HostError;
use crate::network::SessionNumber;
use crate::private;

/// Time between checkpoints: most that a recording loses if the host is killed. Our choice: a
/// checkpoint of a minute's frames takes a few milliseconds and some hundred kilobytes.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(10);
/// Size of the write buffer in bytes, which holds a checkpoint, so that it is written at once.
const BUFFER: usize = 1 << 20;

/// The sender of a session's frames. The recording ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Recorder(mpsc::Sender<SessionFrame>);

/// Where a recording goes, and its description of itself.
struct Plan {
    path: PathBuf,
    /// Path of the file until the session has ended.
    part: PathBuf,
    about: String,
    clock: Clock,
    checkpoint_every: Duration,
}

impl Recorder {
    /// Begins the recording of a session in `folder`, which is made. The file is NAME`.parquet`,
    /// with `.part` after its name until the session ends. The thread ends when the recorder was
    /// dropped and everything is written.
    ///
    /// # Errors
    ///
    /// [`HostError::Thread`] if the system refuses a thread.
    pub(crate) fn begin(
        folder: &Path,
        name: &str,
        number: SessionNumber,
        hello: &Hello,
        clock: Clock,
    ) -> Result<(Self, JoinHandle<()>), HostError> {
        let begun = unix_time();
        // The time in the recording is zero when the host's clock is.
        let zero = nanoseconds(begun.saturating_sub(clock.since_start()));
        let about = serde_json::json!({
            "begun_unix_s": begun.as_secs(),
            "begun_unix_ns": zero,
            "session": number.0,
            "hello": hello,
        });
        let path = folder.join(format!("{name}.parquet"));
        let plan = Plan {
            part: path.with_extension("parquet.part"),
            path,
            about: about.to_string(),
            clock,
            checkpoint_every: CHECKPOINT_EVERY,
        };
        let folder = folder.to_owned();
        Self::spawn(plan, move |part| {
            private::folder(&folder)?;
            private::file(part)
        })
    }

    fn spawn(
        plan: Plan,
        open: impl FnOnce(&Path) -> std::io::Result<File> + Send + 'static,
    ) -> Result<(Self, JoinHandle<()>), HostError> {
        let (frames, told) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("recorder".to_owned())
            .spawn(move || {
                priority::normal();
                match write(&plan, open, &told) {
                    Ok(()) => tracing::info!(path = %plan.path.display(), "recorded"),
                    Err(error) => {
                        tracing::error!(%error, path = %plan.part.display(), "the recording has failed");
                    }
                }
            })
            .map_err(HostError::Thread)?;
        Ok((Self(frames), thread))
    }

    /// Adds a frame.
    pub(crate) fn push(&mut self, frame: &SessionFrame) {
        // A recording that failed has logged why.
        let _ = self.0.send(*frame);
    }
}

/// Name of a session's recordings: `session-TIME-NUMBER`.
pub(crate) fn name(number: SessionNumber) -> String {
    format!("session-{}-{}", unix_time().as_secs(), number.0)
}

/// Writes frames until the recorder is dropped.
fn write(
    plan: &Plan,
    open: impl FnOnce(&Path) -> std::io::Result<File>,
    frames: &mpsc::Receiver<SessionFrame>,
) -> Result<(), Box<dyn std::error::Error>> {
    let file = BufWriter::with_capacity(BUFFER, open(&plan.part)?);
    let mut recorder = SessionRecorder::new(file, &plan.about)?;
    recorder.checkpoint()?;
    let mut next = plan.clock.since_start() + plan.checkpoint_every;
    let mut is_new = false;
    loop {
        let rest = next.saturating_sub(plan.clock.since_start());
        match frames.recv_timeout(rest) {
            Ok(frame) => {
                recorder.push(frame)?;
                is_new = true;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        let now = plan.clock.since_start();
        if next <= now {
            next = now + plan.checkpoint_every;
            if std::mem::take(&mut is_new) {
                recorder.checkpoint()?;
            }
        }
    }
    let mut file = recorder.finish()?.into_inner()?;
    let end = file.stream_position()?;
    file.set_len(end)?;
    std::fs::rename(&plan.part, &plan.path)?;
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

#[cfg(test)]
mod tests {
    use mimosa_facts::{Decision, FrameId, FrameLife, FramePlan, Pacing};
    use mimosa_record::read_session;
    use mimosa_system::process::Folder;
    use mimosa_units::{Bytes, Rate, Time, TimeDelta};

    use super::*;

    fn frame(number: u64) -> SessionFrame {
        let at = Time::from_millis(number);
        SessionFrame {
            captured: at,
            encode_begun: at,
            encode_ended: at,
            encode_processor: None,
            relief: mimosa_facts::Relief::NONE,
            life: FrameLife {
                frame: FrameId(number),
                due: at,
                interval: TimeDelta::from_millis(16),
                decision: Decision::starting_at(Rate::from_kbps(1_000)),
                allowed: Bytes::new(1),
                handed_over: at,
                pacing: Pacing::Burst,
                bucket: None,
                size: Bytes::new(1),
                packets: 1,
                first_sent: None,
                last_sent: None,
                first_arrival: None,
                last_arrival: None,
                arrived: 0,
                lost: 0,
                retransmitted: 0,
                protection: None,
                end: None,
            },
            coded: Bytes::new(1),
            budget: Bytes::new(1),
            plan: FramePlan::as_asked(Bytes::new(1)),
            is_keyframe: false,
            quantiser: None,
            attempts: 1,
            received: None,
            decoded: None,
            shown: None,
            inputs: 0,
            newest_input: None,
            sound_skew: None,
            sound_concealed: None,
            rtp: None,
        }
    }

    fn plan(folder: &Folder, checkpoint_every: Duration) -> Plan {
        Plan {
            path: folder.path().join("it.parquet"),
            part: folder.path().join("it.parquet.part"),
            about: "{}".to_owned(),
            clock: Clock::start(),
            checkpoint_every,
        }
    }

    fn frames_in(path: &Path) -> usize {
        let file = File::open(path).unwrap();
        read_session(file).unwrap().frames.len()
    }

    /// The disk does not answer: all frames of a session are pushed before the file is opened.
    #[test]
    fn whoever_records_waits_for_no_disk() {
        let folder = Folder::create("mimosa-recording").unwrap();
        let plan = plan(&folder, CHECKPOINT_EVERY);
        let path = plan.path.clone();
        let (answer, disk) = mpsc::channel::<()>();
        let ours = std::thread::current().id();
        let (mut recorder, thread) = Recorder::spawn(plan, move |part| {
            // In the caller's thread, this would wait for ever.
            assert_ne!(std::thread::current().id(), ours, "the caller's thread");
            disk.recv().unwrap();
            private::file(part)
        })
        .unwrap();
        for number in 0..100 {
            recorder.push(&frame(number));
        }
        drop(recorder);
        assert!(!thread.is_finished() && !path.exists());
        answer.send(()).unwrap();
        thread.join().unwrap();
        assert_eq!(frames_in(&path), 100);
    }

    #[test]
    fn nobody_else_reads_a_recording() {
        use std::os::unix::fs::PermissionsExt;
        let folder = Folder::create("mimosa-recording").unwrap();
        let place = folder.path().join("recordings");
        let number = SessionNumber(7);
        let hello = r#"{"version":"1","role":"player","source":"demo","width":16,"height":16,"fps":60,
            "encoder":"x264","codec":"H264","controller":"mimosa","feedback":"none",
            "max_bitrate":1,"picture_clock":null,"sound_clock":null,"clipboard":false}"#;
        let hello = serde_json::from_str(hello).unwrap();
        let (mut recorder, thread) =
            Recorder::begin(&place, "it", number, &hello, Clock::start()).unwrap();
        recorder.push(&frame(1));
        drop(recorder);
        thread.join().unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&place), 0o700);
        assert_eq!(mode(&place.join("it.parquet")), 0o600);
    }

    /// Leaves the recording as a host that is killed would.
    #[test]
    fn a_recording_is_read_while_it_is_made() {
        let folder = Folder::create("mimosa-recording").unwrap();
        let plan = plan(&folder, Duration::ZERO);
        let (path, part) = (plan.path.clone(), plan.part.clone());
        let open = |part: &Path| private::file(part);
        let (mut recorder, thread) = Recorder::spawn(plan, open).unwrap();
        recorder.push(&frame(0));
        // Without a checkpoint there would never be a file that can be read.
        while !part.exists() || read_session(File::open(&part).unwrap()).is_err() {
            assert!(!thread.is_finished());
            std::thread::yield_now();
        }
        recorder.push(&frame(1));
        while frames_in_part(&part) < 2 {
            assert!(!thread.is_finished());
            std::thread::yield_now();
        }
        assert!(!path.exists());
        drop(recorder);
        thread.join().unwrap();
        assert!(frames_in(&path) == 2 && !part.exists());
    }

    /// Number of frames in the file; zero during a checkpoint.
    fn frames_in_part(part: &Path) -> usize {
        let file = File::open(part).unwrap();
        read_session(file).map_or(0, |session| session.frames.len())
    }
}
