//! The encoder itself.

use mimosa_control::FrameId;
use mimosa_units::Bytes;
use mimosa_video::{
    Capabilities, Codec, EncodeError, EncodedFrame, Encoder, FrameRequest, Picture, Recovery, Size,
};

use crate::raw::{Kind, Raw, version};
use crate::settings::Config;
use crate::sizes::{COARSEST, Known, Sizes};

const NAME: &str = "OpenH264";
/// How often a keyframe is encoded at most, to fit its budget and to use half of it;
/// the last time as it did fit, or at the coarsest quantiser.
const MOST_KEYFRAMES: u32 = 5;

/// Why there is no encoder.
#[derive(Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// OpenH264 goes up to H.264's level 5.2.
    #[error("pictures of {0}; OpenH264 takes 3840x2160 at most, or 2160x3840")]
    Size(Size),
    /// A frame rate of zero or beyond reason.
    #[error("{0} frames per second; state 1 to 1000")]
    FramesPerSecond(u32),
    /// No threads, or more than OpenH264 has.
    #[error("{0} threads; state 1 to 4")]
    Threads(u8),
    /// H.264 has quantisers up to 51.
    #[error("a finest quantiser of {0}; state 1 to 51")]
    Finest(u8),
    /// OpenH264 refused.
    #[error("OpenH264 refuses {config:?} with status {status}")]
    Refused {
        /// What.
        config: Config,
        /// Its answer.
        status: i32,
    },
}

/// An H.264 encoder that keeps every frame within its budget by encoding it twice:
/// once as a frame that nothing refers to, which is thrown away and tells how large
/// the picture becomes, and then for good, at the quantiser found.
///
/// When a frame comes out too large all the same, it is replaced by a keyframe,
/// which can be encoded until it fits. There is a floor that nothing goes below;
/// smaller budgets are exceeded.
///
/// [`Recovery::Without`] makes a keyframe. After [`EncodeError::WrongSize`] the
/// stream goes on; after any other error, open another encoder.
#[derive(Debug)]
pub struct OpenH264 {
    raw: Raw,
    config: Config,
    capabilities: Capabilities,
    sizes: Sizes,
    /// The last frame that was encoded; `None` before the first.
    last: Option<FrameId>,
}

/// A frame as it came out.
#[derive(Debug)]
struct Attempt {
    data: Vec<u8>,
    known: Known,
}

impl OpenH264 {
    /// Opens an encoder.
    ///
    /// # Errors
    ///
    /// [`OpenError`] names what `config` is refused for.
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
        };
        Ok(Self {
            raw,
            capabilities,
            sizes: Sizes::new(config.size, config.finest),
            last: None,
            config,
        })
    }

    /// Encodes `picture` once, as a frame that `counts` or as one to throw away.
    fn attempt(
        &mut self,
        picture: &Picture,
        quantiser: u8,
        kind: Kind,
        counts: bool,
    ) -> Result<Attempt, EncodeError> {
        if kind == Kind::Keyframe {
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
            known: Known { quantiser, size },
        })
    }

    /// Encodes `picture` as a frame that refers to the last one, after a probe.
    fn other(&mut self, picture: &Picture, budget: Bytes) -> Result<Attempt, EncodeError> {
        let quantiser = self.sizes.probe(budget);
        let probe = self.attempt(picture, quantiser, Kind::Other, false)?.known;
        let quantiser = self.sizes.fitting(probe, budget);
        let attempt = self.attempt(picture, quantiser, Kind::Other, true)?;
        self.sizes.compare(probe, attempt.known);
        Ok(attempt)
    }

    /// Encodes `picture` as a keyframe, until it fits.
    fn keyframe(
        &mut self,
        picture: &Picture,
        budget: Bytes,
    ) -> Result<(Attempt, u32), EncodeError> {
        let (mut attempts, mut large, mut fit) = (0, None, None);
        loop {
            attempts += 1;
            let quantiser = match fit {
                Some(Known { quantiser, .. }) if attempts == MOST_KEYFRAMES => quantiser,
                None if attempts == MOST_KEYFRAMES => COARSEST,
                _ => self.sizes.keyframe(budget, large, fit),
            };
            let attempt = self.attempt(picture, quantiser, Kind::Keyframe, true)?;
            let known = attempt.known;
            let is_known = fit.is_some_and(|fit: Known| fit.quantiser == quantiser);
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
        if picture.size() != self.config.size {
            return Err(EncodeError::WrongSize {
                got: picture.size(),
                expected: self.config.size,
            });
        }
        let mut is_keyframe = match (request.recovery, self.last) {
            (_, None) | (Recovery::Keyframe, _) => true,
            (Recovery::Without(first), Some(last)) => first <= last,
            (Recovery::None, Some(_)) => false,
        };
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
