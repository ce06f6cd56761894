//! Runs a clip through the encoder.

use std::fs::File;
use std::io::Read;
use std::time::Instant;

use mimosa_facts::{Codec, Complexity, FrameId};
use mimosa_host::open_encoder;
use mimosa_quality::{Frame, Reader};
use mimosa_settings::{EncoderSettings, FrameSizes, SizePrediction, Work};
use mimosa_units::{Bytes, Rate, Time, TimeDelta};
use mimosa_video::complexity::{AceC, Config, Kind};
use mimosa_video::{Encoder, FrameRequest, Picture, Recovery, Size};

use super::args::{Args, Prediction};
use super::error::EncodeCommandError;
use super::frames::Row;
use super::latency::Pipeline;

/// Frame rate of a clip that does not state one.
const FRAMES_PER_SECOND: f64 = 60.0;
/// Rate of packets relative to the bitrate, unless it is given.
const HEADROOM: f64 = 1.25;
/// Bytes of the file that are read at once.
const PIECE: usize = 1 << 20;

/// The parts through which frames go.
struct Encoding {
    encoder: Box<dyn Encoder>,
    ace: AceC,
    pipeline: Pipeline,
    /// The complexity level; `None` if it is chosen for each frame.
    level: Option<Complexity>,
    bitrate: Rate,
    /// The rate at which packets leave.
    pace: Rate,
    interval: TimeDelta,
    picture: Picture,
    frame: u64,
}

/// Encodes the clip. Calls `each` with every coded frame, its codec and its figures.
pub(super) fn clip(
    args: &Args,
    mut each: impl FnMut(Codec, &[u8], Row) -> Result<(), EncodeCommandError>,
) -> Result<(), EncodeCommandError> {
    let read = |source| EncodeCommandError::Read {
        path: args.clip.clone(),
        source,
    };
    let bad = |source| EncodeCommandError::Clip {
        path: args.clip.clone(),
        source,
    };
    let mut file = File::open(&args.clip).map_err(read)?;
    let mut reader = Reader::new();
    let mut piece = vec![0; PIECE];
    let (mut encoding, mut seen) = (None, 0);
    loop {
        let length = file.read(&mut piece).map_err(read)?;
        if length == 0 {
            return reader.end().map_err(bad);
        }
        let mut left = &piece[..length];
        while let Some(frame) = reader.read(&mut left).map_err(bad)? {
            let is_taken = seen % u64::from(args.every) == 0;
            seen += 1;
            if !is_taken {
                continue;
            }
            let encoding = match &mut encoding {
                Some(encoding) => encoding,
                none => none.insert(open(args, &reader)?),
            };
            if args.frames.is_some_and(|most| encoding.frame >= most) {
                return Ok(());
            }
            let (data, row) = encoding.encode(&frame)?;
            each(encoding.encoder.capabilities().codec, &data, row)?;
        }
    }
}

fn open(args: &Args, reader: &Reader) -> Result<Encoding, EncodeCommandError> {
    let header = reader.header();
    let (width, height) = header.map_or((0, 0), |header| (header.size.width, header.size.height));
    let narrow = |side: usize| u32::try_from(side).unwrap_or(u32::MAX);
    let size = Size::new(narrow(width), narrow(height));
    let size = size.map_err(|source| EncodeCommandError::Size {
        path: args.clip.clone(),
        source,
    })?;
    let rate = header.and_then(|header| header.rate);
    let rate = rate.map_or(FRAMES_PER_SECOND, |rate| {
        f64::from(rate.frames) / f64::from(rate.seconds)
    });
    let rate = rate / f64::from(args.every);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "within bounds"
    )]
    let frames_per_second = rate.round().clamp(1.0, 1000.0) as u32;
    let level = args.complexity.level();
    let settings = EncoderSettings {
        name: args.encoder.into(),
        element: args.encoder_element,
        work: level.map_or(Work::Adaptive, Work::Always),
        buffer_frames: args.buffer_frames,
        size_prediction: SizePrediction::Motion,
        adapts_detail: false,
        relieves: false,
        entropy: None,
        finest_quantiser: args.finest_quantiser,
        sizes: FrameSizes::Strict,
        parts: 1,
        threads: u32::from(args.threads),
    };
    let encoder = open_encoder(settings, frames_per_second, size);
    let encoder = encoder.map_err(|error| EncodeCommandError::Encoder {
        frame: 0,
        reason: error.to_string(),
    })?;
    let pace = args.pace.unwrap_or_else(|| args.bitrate.scale(HEADROOM));
    Ok(Encoding {
        encoder,
        ace: AceC::new(Config {
            kind: match args.size_prediction {
                Prediction::Motion => Kind::Motion,
                Prediction::Difference => Kind::Difference,
            },
            buffer_frames: args.buffer_frames,
            most: match level {
                Some(_) => Complexity::C0,
                None => args.most.level().unwrap_or(Complexity::C2),
            },
            ..Config::default()
        }),
        pipeline: Pipeline::new(pace),
        level,
        bitrate: args.bitrate,
        pace,
        interval: TimeDelta::from_secs(1.0 / rate),
        picture: Picture::new(size),
        frame: 0,
    })
}

impl Encoding {
    fn encode(&mut self, frame: &Frame) -> Result<(Vec<u8>, Row), EncodeCommandError> {
        for (into, from) in self.picture.planes_mut().into_iter().zip(frame.planes()) {
            into.copy_from_slice(from);
        }
        let begun = now();
        let budget = self.bitrate.amount_in(self.interval);
        let plan = self
            .ace
            .plan(&self.picture, budget, false, self.pace, self.interval);
        let prediction = since(begun);
        let complexity = self.level.unwrap_or(plan.complexity);
        let request = FrameRequest {
            frame: FrameId(self.frame),
            budget: plan.size,
            interval: self.interval,
            complexity,
            recovery: Recovery::None,
        };
        let begun = now();
        let coded = self.encoder.encode(&self.picture, &request);
        let encoding = since(begun);
        let coded = coded.map_err(|error| EncodeCommandError::Encoder {
            frame: self.frame,
            reason: error.to_string(),
        })?;
        self.ace.encoded(&plan, &coded, encoding);
        let size = Bytes::new(coded.data.len() as u64);
        let number = u32::try_from(self.frame).unwrap_or(u32::MAX);
        let captured = Time::ZERO + self.interval * number;
        let row = Row {
            frame: self.frame,
            complexity,
            relative: plan.relative,
            planned: plan.size,
            coded: size,
            gain: plan.gain,
            prediction,
            encoding,
            waits: self.pipeline.frame(captured, prediction + encoding, size),
            saves: Complexity::ALL.map(|level| self.ace.saves(level)),
            work: Complexity::ALL.map(|level| self.ace.work(level)),
            attempts: coded.attempts,
            quantiser: coded.quantiser.unwrap_or(f32::NAN),
            distortion: coded.distortion.unwrap_or(f64::NAN),
            is_keyframe: coded.is_keyframe,
        };
        self.frame += 1;
        Ok((coded.data, row))
    }
}

#[expect(clippy::disallowed_methods, reason = "the command measures time")]
fn now() -> Instant {
    Instant::now()
}

fn since(begun: Instant) -> TimeDelta {
    let nanos = i64::try_from(begun.elapsed().as_nanos()).unwrap_or(i64::MAX);
    TimeDelta::from_nanos(nanos)
}
