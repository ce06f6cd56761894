//! [`X264`]: an encoder that keeps every frame within its budget.

use mimosa_dynamic::Absent;
use mimosa_facts::{Codec, EntropyCoding};
use mimosa_units::Bytes;
use mimosa_video::{
    Capabilities, EncodeError, EncodedFrame, Encoder, FramePart, FrameRequest, Picture, Recovery,
};

use crate::ballast::{Ballast, Loaded};
use crate::budget::{BudgetControl, Margin};
use crate::library::functions;
use crate::parameter_set::{FRAME_NUMBERS, allow_frame_number_gaps};
use crate::quantiser::InitialQuantiser;
use crate::raw::{FrameFigures, IDR, PPS, PictureTask, Raw, SEI, SPS, Tuning, Unit};
use crate::references::References;
use crate::settings::{Aim, Config};
use crate::slice::widen_frame_number;

const NAME: &str = "libx264";
/// The most attempts to fit a picture into its budget.
const MOST_ATTEMPTS: u32 = 3;
/// The part of its budget that a frame asks for with a ballast. With 0.925, 6 of 3810 frames were
/// above their budgets at first, by 0.11 at most, and frames use 0.83 of their budgets.
const AIM: f64 = 0.925;
/// The budgets for which an encoder is opened; neither is any frame's.
const FIRST: Bytes = Bytes::new(10_000);
const LARGEST: Bytes = Bytes::new(1_000_000);

/// The reason why an encoder cannot be opened.
#[derive(Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The frame rate is zero or above 1000.
    #[error("{0} frames per second; state 1 to 1000")]
    FramesPerSecond(u32),
    /// The number of threads is zero, or more than pictures have slices.
    #[error("{0} threads; state 1 to 32")]
    Threads(u8),
    /// The number of references is beyond H.264's 16, or below the two that a rejected
    /// attempt needs.
    #[error("{0} references; state 2 to 16")]
    References(u8),
    /// The quantiser is not one of H.264's 1 to 51; zero means lossless.
    #[error("a finest quantiser of {0}; state 1 to 51")]
    Finest(u8),
    /// The margin has values that are no parts of a budget.
    #[error(
        "a margin of {0:?}; `rejected` lies between 0 and 1, and `least` is above 0 and at most `most`"
    )]
    Margin(Margin),
    /// libx264 is not installed, or not one that this crate was built for.
    #[error(transparent)]
    Absent(#[from] Absent),
    /// libx264 refused the settings without giving a reason.
    #[error("libx264 refuses {0:?}")]
    Refused(Config),
}

/// An H.264 encoder that keeps every frame within its budget.
///
/// A frame that exceeds its budget is encoded again with less, at most twice. There is a
/// smallest size that no quantiser goes below: in 1280x720, about 40 bytes for a frame in
/// which little moves, 100 for one in which everything is new, and 350 for a keyframe, with
/// 15, 80 and 120 more for every further slice. Smaller budgets are exceeded.
///
/// [`EncodedFrame::quantiser`] is the mean of libx264's rate control before adaptive
/// quantisation; for a keyframe, it is the quantiser that rate control began with. Where
/// libx264 goes beyond H.264's 51 to save bits, 51 is stated. Rate control goes no lower
/// than [`Config::finest`].
///
/// After [`EncodeError::WrongSize`] the stream goes on; after any other error, open another
/// encoder.
#[derive(Debug)]
pub struct X264 {
    raw: Raw,
    config: Config,
    capabilities: Capabilities,
    tuning: Tuning,
    sizing: Sizing,
    beginning: InitialQuantiser,
    references: References,
    /// The bits of a frame number as libx264 writes it, known from the first keyframe.
    frame_number_bits: u32,
}

/// What keeps frames within their budgets, and its state.
#[derive(Debug)]
enum Sizing {
    /// libx264's buffer of one frame, in which a ballast leaves what a frame may have.
    Ballast(Ballast),
    /// A size to ask for that is learnt.
    Learnt(BudgetControl),
}

/// A frame's byte stream while it is put together.
#[derive(Debug)]
struct Stream {
    data: Vec<u8>,
    /// Size of all units that libx264 made, those included that are no part of the stream.
    made: Bytes,
    frame_number: u64,
    frame_number_bits: u32,
}

impl Stream {
    /// Appends a unit of libx264's; returns whether it is a slice, or `None` if its syntax is not
    /// understood.
    fn append(&mut self, kind: u32, unit: &[u8]) -> Option<bool> {
        self.made += Bytes::new(unit.len() as u64);
        match kind {
            // The units hold only libx264's name and settings, 700 bytes, and the ballast.
            SEI => {}
            SPS => {
                let made_over = allow_frame_number_gaps(unit)?;
                self.data.extend(made_over.unit);
                self.frame_number_bits = made_over.frame_number_bits;
            }
            PPS => self.data.extend_from_slice(unit),
            _ => {
                let number = u32::try_from(self.frame_number % FRAME_NUMBERS).ok()?;
                widen_frame_number(unit, self.frame_number_bits, number, &mut self.data)?;
                return Some(true);
            }
        }
        Some(false)
    }
}

