//! Opening an element: its settings, and the pictures that it is tried with.

use mimosa_facts::Codec;
use mimosa_units::{Rate, TimeDelta};
use mimosa_video::{FINEST_QUANTISER, Picture, Size};

use crate::elements::{ELEMENTS, Element};
use crate::library::{Library, NotStarted};
use crate::pieces::{Fault, has_parameter_sets};
use crate::pipeline::{Finish, Output, Pipeline};
use crate::steering::{Change, ChangeCost};

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
    /// The most parts in which a frame is handed out, where the element can; 1 for whole frames.
    pub parts: u8,
}

impl Config {
    /// Settings for the first hardware element, one thread, a quantiser of 17 or more, and whole frames.
    #[must_use]
    pub fn new(size: Size, frames_per_second: u32) -> Self {
        Self {
            size,
            frames_per_second,
            element: String::new(),
            threads: 1,
            finest: FINEST_QUANTISER,
            parts: 1,
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
    #[error("GStreamer has no element `{name}` on this machine; {package} has it{hint}")]
    NotRegistered {
        /// The element's name.
        name: &'static str,
        /// What contains the element.
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

/// How the frames of an element leave.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Delivery {
    /// Frames leave whole: the element hands out nothing else, or nothing else is asked for.
    Whole,
    /// Frames leave in parts while the element codes the rest. It hands out so many pieces of a frame.
    InParts(u32),
    /// Frames leave whole, because the element does not hand out parts as it should, for the reason given.
    Refused(String),
}

/// An element that has been tried.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) pipeline: Pipeline,
    /// What a change of the element's bitrate costs.
    pub(crate) cost: ChangeCost,
    pub(crate) delivery: Delivery,
}

/// What is opened.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) library: Library,
    pub(crate) element: &'static Element,
    pub(crate) config: Config,
    pub(crate) finish: Finish,
}

impl Plan {
    /// The element that `config` names.
    ///
    /// # Errors
    ///
    /// [`OpenError`] if it is unknown, or not there.
    pub(crate) fn of_named(library: Library, config: &Config) -> Result<Self, OpenError> {
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
        Ok(Self::of(library, element, config))
    }

    fn of(library: Library, element: &'static Element, config: &Config) -> Self {
        Self {
            library,
            element,
            config: config.clone(),
            finish: Finish::plain(),
        }
    }

    /// Opens the first hardware element that makes H.264 and works, rather one whose bitrate changes without
    /// a keyframe.
    ///
    /// # Errors
    ///
    /// [`OpenError::NoHardware`] if none works.
    pub(crate) fn open_hardware(
        library: Library,
        config: &Config,
    ) -> Result<(Self, Opened), OpenError> {
        let mut tried = String::new();
        let mut costly = None;
        let hardware = ELEMENTS
            .iter()
            .filter(|element| element.is_hardware && element.codec == Codec::H264);
        for element in hardware.filter(|element| library.has(element.name)) {
            let plan = Self::of(library, element, config);
            match plan.open() {
                Ok(opened) if opened.cost == ChangeCost::Nothing => return Ok((plan, opened)),
                Ok(opened) => costly = costly.or(Some((plan, opened))),
                Err(error) => tried = format!("{tried}; {error}"),
            }
        }
        costly.ok_or(OpenError::NoHardware { tried })
    }

    /// Opens the element, in parts if that is asked for and works.
    ///
    /// # Errors
    ///
    /// [`OpenError::Fails`] if it makes no frames.
    pub(crate) fn open(&self) -> Result<Opened, OpenError> {
        let is_asked = self.config.parts > 1;
        let delivery = if is_asked && self.finish.has_pieces(self.library, self.element) {
            match self.tried(Output::Pieces) {
                Ok((pipeline, cost)) => {
                    let delivery = Delivery::InParts(pipeline.pieces());
                    return Ok(Opened {
                        pipeline,
                        cost,
                        delivery,
                    });
                }
                Err(reason) => self.refuse(reason),
            }
        } else {
            Delivery::Whole
        };
        self.open_whole(delivery)
            .map_err(|reason| OpenError::Fails {
                name: self.element.name,
                reason,
            })
    }

    /// Opens the element for whole frames.
    ///
    /// # Errors
    ///
    /// The reason why the element does not work.
    pub(crate) fn open_whole(&self, delivery: Delivery) -> Result<Opened, String> {
        let (pipeline, cost) = self.tried(Output::Whole)?;
        Ok(Opened {
            pipeline,
            cost,
            delivery,
        })
    }

    /// Says that frames leave whole from here on, and why.
    pub(crate) fn refuse(&self, reason: String) -> Delivery {
        let element = self.element.name;
        tracing::warn!(
            element,
            reason,
            "frames leave whole and not in parts, for the element does not hand them out as it should"
        );
        Delivery::Refused(reason)
    }

    /// Starts the element and has it encode trial pictures. Returns what a change of its bitrate costs.
    fn tried(&self, output: Output) -> Result<(Pipeline, ChangeCost), String> {
        let interval = TimeDelta::from_secs(1.0) / self.config.frames_per_second;
        let trial = |rate: Rate| Change {
            bitrate: Some(rate),
            buffer: Some(TRIAL.amount_in(interval)),
        };
        let how = (&self.finish, output);
        let first = trial(TRIAL);
        let mut pipeline = Pipeline::start(self.library, self.element, &self.config, how, first)?;
        for is_asked in [false, true] {
            if is_asked {
                pipeline.force_keyframe()?;
            }
            if !self.is_keyframe(&mut pipeline, output)? {
                return Err("it makes no keyframe when it should".to_owned());
            }
        }
        if self.is_keyframe(&mut pipeline, output)? {
            return Err("it makes keyframes when it should not".to_owned());
        }
        pipeline.change(Change {
            buffer: None,
            ..trial(TRIAL.scale(TRIAL_CHANGE))
        })?;
        let cost = if self.is_keyframe(&mut pipeline, output)? {
            ChangeCost::Keyframe
        } else {
            ChangeCost::Nothing
        };
        if output == Output::Pieces && pipeline.pieces() < 2 {
            return Err(Fault::OnePiece.to_string());
        }
        Ok((pipeline, cost))
    }

    /// Whether the next trial picture becomes a keyframe.
    fn is_keyframe(&self, pipeline: &mut Pipeline, output: Output) -> Result<bool, String> {
        let picture = Picture::new(self.config.size);
        let frame = pipeline.encode(&picture, self.config.parts, &mut |_| {});
        let frame = frame.map_err(|failure| failure.to_string())?;
        let has_all = !frame.is_keyframe || has_parameter_sets(self.element.codec, &frame.data);
        // Whole frames have a parser that adds them.
        if output == Output::Pieces && !has_all {
            return Err(Fault::NoParameterSets.to_string());
        }
        Ok(frame.is_keyframe)
    }
}
