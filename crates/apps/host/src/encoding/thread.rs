//! Runs an encoder in its own thread: pictures go in, packets come out.

use std::sync::mpsc;

use mimosa_facts::{Codec, EntropyCoding, FramePlan};
use mimosa_rtp::video::{Packetiser, Payloads};
use mimosa_session::host::{Coded, CodedPart, Encoded, EncoderFailure, Job};
use mimosa_settings::EncoderSettings;
use mimosa_system::priority;
use mimosa_transport::LARGEST_PAYLOAD;
use mimosa_units::Time;
use mimosa_video::{Encoder, Size};

use super::built_in::open_encoder;
use super::plan::Planner;
use super::scale::Scaler;
use crate::error::HostError;
use crate::recording::PictureKeeper;
use mimosa_system::clock::{Clock, processor_time};

/// The sender of an encoder thread's jobs. The thread ends when this is dropped.
#[derive(Debug)]
pub(crate) struct EncoderThread {
    jobs: mpsc::Sender<Job>,
}

/// What comes out of an encoder's thread.
#[derive(Debug)]
pub(crate) enum FromEncoder {
    /// A part of a frame.
    Part(CodedPart),
    /// The end of a frame, and all of it if it did not come in parts.
    Frame(Encoded),
}

/// What a frame is like that cannot change while an encoder is open: its size, and how decisions become bits.
type Form = (Size, EntropyCoding);

/// Opens the thread's encoder for frames of a form.
pub(crate) type Open = dyn Fn(Form) -> Result<Box<dyn Encoder>, HostError> + Send;

impl EncoderThread {
    /// Starts a thread that opens an encoder of `codec`. The thread calls `done` with each part of a frame
    /// and at its end, and gives the frame to `keeper`. If no encoder opens, each frame is a failure.
    ///
    /// # Errors
    ///
    /// [`HostError::Thread`] if the system refuses a thread.
    pub(crate) fn start(
        settings: EncoderSettings,
        frames_per_second: u32,
        (codec, size): (Codec, Size),
        clock: Clock,
        keeper: Option<PictureKeeper>,
        done: impl Fn(FromEncoder) + Send + 'static,
    ) -> Result<Self, HostError> {
        let open = move |(size, entropy)| {
            let settings = EncoderSettings {
                entropy: Some(entropy),
                ..settings
            };
            open_encoder(settings, frames_per_second, size)
        };
        let form = (size, settings.entropy.unwrap_or_default());
        let work = Work {
            encoder: Fitting {
                open: Box::new(open),
                opened: None,
            },
            packetiser: Packetiser::new(codec, LARGEST_PAYLOAD),
            planner: Planner::new(settings),
            scaler: Scaler::new(),
            keeper,
            clock,
        };
        Self::spawn(work, form, done)
    }

    fn spawn(
        mut work: Work,
        form: Form,
        done: impl Fn(FromEncoder) + Send + 'static,
    ) -> Result<Self, HostError> {
        let (jobs, todo) = mpsc::channel::<Job>();
        std::thread::Builder::new()
            .name("encoder".to_owned())
            .spawn(move || {
                priority::raise();
                // The encoder opens before the first picture comes. A failure is reported with that
                // picture.
                let _ = work.encoder.of(form);
                while let Ok(job) = todo.recv() {
                    let frame = work.encode(job, &|part| done(FromEncoder::Part(part)));
                    done(FromEncoder::Frame(frame));
                }
            })
            .map_err(HostError::Thread)?;
        Ok(Self { jobs })
    }

    /// Sends a job to the thread; `false` if the thread has ended.
    pub(crate) fn encode(&self, job: Job) -> bool {
        self.jobs.send(job).is_ok()
    }
}

/// An error of the host in the form in which a session gets it.
fn failure(error: &HostError) -> EncoderFailure {
    EncoderFailure {
        reason: error.to_string(),
    }
}

/// The state of an encoder's thread.
struct Work {
    encoder: Fitting,
    packetiser: Packetiser,
    planner: Planner,
    scaler: Scaler,
    keeper: Option<PictureKeeper>,
    clock: Clock,
}

