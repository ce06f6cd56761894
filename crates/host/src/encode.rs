//! An encoder in a thread of its own: pictures in, packets out.

use std::sync::Arc;
use std::sync::mpsc;

use mimosa_control::FrameId;
use mimosa_settings::EncoderSettings;
use mimosa_units::Time;
use mimosa_video::{EncodeError, FrameRequest, Size};
use mimosa_webrtc::LARGEST_PAYLOAD;
use mimosa_wire::h264::{Packetiser, Payloads};

use crate::clock::Clock;
use crate::encoders::open_encoder;
use crate::error::HostError;
use crate::priority;
use crate::source::Captured;

/// A picture to encode.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) picture: Arc<Captured>,
    pub(crate) request: FrameRequest,
}

/// A frame as it came out.
#[derive(Debug)]
pub(crate) struct Encoded {
    pub(crate) frame: FrameId,
    pub(crate) begun: Time,
    pub(crate) ended: Time,
    /// The frame, or why there is none.
    pub(crate) result: Result<Coded, EncodeError>,
}

/// What there is of a frame.
#[derive(Debug)]
pub(crate) struct Coded {
    pub(crate) payloads: Payloads,
    pub(crate) length: usize,
    pub(crate) is_keyframe: bool,
    pub(crate) quantiser: Option<f32>,
    pub(crate) attempts: u32,
}

/// The way to an encoder's thread, which ends when this is dropped.
#[derive(Debug)]
pub(crate) struct EncoderThread {
    jobs: mpsc::Sender<Job>,
    name: String,
}

impl EncoderThread {
    /// Opens an encoder and starts its thread; `done` is called there with each
    /// frame.
    ///
    /// # Errors
    ///
    /// [`HostError::Encoder`] or [`HostError::Thread`].
    pub(crate) fn start(
        settings: EncoderSettings,
        frames_per_second: u32,
        size: Size,
        clock: Clock,
        done: impl Fn(Encoded) + Send + 'static,
    ) -> Result<Self, HostError> {
        let mut encoder = open_encoder(settings, frames_per_second, size)?;
        let name = encoder.capabilities().name.clone();
        let (jobs, todo) = mpsc::channel::<Job>();
        std::thread::Builder::new()
            .name("encoder".to_owned())
            .spawn(move || {
                priority::raise();
                let packetiser = Packetiser::new(LARGEST_PAYLOAD);
                let mut size = size;
                while let Ok(job) = todo.recv() {
                    let wanted = job.picture.picture.size();
                    let begun = clock.now();
                    if wanted != size {
                        match open_encoder(settings, frames_per_second, wanted) {
                            Ok(opened) => (encoder, size) = (opened, wanted),
                            Err(error) => tracing::error!(%error, "no encoder for {wanted}"),
                        }
                    }
                    let result = encoder
                        .encode(&job.picture.picture, &job.request)
                        .map(|frame| Coded {
                            payloads: packetiser.packetise(&frame.data),
                            length: frame.data.len(),
                            is_keyframe: frame.is_keyframe,
                            quantiser: frame.quantiser,
                            attempts: frame.attempts,
                        });
                    let frame = job.request.frame;
                    drop(job);
                    done(Encoded {
                        frame,
                        begun,
                        ended: clock.now(),
                        result,
                    });
                }
            })
            .map_err(HostError::Thread)?;
        Ok(Self { jobs, name })
    }

    /// Its encoder's name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Gives it a picture; `false` when the thread has died.
    pub(crate) fn encode(&self, job: Job) -> bool {
        self.jobs.send(job).is_ok()
    }
}
