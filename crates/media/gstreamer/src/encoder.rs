//! [`GStreamer`]: an encoder that is an element of GStreamer.

use mimosa_facts::{Codec, FrameId};
use mimosa_units::{Bytes, Rate, TimeDelta};
use mimosa_video::{
    Capabilities, EncodeError, EncodedFrame, Encoder, FINEST_QUANTISER, FrameRequest, Picture, Size,
};

use crate::elements::{ELEMENTS, Element};
use crate::library::{self, Coded, Library, NotStarted};
use crate::pipeline::Pipeline;
use crate::steering::{Change, ChangeCost, Steering};

const NAME: &str = "GStreamer";
/// The bitrate of the trial pictures. Our choice: any rate shows whether an element works.
const TRIAL: Rate = Rate::from_kbps(5_000);
/// The factor by which the bitrate changes between the trial pictures. Our choice: a change that a
/// controller makes.
const TRIAL_CHANGE: f64 = 0.8;

/// The settings that an encoder is opened with.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Config {
    /// The size of the pictures.
    pub size: Size,
    /// The frame rate, by which budgets become bitrates.
    pub frames_per_second: u32,
    /// The name of an element; empty for the first hardware element that makes H.264 and
    /// works.
    pub element: String,
    /// The number of threads or slices, where the element can be told one.
    pub threads: u8,
    /// The lowest quantiser in use, where the element has such a limit.
    pub finest: u8,
}

impl Config {
    /// Settings for the first hardware element, one thread, and a quantiser of 17 or more.
    #[must_use]
    pub fn new(size: Size, frames_per_second: u32) -> Self {
        Self {
            size,
            frames_per_second,
            element: String::new(),
            threads: 1,
            finest: FINEST_QUANTISER,
        }
    }
}

/// The reason why an encoder cannot be opened.
#[derive(Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// GStreamer itself is not there or does not start.
    #[error(transparent)]
    NotStarted(#[from] NotStarted),
    /// The frame rate is zero or above 1000.
    #[error("{0} frames per second; state 1 to 1000")]
    FramesPerSecond(u32),
    /// The element is not in the table [`ELEMENTS`].
    #[error("`{name}` is not a known element; known are {known}")]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The names of all elements in the table.
        known: String,
    },
    /// GStreamer does not have the element on this machine.
    #[error("GStreamer has no element `{name}` on this machine; Debian has it in {package}{hint}")]
    NotRegistered {
        /// The element's name.
        name: &'static str,
        /// Debian's package that contains the element.
        package: &'static str,
        /// Further things that the element needs.
        hint: &'static str,
    },
    /// No hardware of this machine encodes H.264.
    #[error(
        "no hardware element encodes H.264 on this machine{tried}; name a software element with --encoder-element"
    )]
    NoHardware {
        /// The elements that were tried, and why they did not work.
        tried: String,
    },
    /// The element made no frames of trial pictures.
    #[error("{name} does not work: {reason}")]
    Fails {
        /// The element's name.
        name: &'static str,
        /// The reason in GStreamer's words.
        reason: String,
    },
}

/// An encoder that is an element of GStreamer.
///
/// The budget of each frame becomes the element's bitrate, and the element's buffer, if it
/// has one, is that of one frame. Where a change of the bitrate costs a keyframe, the
/// bitrate changes only when the budgets have left a band around it. How well the frames keep
/// to their budgets depends on the element.
///
/// Every recovery makes a keyframe. After [`EncodeError::WrongSize`] the stream goes on;
/// after any other error, open another encoder.
#[derive(Debug)]
pub struct GStreamer {
    pipeline: Pipeline,
    cost: ChangeCost,
    steering: Steering,
    element: &'static Element,
    size: Size,
    capabilities: Capabilities,
    /// The last frame that was encoded; `None` before the first.
    last: Option<FrameId>,
}

impl GStreamer {
    /// Opens an encoder, and has it encode four trial pictures that are thrown away: two keyframes, and one
    /// frame before and one after a change of the bitrate.
    ///
    /// # Errors
    ///
    /// [`OpenError`] says what is missing or does not work.
    pub fn open(config: &Config) -> Result<Self, OpenError> {
        if !(1..=1000).contains(&config.frames_per_second) {
            return Err(OpenError::FramesPerSecond(config.frames_per_second));
        }
        let library = library::start()?;
        if config.element.is_empty() {
            return open_hardware(library, config);
        }
        let element = Element::named(&config.element).ok_or_else(|| {
            let known: Vec<_> = ELEMENTS.iter().map(|element| element.name).collect();
            OpenError::Unknown {
                name: config.element.clone(),
                known: known.join(", "),
            }
        })?;
        if !library.has(element.name) {
            return Err(OpenError::NotRegistered {
                name: element.name,
                package: element.package,
                hint: if element.is_hardware {
                    ", and it is there only with its hardware and driver"
                } else {
                    ""
                },
            });
        }
        open_element(library, element, config)
    }
}

/// Opens the first hardware element that makes H.264 and works, rather one whose bitrate changes without
/// a keyframe.
fn open_hardware(library: Library, config: &Config) -> Result<GStreamer, OpenError> {
    let mut tried = String::new();
    let mut costly = None;
    let hardware = ELEMENTS
        .iter()
        .filter(|element| element.is_hardware && element.codec == Codec::H264);
    for element in hardware.filter(|element| library.has(element.name)) {
        match open_element(library, element, config) {
            Ok(opened) if opened.cost == ChangeCost::Nothing => return Ok(opened),
            Ok(opened) => costly = costly.or(Some(opened)),
            Err(error) => tried = format!("{tried}; {error}"),
        }
    }
    costly.ok_or(OpenError::NoHardware { tried })
}

