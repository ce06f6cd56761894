//! [`SvtAv1`]: an encoder that chooses each frame's quantiser beforehand.

use mimosa_dynamic::Absent;
use mimosa_facts::{Codec, FrameId};
use mimosa_units::Bytes;
use mimosa_video::{Capabilities, EncodeError, EncodedFrame, Encoder, FrameRequest, Picture, Size};

use crate::library::{SvtAv1Library, library};
use crate::quantiser::Quantiser;
use crate::raw::{Raw, Refusal, TemporalUnit};
use crate::settings::Config;
use crate::sizes::{FrameKind, Sizes};

const NAME: &str = "SVT-AV1";
/// The sides of pictures. SVT-AV1 takes 64 rows at least and 8704 at most, but [`Size`] ends at
/// 8192.
const SIDES: std::ops::RangeInclusive<u32> = 64..=8192;
/// The most pictures of a stream, whose numbers have 32 bits: three years' worth. A new
/// stream begins with a keyframe.
const MOST_PICTURES: u32 = u32::MAX - 1;

/// The reason why an encoder cannot be opened.
#[derive(Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The size is below SVT-AV1's smallest.
    #[error("pictures of {0}; SVT-AV1 takes 64x64 at least")]
    Size(Size),
    /// The frame rate is zero or above 1000.
    #[error("{0} frames per second; state 1 to 1000")]
    FramesPerSecond(u32),
    /// The number of threads is zero, or more than SVT-AV1 has without delay.
    #[error("{0} threads; state 1 to 3")]
    Threads(u8),
    /// The preset is none of SVT-AV1's presets without delay.
    #[error("a preset of {0}; state 8 to 13")]
    Preset(u8),
    /// The quantiser is not one of H.264's, which go up to 51.
    #[error("a finest quantiser of {0}; state 1 to 51")]
    Finest(u8),
    /// SVT-AV1 is not installed, or not the version that this crate was built for.
    #[error(transparent)]
    Absent(#[from] Absent),
    /// SVT-AV1 refused the settings.
    #[error("SVT-AV1 refuses {config:?}: {reason}")]
    Refused {
        /// The settings.
        config: Config,
        /// SVT-AV1's answer.
        reason: String,
    },
}

/// An AV1 encoder that gives each frame one quantiser, chosen from the sizes of earlier
/// frames. A frame that was encoded cannot be taken back, so some frames exceed their
/// budget.
///
/// SVT-AV1 returns a picture when the next one comes. Therefore every picture is sent
/// twice; the second time it is encoded as coarsely as possible, nothing refers to it, and
/// it is thrown away.
///
/// Every recovery makes a keyframe, by opening another encoder in this one's place. After
/// [`EncodeError::WrongSize`] the stream goes on; after any other error, open another
/// encoder.
#[derive(Debug)]
pub struct SvtAv1 {
    library: &'static SvtAv1Library,
    raw: Raw,
    config: Config,
    capabilities: Capabilities,
    sizes: Sizes,
    /// The last frame that was encoded; `None` before the first.
    last: Option<FrameId>,
    /// The number of pictures in this stream since its keyframe, two for each frame.
    pictures: u32,
}

impl SvtAv1 {
    /// Opens an encoder.
    ///
    /// # Errors
    ///
    /// [`OpenError`] names the setting that is refused.
    pub fn open(config: Config) -> Result<Self, OpenError> {
        check(&config)?;
        let library = library()?;
        let raw = Raw::open(library, &config.fixed()).map_err(|reason| OpenError::Refused {
            config: config.clone(),
            reason: reason.to_string(),
        })?;
        let capabilities = Capabilities {
            name: format!("{NAME} {}", library.version),
            codec: Codec::Av1,
            obeys_budget: false,
            switches_complexity: false,
            invalidates_references: false,
            has_own_threads: true,
        };
        let finest = Quantiser::not_finer_than(f64::from(config.finest));
        Ok(Self {
            library,
            raw,
            capabilities,
            sizes: Sizes::new(config.size, finest),
            last: None,
            pictures: 0,
            config,
        })
    }

    /// Begins a new stream with a keyframe.
    fn restart(&mut self) -> Result<(), EncodeError> {
        self.raw = Raw::open(self.library, &self.config.fixed())
            .map_err(|r| failed("opening again", r))?;
        self.pictures = 0;
        Ok(())
    }

    /// Encodes `picture` with `quantiser`.
    fn frame(
        &mut self,
        picture: &Picture,
        quantiser: Quantiser,
    ) -> Result<TemporalUnit, EncodeError> {
        let number = self.pictures;
        for (number, quantiser) in [(number, quantiser), (number + 1, Quantiser::COARSEST)] {
            self.raw
                .send(picture, number, quantiser.number())
                .map_err(|reason| failed("taking a picture", reason))?;
        }
        self.pictures += 2;
        loop {
            let unit = self
                .raw
                .receive()
                .map_err(|reason| failed("encoding", reason))?;
            // The frame before this one belongs to the second copy of the last picture.
            if unit.number == number {
                return Ok(unit);
            }
        }
    }
}

impl Encoder for SvtAv1 {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn encode(
        &mut self,
        picture: &Picture,
        request: &FrameRequest,
    ) -> Result<EncodedFrame, EncodeError> {
        EncodeError::check_size(picture, self.config.size)?;
        let is_keyframe =
            request.recovery.needs_keyframe(self.last) || self.pictures >= MOST_PICTURES;
        if is_keyframe && self.pictures > 0 {
            self.restart()?;
        }
        let kind = if is_keyframe {
            FrameKind::Keyframe
        } else {
            FrameKind::Other(self.pictures / 2)
        };
        let quantiser = self.sizes.quantiser(kind, request.budget);
        let unit = self.frame(picture, quantiser)?;
        if unit.is_keyframe != is_keyframe {
            return Err(EncodeError::Failed {
                encoder: NAME,
                operation: "encoding",
                reason: format!("a keyframe: {}, asked for: {is_keyframe}", unit.is_keyframe),
            });
        }
        let size = Bytes::new(unit.data.len() as u64);
        self.sizes.observe(kind, quantiser, size, request.budget);
        self.last = Some(request.frame);
        #[expect(clippy::cast_possible_truncation, reason = "6 to 52, shown to people")]
        let level = quantiser.level() as f32;
        Ok(EncodedFrame {
            frame: request.frame,
            data: unit.data,
            is_keyframe,
            quantiser: Some(level),
            attempts: 1,
            distortion: None,
        })
    }
}

fn failed(operation: &'static str, reason: Refusal) -> EncodeError {
    EncodeError::Failed {
        encoder: NAME,
        operation,
        reason: reason.to_string(),
    }
}

fn check(config: &Config) -> Result<(), OpenError> {
    if !SIDES.contains(&config.size.width()) || !SIDES.contains(&config.size.height()) {
        return Err(OpenError::Size(config.size));
    }
    if !(1..=1000).contains(&config.frames_per_second) {
        return Err(OpenError::FramesPerSecond(config.frames_per_second));
    }
    if !(1..=3).contains(&config.threads) {
        return Err(OpenError::Threads(config.threads));
    }
    if !(8..=13).contains(&config.preset) {
        return Err(OpenError::Preset(config.preset));
    }
    if !(1..=51).contains(&config.finest) {
        return Err(OpenError::Finest(config.finest));
    }
    Ok(())
}
