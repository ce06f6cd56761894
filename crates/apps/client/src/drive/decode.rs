//! The decoder's thread.

use std::sync::mpsc;
use std::thread::{Builder, JoinHandle};

use mimosa_avcodec::{DecodeError, DecodedPicture, Decoder, decodable};
use mimosa_facts::Codec;
use mimosa_session::viewer::Whole;
use mimosa_system::priority;
use mimosa_units::{PeerTime, Time, TimeDelta};

use super::error::PlayError;
use mimosa_system::clock::Clock;

/// A frame without its bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Coded {
    /// Its number.
    pub number: u64,
    /// RTP timestamp.
    pub timestamp: u32,
    /// When its first packet came.
    pub first: Time,
    /// When its last one did.
    pub last: Time,
    /// Bytes.
    pub bytes: usize,
}

/// What came of a frame.
#[derive(Debug)]
pub struct Decoded {
    /// Of which frame.
    pub frame: Coded,
    /// The picture; `None` when there is none in it, or it is damaged so much that nobody
    /// should see it.
    pub picture: Option<DecodedPicture>,
    /// Decoding goes on from a keyframe only.
    pub is_broken: bool,
    /// How long it waited for the decoder.
    pub waited: TimeDelta,
    /// How long decoding took.
    pub took: TimeDelta,
    /// When it was done.
    pub at: Time,
}

/// A thread that decodes frames in their order.
#[derive(Debug)]
pub struct DecodeThread {
    frames: Option<mpsc::Sender<(Time, Whole)>>,
    thread: Option<JoinHandle<()>>,
    clock: Clock,
}

impl DecodeThread {
    /// Starts it with a decoder of the first codec that there is, and another where frames
    /// come of another; what it makes goes to `deliver`, in its thread.
    ///
    /// # Errors
    ///
    /// [`PlayError::Decode`] without a decoder, [`PlayError::Thread`].
    pub fn start(
        threads: u8,
        clock: Clock,
        mut deliver: impl FnMut(Decoded) + Send + 'static,
    ) -> Result<Self, PlayError> {
        let codec = decodable().first().copied().unwrap_or(Codec::H264);
        let mut decoder = Decoder::new(codec, threads)?;
        let (sender, receiver) = mpsc::channel::<(Time, Whole)>();
        let run = move || {
            priority::raise();
            while let Ok((handed, frame)) = receiver.recv() {
                deliver(decode(&mut decoder, threads, clock, handed, &frame));
            }
        };
        let thread = Builder::new()
            .name("decoder".to_owned())
            .spawn(run)
            .map_err(PlayError::Thread)?;
        Ok(Self {
            frames: Some(sender),
            thread: Some(thread),
            clock,
        })
    }

    /// Hands a frame over.
    pub fn decode(&self, frame: Whole) {
        if let Some(frames) = &self.frames {
            // Without the thread nobody waits for it.
            let _ = frames.send((self.clock.now(), frame));
        }
    }
}

impl Drop for DecodeThread {
    fn drop(&mut self) {
        self.frames = None;
        if let Some(thread) = self.thread.take() {
            // A panic there has said so.
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

/// The picture of a frame, by a decoder of its codec.
fn picture(
    decoder: &mut Decoder,
    threads: u8,
    frame: &Whole,
) -> Result<Option<DecodedPicture>, DecodeError> {
    if decoder.codec() != frame.codec {
        *decoder = Decoder::new(frame.codec, threads)?;
    }
    decoder.decode(&frame.access_unit)
}
