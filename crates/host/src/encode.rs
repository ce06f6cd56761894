//! An encoder in a thread of its own: pictures in, packets out.

use std::sync::Arc;
use std::sync::mpsc;

use mimosa_control::FrameId;
use mimosa_record::FramePlan;
use mimosa_settings::EncoderSettings;
use mimosa_units::{Rate, Time};
use mimosa_video::{FrameRequest, Size};
use mimosa_webrtc::LARGEST_PAYLOAD;
use mimosa_wire::video::{Packetiser, Payloads};

use crate::clock::Clock;
use crate::encoders::open_encoder;
use crate::error::HostError;
use crate::pictures::PictureKeeper;
use crate::plan::Planner;
use crate::scale::Scaler;
use crate::source::Captured;
use mimosa_threads::priority;

/// A picture to encode.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) picture: Arc<Captured>,
    /// What is asked for, but for the work, which is decided with the encoder.
    pub(crate) request: FrameRequest,
    /// The rate at which its packets will pass.
    pub(crate) bandwidth: Rate,
    /// The size at which it is encoded.
    pub(crate) size: Size,
    /// The budget is this frame's alone, not what frames have in the mean.
    pub(crate) is_limit: bool,
    /// Of its RTP packets.
    pub(crate) timestamp: u32,
}

/// A frame as it came out.
#[derive(Debug)]
pub(crate) struct Encoded {
    pub(crate) frame: FrameId,
    pub(crate) begun: Time,
    pub(crate) ended: Time,
    /// The frame, or why there is none.
    pub(crate) result: Result<Coded, HostError>,
}

/// What there is of a frame.
#[derive(Debug)]
pub(crate) struct Coded {
    pub(crate) payloads: Payloads,
    pub(crate) length: usize,
    pub(crate) plan: FramePlan,
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
    /// frame, and `keeper` told of it.
    ///
    /// # Errors
    ///
    /// [`HostError::Encoder`] or [`HostError::Thread`].
    pub(crate) fn start(
        settings: EncoderSettings,
        frames_per_second: u32,
        size: Size,
        clock: Clock,
        mut keeper: Option<PictureKeeper>,
        done: impl Fn(Encoded) + Send + 'static,
    ) -> Result<Self, HostError> {
        let mut encoder = open_encoder(settings, frames_per_second, size)?;
        let name = encoder.capabilities().name.clone();
        let packetiser = Packetiser::new(encoder.capabilities().codec, LARGEST_PAYLOAD);
        let (jobs, todo) = mpsc::channel::<Job>();
        std::thread::Builder::new()
            .name("encoder".to_owned())
            .spawn(move || {
                priority::raise();
                let mut size = size;
                let mut planner = Planner::new(settings);
                let mut scaler = Scaler::new();
                while let Ok(job) = todo.recv() {
                    let begun = clock.now();
                    let picture = scaler.scale(&job.picture.picture, job.size);
                    let wanted = picture.size();
                    let opened = if wanted == size {
                        Ok(())
                    } else {
                        open_encoder(settings, frames_per_second, wanted)
                            .map(|opened| (encoder, size) = (opened, wanted))
                    };
                    let (request, plan) = planner.plan(&job, picture);
                    let started = clock.now();
                    let result = opened.and_then(|()| Ok(encoder.encode(picture, &request)?));
                    if let (Some(plan), Ok(frame)) = (&plan, &result) {
                        planner.encoded(plan, frame, clock.now().since(started));
                    }
                    let result = result.map(|frame| {
                        let coded = Coded {
                            payloads: packetiser.packetise(&frame.data),
                            length: frame.data.len(),
                            plan: FramePlan {
                                complexity: request.complexity,
                                size: request.budget,
                                relative: plan.map(|plan| plan.relative),
                            },
                            is_keyframe: frame.is_keyframe,
                            quantiser: frame.quantiser,
                            attempts: frame.attempts,
                        };
                        let (data, is_keyframe) = (frame.data, frame.is_keyframe);
                        keeper.take_if(|keeper| !keeper.push(&job, data, is_keyframe));
                        coded
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

#[cfg(test)]
mod tests {
    use mimosa_settings::{EncoderName, SizePrediction, Work};
    use mimosa_units::{Bytes, TimeDelta};
    use mimosa_video::{Complexity, Picture, Recovery};

    use super::*;

    fn size(text: &str) -> Size {
        text.parse().unwrap()
    }

    fn job(frame: u64, size: Size) -> Job {
        Job {
            picture: Arc::new(Captured {
                picture: Picture::new(size),
                at: Time::ZERO,
                inputs: crate::inputs::Inputs::default(),
            }),
            request: FrameRequest {
                frame: FrameId(frame),
                budget: Bytes::new(20_000),
                interval: TimeDelta::from_millis(16),
                complexity: Complexity::C0,
                recovery: Recovery::None,
            },
            bandwidth: Rate::from_kbps(8_000),
            size,
            is_limit: false,
            timestamp: 0,
        }
    }

    #[test]
    fn another_size_is_another_encoder_or_an_error_of_that_frame() {
        let settings = EncoderSettings {
            name: EncoderName::OpenH264,
            element: mimosa_settings::ElementName::default(),
            work: Work::Always(Complexity::C0),
            buffer_frames: 1,
            size_prediction: SizePrediction::Motion,
            adapts_detail: false,
            finest_quantiser: 17,
            threads: 1,
        };
        let (told, results) = mpsc::channel();
        let done = move |encoded| told.send(encoded).unwrap();
        let clock = Clock::start();
        let thread = EncoderThread::start(settings, 60, size("64x48"), clock, None, done).unwrap();
        // OpenH264 has no side above 3840.
        for (frame, (text, keyframe)) in [
            ("64x48", Some(true)),
            ("64x48", Some(false)),
            ("32x32", Some(true)),
            ("3856x16", None),
            ("32x32", Some(false)),
            ("64x48", Some(true)),
        ]
        .into_iter()
        .enumerate()
        {
            assert!(thread.encode(job(frame as u64, size(text))));
            let encoded = results.recv().unwrap();
            assert_eq!(encoded.frame, FrameId(frame as u64));
            let is_keyframe = encoded.result.as_ref().ok().map(|coded| coded.is_keyframe);
            assert_eq!(is_keyframe, keyframe, "{text}");
            if let Err(error) = encoded.result {
                assert!(error.to_string().contains("3856x16"), "{error}");
            }
        }
    }
}
