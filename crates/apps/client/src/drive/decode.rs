//! The decoder's thread.

use std::sync::mpsc;
use std::thread::{Builder, JoinHandle};

use mimosa_avcodec::{DecodeError, DecodedPicture, Decoder, decodable};
use mimosa_facts::Codec;
use mimosa_session::viewer::{Slices, Whole};
use mimosa_system::priority;
use mimosa_units::{PeerTime, Time, TimeDelta};

use super::error::PlayError;
use mimosa_system::clock::Clock;

/// Lists the codecs that can be decoded here, after opening a decoder of the first.
///
/// # Errors
///
/// [`PlayError::Decode`] if there is no decoder.
pub fn decoders() -> Result<Vec<Codec>, PlayError> {
    let codecs = decodable();
    let first = codecs.first().copied().unwrap_or(Codec::H264);
    Decoder::new(first, 1)?;
    Ok(codecs)
}

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
    pub picture: Option<DecodedPicture>,
    /// Whether decoding can only continue from a keyframe.
    pub is_broken: bool,
    /// How long the frame waited for the decoder.
    pub waited: TimeDelta,
    /// How long decoding took.
    pub took: TimeDelta,
    /// When decoding was done.
    pub at: Time,
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
}

impl DecodeThread {
    /// Starts the thread with a decoder of the first codec that is supported, which changes when
    /// frames of another codec come. The thread calls `deliver` with each result.
    ///
    /// # Errors
    ///
    /// [`PlayError::Decode`] without a decoder, [`PlayError::Thread`] without a thread.
    pub fn start(
        threads: u8,
        clock: Clock,
        mut deliver: impl FnMut(Decoded) + Send + 'static,
    ) -> Result<Self, PlayError> {
        let codec = decodable().first().copied().unwrap_or(Codec::H264);
        let mut decoder = open(codec, threads)?;
        let (sender, receiver) = mpsc::channel::<Work>();
        let run = move || {
            priority::raise();
            while let Ok(work) = receiver.recv() {
                match work {
                    Work::Slices(slices) => {
                        decoder.begin(slices.number, slices.from, &slices.units);
                    }
                    Work::Frame(handed, frame) => {
                        deliver(decode(&mut decoder, threads, clock, handed, &frame));
                    }
                }
            }
        };
        let thread = Builder::new()
            .name("decoder".to_owned())
            .spawn(run)
            .map_err(PlayError::Thread)?;
        Ok(Self {
            work: Some(sender),
            thread: Some(thread),
            clock,
        })
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
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was printed there.
            let _ = thread.join();
        }
    }
}

fn decode(
    decoder: &mut Decoder,
    threads: u8,
    clock: Clock,
    handed: Time,
    frame: &Whole,
) -> Decoded {
    let begun = clock.now();
    let result = picture(decoder, threads, frame);
    let at = clock.now();
    let time = |at: PeerTime| Time::from_nanos(u64::try_from(at.as_nanos()).unwrap_or(0));
    let (picture, is_broken) = match result {
        Ok(Some(picture)) if picture.is_damaged() => (Some(picture), true),
        Ok(picture) => {
            let is_broken = picture.is_none();
            (picture, is_broken)
        }
        Err(error) => {
            tracing::warn!(%error, number = frame.number, "a frame cannot be decoded");
            (None, true)
        }
    };
    Decoded {
        frame: Coded {
            number: frame.number,
            timestamp: frame.timestamp,
            first: time(frame.first),
            last: time(frame.last),
            bytes: frame.access_unit.len(),
        },
        picture,
        is_broken,
        waited: begun.since(handed),
        took: at.since(begun),
        at,
    }
}

/// Opens a decoder. With one thread, slices of H.264 are decoded as they come; with several, those of a whole
/// frame are decoded side by side.
fn open(codec: Codec, threads: u8) -> Result<Decoder, DecodeError> {
    match (codec, threads) {
        (Codec::H264, 1) => Decoder::of_slices(),
        _ => Decoder::new(codec, threads),
    }
}

/// Decodes a frame, with a decoder of the frame's codec.
fn picture(
    decoder: &mut Decoder,
    threads: u8,
    frame: &Whole,
) -> Result<Option<DecodedPicture>, DecodeError> {
    if decoder.codec() != frame.codec {
        *decoder = open(frame.codec, threads)?;
    }
    decoder.decode_begun(frame.number, &frame.access_unit)
}
