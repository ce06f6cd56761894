//! The decoder's thread.

use std::sync::mpsc;
use std::thread::{Builder, JoinHandle};

use mimosa_facts::Codec;
use mimosa_sandbox::Stop;
use mimosa_session::viewer::{Slices, Whole};
use mimosa_system::clock::Clock;
use mimosa_system::priority;
use mimosa_units::{PeerTime, Time, TimeDelta};

use super::engine::{DecodeIn, DecodedFrame, Done, Engine};
use super::error::PlayError;

/// A frame's properties, without its content.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Coded {
    /// Number of the frame.
    pub number: u64,
    /// RTP timestamp of the frame.
    pub timestamp: u32,
    /// When the frame's first packet came.
    pub first: Time,
    /// When the frame's last packet came.
    pub last: Time,
    /// Length of the frame in bytes.
    pub bytes: usize,
}

/// The result of decoding a frame.
#[derive(Debug)]
pub struct Decoded {
    /// The frame.
    pub frame: Coded,
    /// The picture; `None` if the frame has none, or is too damaged to be displayed.
    pub picture: Option<DecodedFrame>,
    /// Whether decoding can only continue from a keyframe.
    pub is_broken: bool,
    /// How long the frame waited for the decoder.
    pub waited: TimeDelta,
    /// How long decoding took.
    pub took: TimeDelta,
    /// When decoding was done.
    pub at: Time,
}

/// A message from the decoder's thread.
#[derive(Debug)]
pub enum FromDecoder {
    /// A frame was decoded, or could not be.
    Decoded(Decoded),
    /// The decoder's process ended, for this reason, and another has its place.
    Replaced(String),
    /// No frame is decoded any more.
    Gone(PlayError),
}

/// What the thread is given.
#[derive(Debug)]
enum Work {
    /// Slices of the next frame.
    Slices(Slices),
    /// A frame, and when it was handed over.
    Frame(Time, Whole),
}

/// A thread that decodes frames in order.
#[derive(Debug)]
pub struct DecodeThread {
    work: Option<mpsc::Sender<Work>>,
    thread: Option<JoinHandle<()>>,
    clock: Clock,
    codecs: Vec<Codec>,
    stop: Stop,
}

impl DecodeThread {
    /// Starts the thread with a decoder of the first codec that is supported, which changes when
    /// frames of another codec come. The thread calls `deliver` with each message.
    ///
    /// # Errors
    ///
    /// [`PlayError::Decode`] without a decoder, [`PlayError::NoSandbox`] without a process for it,
    /// [`PlayError::Thread`] without a thread.
    pub fn start(
        place: DecodeIn,
        threads: u8,
        clock: Clock,
        mut deliver: impl FnMut(FromDecoder) + Send + 'static,
    ) -> Result<Self, PlayError> {
        let (sender, receiver) = mpsc::channel::<Work>();
        let (ready, is_ready) = mpsc::channel();
        let stop = Stop::default();
        let stopped = stop.clone();
        let run = move || {
            priority::raise();
            // The decoder's process ends with the thread that starts it, which is this one therefore.
            let mut engine = match Engine::start(place, threads, stopped.clone()) {
                Ok(engine) => engine,
                Err(error) => {
                    let _ = ready.send(Err(error));
                    return;
                }
            };
            let _ = ready.send(Ok(engine.codecs()));
            while let Ok(work) = receiver.recv() {
                match work {
                    Work::Slices(slices) => engine.begin(&slices),
                    Work::Frame(handed, frame) => {
                        match decode(&mut engine, clock, handed, &frame) {
                            Ok((replaced, decoded)) => {
                                replaced.map(FromDecoder::Replaced).map(&mut deliver);
                                deliver(FromDecoder::Decoded(decoded));
                            }
                            Err(_) if stopped.is_stopped() => return,
                            Err(error) => return deliver(FromDecoder::Gone(error)),
                        }
                    }
                }
            }
        };
        let thread = Builder::new()
            .name("decoder".to_owned())
            .spawn(run)
            .map_err(PlayError::Thread)?;
        let ended = || PlayError::Thread(std::io::Error::other("it ended"));
        let codecs = is_ready.recv().map_err(|_| ended())??;
        Ok(Self {
            work: Some(sender),
            thread: Some(thread),
            clock,
            codecs,
            stop,
        })
    }

    /// The codecs that the thread decodes.
    #[must_use]
    pub fn codecs(&self) -> &[Codec] {
        &self.codecs
    }

    /// Sends slices of the next frame to the thread.
    pub fn begin(&self, slices: Slices) {
        self.send(Work::Slices(slices));
    }

    /// Sends a frame to the thread.
    pub fn decode(&self, frame: Whole) {
        self.send(Work::Frame(self.clock.now(), frame));
    }

    fn send(&self, work: Work) {
        if let Some(sender) = &self.work {
            // If the thread has ended, nothing waits for the frame.
            let _ = sender.send(work);
        }
    }
}

impl Drop for DecodeThread {
    fn drop(&mut self) {
        self.work = None;
        // A process that does not answer is not waited for.
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was printed there.
            let _ = thread.join();
        }
    }
}

/// Decodes a frame. Returns also why the decoder's process was replaced, if it was.
fn decode(
    engine: &mut Engine,
    clock: Clock,
    handed: Time,
    frame: &Whole,
) -> Result<(Option<String>, Decoded), PlayError> {
    let begun = clock.now();
    let done = engine.decode(frame)?;
    let at = clock.now();
    let time = |at: PeerTime| Time::from_nanos(u64::try_from(at.as_nanos()).unwrap_or(0));
    let (mut picture, mut replaced) = (None, None);
    match done {
        Done::Picture(decoded) => picture = decoded,
        Done::Refused(error) => {
            tracing::warn!(%error, number = frame.number, "a frame cannot be decoded");
        }
        Done::Replaced(reason) => {
            tracing::warn!(%reason, number = frame.number, "the decoder's process ended and was replaced");
            replaced = Some(reason);
        }
    }
    let decoded = Decoded {
        frame: Coded {
            number: frame.number,
            timestamp: frame.timestamp,
            first: time(frame.first),
            last: time(frame.last),
            bytes: frame.access_unit.len(),
        },
        is_broken: picture.as_ref().is_none_or(DecodedFrame::is_damaged),
        picture,
        waited: begun.since(handed),
        took: at.since(begun),
        at,
    };
    Ok((replaced, decoded))
}
