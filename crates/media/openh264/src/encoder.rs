//! [`OpenH264`]: an encoder that tries every frame before it counts.

use mimosa_facts::{Codec, FrameId};
use mimosa_units::Bytes;
use mimosa_video::{Capabilities, EncodeError, EncodedFrame, Encoder, FrameRequest, Picture, Size};

use crate::raw::{FrameKind, Raw, version};
use crate::settings::Config;
use crate::sizes::{COARSEST, SizeSample, Sizes};

const NAME: &str = "OpenH264";
/// The most attempts at a keyframe, which must fit its budget and should use half of it.
/// The last attempt repeats the best one that did fit, or takes the coarsest quantiser.
const MOST_KEYFRAMES: u32 = 5;

/// The reason why an encoder cannot be opened.
#[derive(Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The size is beyond H.264's level 5.2, the highest that OpenH264 has.
    #[error("pictures of {0}; OpenH264 takes 3840x2160 at most, or 2160x3840")]
    Size(Size),
    /// The frame rate is zero or above 1000.
    #[error("{0} frames per second; state 1 to 1000")]
    FramesPerSecond(u32),
    /// The number of threads is zero, or more than OpenH264 has.
    #[error("{0} threads; state 1 to 4")]
    Threads(u8),
    /// The quantiser is not one of H.264's, which go up to 51.
    #[error("a finest quantiser of {0}; state 1 to 51")]
    Finest(u8),
    /// OpenH264 refused the settings.
    #[error("OpenH264 refuses {config:?} with status {status}")]
    Refused {
        /// The settings.
        config: Config,
        /// OpenH264's status.
        status: i32,
    },
}

/// An H.264 encoder that keeps every frame within its budget by encoding it twice: first as
/// a probe that nothing refers to, which is thrown away and shows how large the picture
/// becomes, and then for good at the quantiser found.
///
/// A frame that still comes out too large is replaced by a keyframe, which can be encoded
/// until it fits. There is a smallest size that no quantiser goes below; smaller budgets
/// are exceeded.
///
/// Every [`Recovery`](mimosa_video::Recovery) makes a keyframe. After
/// [`EncodeError::WrongSize`] the stream goes on; after any other error, open another
/// encoder.
#[derive(Debug)]
pub struct OpenH264 {
    raw: Raw,
    config: Config,
    capabilities: Capabilities,
    sizes: Sizes,
    /// The last frame that was encoded; `None` before the first.
    last: Option<FrameId>,
}

/// A frame as the encoder returned it, before it is accepted.
#[derive(Debug)]
struct Attempt {
    data: Vec<u8>,
    known: SizeSample,
}

impl OpenH264 {
    /// Opens an encoder.
    ///
    /// # Errors
    ///
    /// [`OpenError`] names the setting that is refused.
    pub fn open(config: Config) -> Result<Self, OpenError> {
        check(&config)?;
        let raw = Raw::open(&config.fixed()).map_err(|status| OpenError::Refused {
            config: config.clone(),
            status,
        })?;
        let capabilities = Capabilities {
            name: format!("{NAME} {}", version()),
            codec: Codec::H264,
            obeys_budget: true,
            switches_complexity: false,
            invalidates_references: false,
            has_own_threads: config.threads > 1,
        };
        Ok(Self {
            raw,
            capabilities,
            sizes: Sizes::new(config.size, config.finest),
            last: None,
            config,
        })
    }

    /// Encodes `picture` once, as a frame that `counts` or as one that is thrown away.
    fn attempt(
        &mut self,
        picture: &Picture,
        quantiser: u8,
        kind: FrameKind,
        counts: bool,
    ) -> Result<Attempt, EncodeError> {
        if kind == FrameKind::Keyframe {
            self.raw
                .force_keyframe()
                .map_err(|status| failed("asking for a keyframe", status))?;
        }
        self.raw
            .set_quantiser(quantiser, counts)
            .map_err(|status| failed("setting the quantiser", status))?;
        let mut data = Vec::new();
        let made = self
            .raw
            .encode(picture, &mut data)
            .map_err(|status| failed("encoding", status))?;
        if made != kind {
            return Err(EncodeError::Failed {
                encoder: NAME,
                operation: "encoding",
                reason: format!("made {made:?} for {kind:?}"),
            });
        }
        let size = Bytes::new(data.len() as u64);
        Ok(Attempt {
            data,
            known: SizeSample { quantiser, size },
        })
    }