impl Work {
    fn encode(&mut self, job: Job, out: &dyn Fn(CodedPart)) -> Encoded {
        let begun = self.clock.now();
        let worked = processor_time();
        let result = self.coded(&job, begun, out);
        let processor = processor_time() - worked;
        let frame = job.request.frame;
        drop(job);
        Encoded {
            frame,
            begun,
            ended: self.clock.now(),
            processor: self.encoder.works_in_this_thread().then_some(processor),
            result: result.map_err(|error| failure(&error)),
        }
    }

    fn coded(
        &mut self,
        job: &Job,
        begun: Time,
        out: &dyn Fn(CodedPart),
    ) -> Result<Coded, HostError> {
        let packetiser = self.packetiser;
        let picture = self.scaler.scale(&job.picture.picture, job.size);
        let encoder = self.encoder.of((picture.size(), job.entropy));
        let (request, plan) = self.planner.plan(job, picture);
        let started = self.clock.now();
        let in_parts = job.parts > 1;
        let frame = if in_parts {
            encoder?.encode_in_parts(picture, &request, job.parts, &mut |part| {
                out(CodedPart {
                    frame: request.frame,
                    begun,
                    payloads: packetiser.packetise(part.data),
                    is_keyframe: part.is_keyframe,
                    is_last: part.is_last,
                });
            })?
        } else {
            encoder?.encode(picture, &request)?
        };
        if let Some(plan) = &plan {
            let took = self.clock.now().since(started);
            self.planner.encoded(plan, &frame, took);
        }
        let coded = Coded {
            payloads: if in_parts {
                Payloads::default()
            } else {
                packetiser.packetise(&frame.data)
            },
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
        self.keeper
            .take_if(|keeper| !keeper.push(job, data, is_keyframe));
        Ok(coded)
    }
}

/// An encoder that is opened again for each form of frames.
struct Fitting {
    open: Box<Open>,
    opened: Option<(Size, Box<dyn Encoder>)>,
}

/// Whether an encoder for pictures of this size makes frames of that form. One without a choice makes bits in its own way.
fn makes((size, encoder): &(Size, Box<dyn Encoder>), form: Form) -> bool {
    *size == form.0 && encoder.entropy_coding().is_none_or(|own| own == form.1)
}

impl Fitting {
    /// Whether this thread's processor time is that of the encoder's work.
    fn works_in_this_thread(&self) -> bool {
        let opened = self.opened.as_ref();
        opened.is_some_and(|(_, encoder)| !encoder.capabilities().has_own_threads)
    }

    /// The encoder for frames of this form.
    fn of(&mut self, form: Form) -> Result<&mut dyn Encoder, HostError> {
        let opened = match self.opened.take_if(|opened| makes(opened, form)) {
            Some(opened) => opened,
            None => (form.0, (self.open)(form)?),
        };
        Ok(&mut *self.opened.insert(opened).1)
    }
}

#[cfg(test)]
#[cfg(feature = "openh264")]
mod tests {
    use std::sync::Arc;

    use mimosa_facts::{Complexity, FrameId};
    use mimosa_session::host::{Captured, Inputs};
    use mimosa_settings::{EncoderName, FrameSizes, SizePrediction};
    use mimosa_units::{Bytes, Rate, TimeDelta};
    use mimosa_video::{FrameRequest, Picture, Recovery};

    use super::*;

    fn size(text: &str) -> Size {
        text.parse().unwrap()
    }