/// The result of encoding a frame once, before it is accepted.
#[derive(Debug)]
struct Attempt {
    data: Vec<u8>,
    is_keyframe: bool,
    quantiser: f32,
    distortion: Option<f64>,
}

impl Attempt {
    const fn size(&self) -> Bytes {
        Bytes::new(self.data.len() as u64)
    }
}

impl X264 {
    /// Opens an encoder.
    ///
    /// # Errors
    ///
    /// [`OpenError`] names the setting that is refused.
    pub fn open(config: Config) -> Result<Self, OpenError> {
        check(&config)?;
        let x264 = functions()?;
        let capabilities = Capabilities {
            name: format!("{NAME} 0.{}", x264.build),
            codec: Codec::H264,
            obeys_budget: true,
            switches_complexity: true,
            invalidates_references: true,
            has_own_threads: config.threads > 1,
        };
        // A buffer that is to be full at the first frame is larger than that, and shrinks.
        let first = match config.margin() {
            Some(_) => FIRST,
            None => LARGEST,
        };
        let tuning = config.tuning(first, mimosa_facts::Complexity::C0, 1);
        let raw = Raw::open(x264, &config.fixed(), &tuning)
            .ok_or_else(|| OpenError::Refused(config.clone()))?;
        Ok(Self {
            raw,
            capabilities,
            tuning,
            sizing: match config.margin() {
                Some(margin) => Sizing::Learnt(BudgetControl::new(margin)),
                None => Sizing::Ballast(Ballast::new()),
            },
            beginning: InitialQuantiser::new(config.size, config.finest),
            references: References::new(usize::from(config.references)),
            frame_number_bits: 0,
            config,
        })
    }

    /// Encodes `picture` once, with a size of `ask` as the goal. Parts go to `out` as they are coded.
    fn attempt(
        &mut self,
        picture: &Picture,
        request: &FrameRequest,
        Ask {
            size: ask,
            keyframe,
            attempts,
            parts,
        }: Ask,
        out: &mut dyn FnMut(FramePart<'_>),
    ) -> Result<Attempt, EncodeError> {
        let loaded = match &mut self.sizing {
            Sizing::Ballast(ballast) => ballast.load(ask),
            Sizing::Learnt(_) => Loaded {
                buffer: ask,
                ballast: Bytes::ZERO,
            },
        };
        let tuning = self.config.tuning(loaded.buffer, request.complexity, parts);
        if tuning != self.tuning {
            self.raw
                .reconfigure(&tuning)
                .map_err(|status| failed("reconfiguration", status))?;
            self.tuning = tuning;
        }
        let task = PictureTask {
            pts: self.references.next(),
            keyframe,
            quantiser: self.beginning.quantiser(ask, keyframe, attempts),
            ballast: loaded.ballast,
        };
        let mut stream = Stream {
            data: Vec::new(),
            made: Bytes::ZERO,
            frame_number: self.references.number(),
            frame_number_bits: self.frame_number_bits,
        };
        let mut understood = Some(false);
        let mut handed_out = 0;
        let mut each = |unit: Unit<'_>| {
            understood = understood.and_then(|_| stream.append(unit.kind, unit.data));
            if parts > 1 && understood == Some(true) {
                out(FramePart {
                    data: &stream.data[handed_out..],
                    is_keyframe: unit.kind == IDR,
                    is_last: unit.is_last,
                });
                handed_out = stream.data.len();
            }
        };
        let report = self
            .raw
            .encode(picture, task, &mut each)
            .map_err(|status| failed("encoding", status))?;
        understood.ok_or_else(|| EncodeError::Failed {
            encoder: NAME,
            operation: "writing a frame number",
            reason: "the syntax is not libx264's".to_owned(),
        })?;
        self.frame_number_bits = stream.frame_number_bits;
        if let Sizing::Ballast(ballast) = &mut self.sizing {
            ballast.took(loaded.buffer, stream.made);
        }
        self.references.encoded(request.frame, report.is_keyframe);
        let attempt = Attempt {
            data: stream.data,
            is_keyframe: report.is_keyframe,
            quantiser: mean_quantiser(report, task, self.config.finest),
            distortion: report.distortion,
        };
        self.beginning
            .observe(attempt.is_keyframe, attempt.quantiser, attempt.size());
        Ok(attempt)
    }

    /// Makes libx264 forget the last attempt.
    fn reject(&mut self) -> Result<(), EncodeError> {
        let Some(pts) = self.references.reject() else {
            return Ok(());
        };
        self.invalidate(pts)
    }

    fn invalidate(&mut self, pts: i64) -> Result<(), EncodeError> {
        self.raw
            .invalidate(pts)
            .map_err(|status| failed("invalidating a reference", status))
    }
}