    /// Encodes `picture` as a frame that refers to the last one, after a probe.
    fn other(&mut self, picture: &Picture, budget: Bytes) -> Result<Attempt, EncodeError> {
        let quantiser = self.sizes.probe(budget);
        let probe = self
            .attempt(picture, quantiser, FrameKind::Other, false)?
            .known;
        let quantiser = self.sizes.fitting(probe, budget);
        let attempt = self.attempt(picture, quantiser, FrameKind::Other, true)?;
        self.sizes.compare(probe, attempt.known);
        Ok(attempt)
    }

    /// Encodes `picture` as a keyframe, several times until it fits.
    fn keyframe(
        &mut self,
        picture: &Picture,
        budget: Bytes,
    ) -> Result<(Attempt, u32), EncodeError> {
        let (mut attempts, mut large, mut fit) = (0, None, None);
        loop {
            attempts += 1;
            let quantiser = match fit {
                Some(SizeSample { quantiser, .. }) if attempts == MOST_KEYFRAMES => quantiser,
                None if attempts == MOST_KEYFRAMES => COARSEST,
                _ => self.sizes.keyframe(budget, large, fit),
            };
            let attempt = self.attempt(picture, quantiser, FrameKind::Keyframe, true)?;
            let known = attempt.known;
            let is_known = fit.is_some_and(|fit: SizeSample| fit.quantiser == quantiser);
            if known.size > budget && quantiser < COARSEST {
                large = Some(known);
                continue;
            }
            let is_poor = known.size < budget.scale(0.5)
                && quantiser > self.config.finest
                && attempts < MOST_KEYFRAMES
                && !is_known;
            if !is_poor {
                return Ok((attempt, attempts));
            }
            fit = Some(known);
        }
    }
}

impl Encoder for OpenH264 {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn encode(
        &mut self,
        picture: &Picture,
        request: &FrameRequest,
    ) -> Result<EncodedFrame, EncodeError> {
        EncodeError::check_size(picture, self.config.size)?;
        let mut is_keyframe = request.recovery.needs_keyframe(self.last);
        let mut attempts = 0;
        let mut kept = None;
        if !is_keyframe {
            let attempt = self.other(picture, request.budget)?;
            attempts = 2;
            self.sizes.observe(attempt.known, false);
            if attempt.known.size <= request.budget || attempt.known.quantiser == COARSEST {
                kept = Some(attempt);
            }
        }
        let attempt = if let Some(attempt) = kept {
            attempt
        } else {
            is_keyframe = true;
            let (attempt, made) = self.keyframe(picture, request.budget)?;
            attempts += made;
            self.sizes.observe(attempt.known, true);
            attempt
        };
        self.last = Some(request.frame);
        Ok(EncodedFrame {
            frame: request.frame,
            data: attempt.data,
            is_keyframe,
            quantiser: Some(f32::from(attempt.known.quantiser)),
            attempts,
            distortion: None,
        })
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
    let (width, height) = (config.size.width(), config.size.height());
    if width.max(height) > 3840 || width.min(height) > 2160 {
        return Err(OpenError::Size(config.size));
    }
    if !(1..=1000).contains(&config.frames_per_second) {
        return Err(OpenError::FramesPerSecond(config.frames_per_second));
    }
    if !(1..=4).contains(&config.threads) {
        return Err(OpenError::Threads(config.threads));
    }
    if !(1..=51).contains(&config.finest) {
        return Err(OpenError::Finest(config.finest));
    }
    Ok(())
}