fn open_element(
    library: Library,
    element: &'static Element,
    config: &Config,
) -> Result<GStreamer, OpenError> {
    let tried = try_element(library, element, config, |_| {});
    let (pipeline, cost) = tried.map_err(|reason| OpenError::Fails {
        name: element.name,
        reason,
    })?;
    let [major, minor, micro] = library.version();
    Ok(GStreamer {
        pipeline,
        cost,
        steering: Steering::new(cost, config.frames_per_second),
        element,
        size: config.size,
        capabilities: Capabilities {
            name: format!("{} ({NAME} {major}.{minor}.{micro})", element.name),
            codec: element.codec,
            obeys_budget: false,
            switches_complexity: false,
            invalidates_references: false,
            has_own_threads: true,
        },
        last: None,
    })
}

/// Starts an element and has it encode trial pictures. Returns what a change of its bitrate costs. The
/// pipeline is given to `prepare` before the first picture.
fn try_element(
    library: Library,
    element: &'static Element,
    config: &Config,
    prepare: impl Fn(&Pipeline),
) -> Result<(Pipeline, ChangeCost), String> {
    let trial = |rate: Rate| Change {
        bitrate: Some(rate),
        buffer: Some(TRIAL.amount_in(TimeDelta::from_secs(1.0) / config.frames_per_second)),
    };
    let mut pipeline = Pipeline::start(
        library,
        element,
        config.size,
        config.frames_per_second,
        config.threads,
        config.finest,
        trial(TRIAL),
    )?;
    prepare(&pipeline);
    let picture = Picture::new(config.size);
    for is_asked in [false, true] {
        if is_asked {
            pipeline.force_keyframe()?;
        }
        if !pipeline.encode(&picture)?.is_keyframe {
            return Err("it makes no keyframe when it should".to_owned());
        }
    }
    if pipeline.encode(&picture)?.is_keyframe {
        return Err("it makes keyframes when it should not".to_owned());
    }
    pipeline.change(Change {
        buffer: None,
        ..trial(TRIAL.scale(TRIAL_CHANGE))
    })?;
    let cost = if pipeline.encode(&picture)?.is_keyframe {
        ChangeCost::Keyframe
    } else {
        ChangeCost::Nothing
    };
    Ok((pipeline, cost))
}

impl Encoder for GStreamer {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn encode(
        &mut self,
        picture: &Picture,
        request: &FrameRequest,
    ) -> Result<EncodedFrame, EncodeError> {
        EncodeError::check_size(picture, self.size)?;
        let is_asked = request.recovery.needs_keyframe(self.last);
        let frame = self
            .frame(picture, request.budget, is_asked)
            .map_err(|reason| EncodeError::Failed {
                encoder: self.element.name,
                operation: "encoding",
                reason,
            })?;
        self.last = Some(request.frame);
        Ok(EncodedFrame {
            frame: request.frame,
            data: frame.data,
            is_keyframe: frame.is_keyframe,
            quantiser: None,
            attempts: 1,
            distortion: None,
        })
    }
}

impl GStreamer {
    /// What a change of the bitrate costs, as the trial pictures have shown.
    #[must_use]
    pub const fn change_cost(&self) -> ChangeCost {
        self.cost
    }

    fn frame(&mut self, picture: &Picture, budget: Bytes, is_asked: bool) -> Result<Coded, String> {
        let change = self.steering.before(budget, is_asked);
        self.pipeline.change(change)?;
        if is_asked {
            self.pipeline.force_keyframe()?;
        }
        let frame = self.pipeline.encode(picture)?;
        if is_asked && !frame.is_keyframe {
            return Err("it made no keyframe when asked for one".to_owned());
        }
        Ok(frame)
    }
}

#[cfg(test)]
mod tests {
    use mimosa_facts::Complexity;
    use mimosa_video::Recovery;

    use super::*;

    fn config() -> Config {
        Config {
            element: "x264enc".to_owned(),
            ..Config::new(Size::new(64, 48).unwrap(), 60)
        }
    }

    /// The frames that are keyframes when budgets walk about 2 kB and are cut for single frames, then
    /// double.
    fn keyframes(mut encoder: GStreamer) -> Vec<u64> {
        let picture = Picture::new(encoder.size);
        let budget = |number| match number {
            10 | 20 | 21 => 400,
            number if number < 40 => 2_000 + number * 97 % 300,
            _ => 4_000,
        };
        let mut keyframe = |number| {
            let request = FrameRequest {
                frame: FrameId(number),
                budget: Bytes::new(budget(number)),
                interval: TimeDelta::from_millis(16),
                complexity: Complexity::C0,
                recovery: Recovery::None,
            };
            encoder.encode(&picture, &request).unwrap().is_keyframe
        };
        (0..60).filter(|number| keyframe(*number)).collect()
    }

    /// An element of software that begins anew at changes stands in for one of hardware.
    #[test]
    fn an_element_that_begins_anew_is_found_out_and_left_alone() {
        let library = library::start().unwrap();
        let config = config();
        let open = || open_element(library, Element::named("x264enc").unwrap(), &config).unwrap();
        let opened = open();
        assert_eq!(opened.change_cost(), ChangeCost::Nothing);
        assert_eq!(keyframes(opened), [0]);
        let opened = open();
        let prepare = Pipeline::begin_anew_at_changes;
        let (pipeline, cost) = try_element(library, opened.element, &config, prepare).unwrap();
        assert_eq!(cost, ChangeCost::Keyframe);
        let costly = GStreamer {
            pipeline,
            cost,
            steering: Steering::new(cost, config.frames_per_second),
            ..opened
        };
        assert_eq!(keyframes(costly), [0, 43]);
    }
}