/// What one attempt to encode a frame asks for.
#[derive(Clone, Copy, Debug)]
struct Ask {
    size: Bytes,
    keyframe: bool,
    /// Number of attempts before this one.
    attempts: u32,
    /// Number of parts in which the frame is handed out.
    parts: u8,
}

impl Encoder for X264 {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn entropy_coding(&self) -> Option<EntropyCoding> {
        Some(self.config.entropy)
    }

    fn encode(
        &mut self,
        picture: &Picture,
        request: &FrameRequest,
    ) -> Result<EncodedFrame, EncodeError> {
        self.frame(picture, request, 1, &mut |_| {})
    }

    fn encode_in_parts(
        &mut self,
        picture: &Picture,
        request: &FrameRequest,
        parts: u8,
        part: &mut dyn FnMut(FramePart<'_>),
    ) -> Result<EncodedFrame, EncodeError> {
        let parts = parts.min(self.config.most_parts());
        let frame = self.frame(picture, request, parts, part)?;
        if parts <= 1 {
            part(FramePart {
                data: &frame.data,
                is_keyframe: frame.is_keyframe,
                is_last: true,
            });
        }
        Ok(frame)
    }
}

impl X264 {
    /// Encodes a frame, in parts that go to `out` as they are coded if there are several.
    fn frame(
        &mut self,
        picture: &Picture,
        request: &FrameRequest,
        parts: u8,
        out: &mut dyn FnMut(FramePart<'_>),
    ) -> Result<EncodedFrame, EncodeError> {
        EncodeError::check_size(picture, self.config.size)?;
        if let Recovery::Without(lost) = request.recovery
            && let Some(pts) = self.references.without(lost)
        {
            self.invalidate(pts)?;
        }
        let mut ask = Ask {
            size: Bytes::ZERO,
            keyframe: request.recovery == Recovery::Keyframe,
            attempts: 0,
            parts,
        };
        // What has been handed out cannot be encoded again.
        let most = if parts > 1 { 1 } else { MOST_ATTEMPTS };
        let mut last = Bytes::ZERO;
        loop {
            // Every attempt checks this, because a rejected keyframe took its references
            // with it.
            ask.keyframe |= !self.references.any();
            let (budget, keyframe, attempts) = (request.budget, ask.keyframe, ask.attempts);
            ask.size = match &self.sizing {
                _ if attempts > 0 => BudgetControl::ask_again(budget, ask.size, last, attempts),
                Sizing::Ballast(_) => budget.scale(AIM),
                Sizing::Learnt(asking) => asking.ask(budget, asking.change(budget, keyframe)),
            };
            let attempt = self.attempt(picture, request, ask, out)?;
            last = attempt.size();
            if attempts == 0
                && let Sizing::Learnt(asking) = &mut self.sizing
            {
                let change = asking.change(budget, keyframe);
                asking.observe(budget, change, ask.size, last);
            }
            ask.attempts += 1;
            if last <= budget || ask.attempts == most {
                return Ok(EncodedFrame {
                    frame: request.frame,
                    data: attempt.data,
                    is_keyframe: attempt.is_keyframe,
                    quantiser: Some(attempt.quantiser),
                    attempts: ask.attempts,
                    distortion: attempt.distortion,
                });
            }
            self.reject()?;
        }
    }
}

/// The mean quantiser. libx264 states a frame's effective rate factor: the factor it was
/// opened with plus the excess of the mean quantiser over the one it aimed at. With the
/// settings of this crate, a predicted frame aims at the rate factor itself.
fn mean_quantiser(report: FrameFigures, task: PictureTask, finest: u8) -> f32 {
    if report.is_keyframe {
        f32::from(task.quantiser)
    } else {
        report.rate_factor.max(f32::from(finest)).min(51.0)
    }
}

fn failed(operation: &'static str, status: i32) -> EncodeError {
    EncodeError::Failed {
        encoder: NAME,
        operation,
        reason: format!("status {status}"),
    }
}

fn check(config: &Config) -> Result<(), OpenError> {
    if !(1..=1000).contains(&config.frames_per_second) {
        return Err(OpenError::FramesPerSecond(config.frames_per_second));
    }
    if !(1..=32).contains(&config.threads) {
        return Err(OpenError::Threads(config.threads));
    }
    if !(2..=16).contains(&config.references) {
        return Err(OpenError::References(config.references));
    }
    if !(1..=51).contains(&config.finest) {
        return Err(OpenError::Finest(config.finest));
    }
    if let Aim::Learnt(margin) = config.aim {
        let Margin {
            rejected,
            least,
            most,
        } = margin;
        let parts = (0.0..=1.0).contains(&rejected);
        if !(parts && least > 0.0 && least <= most && most.is_finite()) {
            return Err(OpenError::Margin(margin));
        }
    }
    Ok(())
}