    fn job(frame: u64, size: Size) -> Job {
        Job {
            picture: Arc::new(Captured {
                picture: Picture::new(size),
                at: Time::ZERO,
                inputs: Inputs::default(),
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
            spares_analysis: false,
            timestamp: 0,
            parts: 1,
            entropy: EntropyCoding::Arithmetic,
        }
    }

    fn end(from: FromEncoder) -> Encoded {
        match from {
            FromEncoder::Frame(encoded) => encoded,
            FromEncoder::Part(part) => panic!("{part:?}"),
        }
    }

    fn work(open: Box<Open>) -> Work {
        Work {
            encoder: Fitting { open, opened: None },
            packetiser: Packetiser::new(Codec::H264, LARGEST_PAYLOAD),
            planner: Planner::new(settings()),
            scaler: Scaler::new(),
            keeper: None,
            clock: Clock::start(),
        }
    }

    fn settings() -> EncoderSettings {
        EncoderSettings {
            name: EncoderName::OpenH264,
            element: mimosa_settings::ElementName::default(),
            work: mimosa_settings::Work::Always(Complexity::C0),
            buffer_frames: 1,
            size_prediction: SizePrediction::Motion,
            adapts_detail: false,
            relieves: false,
            entropy: None,
            finest_quantiser: 17,
            sizes: FrameSizes::default(),
            parts: 1,
            threads: 1,
        }
    }

    /// Beginning a session blocks no session of the network's thread while an encoder opens.
    #[test]
    fn nobody_waits_for_an_encoder_to_open() {
        let small = size("64x48");
        let (told, results) = mpsc::channel();
        let start = |open: Box<Open>| {
            let told = told.clone();
            let done = move |from| told.send(end(from).frame).unwrap();
            EncoderThread::spawn(work(open), (small, EntropyCoding::Arithmetic), done).unwrap()
        };
        let ours = std::thread::current().id();
        let (release, blocked) = mpsc::channel::<()>();
        let slow = start(Box::new(move |(size, _)| {
            // In the caller's thread, this would wait for ever.
            assert_ne!(std::thread::current().id(), ours, "the caller's thread");
            blocked.recv().unwrap();
            open_encoder(settings(), 60, size)
        }));
        let quick = start(Box::new(|(size, _)| open_encoder(settings(), 60, size)));
        assert!(slow.encode(job(1, small)) && quick.encode(job(2, small)));
        assert_eq!(results.recv().unwrap(), FrameId(2));
        assert!(results.try_recv().is_err(), "the other still opens");
        release.send(()).unwrap();
        assert_eq!(results.recv().unwrap(), FrameId(1));
    }

    #[test]
    fn an_encoder_that_does_not_open_is_what_comes_of_its_first_frame() {
        let small = size("64x48");
        let (told, results) = mpsc::channel();
        let done = move |from| told.send(end(from)).unwrap();
        let open = Box::new(|_| Err(HostError::Encoder("openh264: no memory".to_owned())));
        let form = (small, EntropyCoding::Arithmetic);
        let thread = EncoderThread::spawn(work(open), form, done).unwrap();
        assert!(thread.encode(job(7, small)));
        let encoded = results.recv().unwrap();
        assert_eq!(encoded.frame, FrameId(7));
        let reason = encoded.result.unwrap_err().to_string();
        assert!(reason.contains("openh264: no memory"), "{reason}");
    }

    #[cfg(feature = "x264")]
    #[test]
    fn another_entropy_coding_is_another_encoder_where_there_is_a_choice() {
        use EntropyCoding::{Arithmetic, VariableLength};
        for (name, keyframes) in [
            (EncoderName::X264, [true, false, true, false, true]),
            (EncoderName::OpenH264, [true, false, false, false, false]),
        ] {
            let (told, results) = mpsc::channel();
            let done = move |from| told.send(end(from)).unwrap();
            let settings = EncoderSettings { name, ..settings() };
            let form = (Codec::H264, size("64x48"));
            let thread =
                EncoderThread::start(settings, 60, form, Clock::start(), None, done).unwrap();
            let wanted = [
                Arithmetic,
                Arithmetic,
                VariableLength,
                VariableLength,
                Arithmetic,
            ];
            for (frame, entropy) in wanted.into_iter().enumerate() {
                let job = Job {
                    entropy,
                    ..job(frame as u64, form.1)
                };
                assert!(thread.encode(job));
                let coded = results.recv().unwrap().result.unwrap();
                assert_eq!(coded.is_keyframe, keyframes[frame], "{name:?} {frame}");
            }
        }
    }

    #[test]
    fn another_size_is_another_encoder_or_an_error_of_that_frame() {
        let (told, results) = mpsc::channel();
        let done = move |from| told.send(end(from)).unwrap();
        let clock = Clock::start();
        let thread = EncoderThread::start(
            settings(),
            60,
            (Codec::H264, size("64x48")),
            clock,
            None,
            done,
        )
        .unwrap();
        // OpenH264 encodes no side of more than 3840 pixels.
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
