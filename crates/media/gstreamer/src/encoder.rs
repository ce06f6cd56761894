//! [`GStreamer`]: an encoder that is an element of GStreamer.

use mimosa_facts::FrameId;
use mimosa_video::{
    Capabilities, EncodeError, EncodedFrame, Encoder, FramePart, FrameRequest, Picture,
};

use crate::library;
use crate::opening::{Config, Delivery, OpenError, Opened, Plan};
use crate::pieces::{Fault, Frame};
use crate::pipeline::Failure;
use crate::steering::{ChangeCost, Steering};

const NAME: &str = "GStreamer";

/// An encoder that is an element of GStreamer.
///
/// The budget of each frame becomes the element's bitrate, and the element's buffer, if it
/// has one, is that of one frame. Where a change of the bitrate costs a keyframe, the
/// bitrate changes only when the budgets have left a band around it. How well the frames keep
/// to their budgets depends on the element.
///
/// An element that hands out pieces of a frame, and is asked for parts, gives them as they are
/// coded. When its pieces show a fault, the frame ends with what there is, or its picture is
/// encoded again if nothing has left, and frames leave whole from then on.
///
/// Every recovery makes a keyframe. After [`EncodeError::WrongSize`] the stream goes on;
/// after any other error, open another encoder.
#[derive(Debug)]
pub struct GStreamer {
    plan: Plan,
    opened: Opened,
    steering: Steering,
    capabilities: Capabilities,
    /// The last frame that was encoded; `None` before the first, and when the next one refers to none.
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
            let (plan, opened) = Plan::open_hardware(library, config)?;
            return Ok(Self::new(plan, opened));
        }
        Self::of(Plan::of_named(library, config)?)
    }

    /// Opens what is planned.
    pub(crate) fn of(plan: Plan) -> Result<Self, OpenError> {
        let opened = plan.open()?;
        Ok(Self::new(plan, opened))
    }

    fn new(plan: Plan, opened: Opened) -> Self {
        let [major, minor, micro] = plan.library.version();
        Self {
            steering: Steering::new(opened.cost, plan.config.frames_per_second),
            capabilities: Capabilities {
                name: format!("{} ({NAME} {major}.{minor}.{micro})", plan.element.name),
                codec: plan.element.codec,
                obeys_budget: false,
                switches_complexity: false,
                invalidates_references: false,
                has_own_threads: true,
            },
            plan,
            opened,
            last: None,
        }
    }

    /// What a change of the bitrate costs, as the trial pictures have shown.
    #[must_use]
    pub const fn change_cost(&self) -> ChangeCost {
        self.opened.cost
    }

    /// How frames leave, as the trial pictures and all frames since have shown.
    #[must_use]
    pub const fn delivery(&self) -> &Delivery {
        &self.opened.delivery
    }
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
        self.coded(picture, request, 1, &mut |_| {})
    }

    fn encode_in_parts(
        &mut self,
        picture: &Picture,
        request: &FrameRequest,
        parts: u8,
        part: &mut dyn FnMut(FramePart<'_>),
    ) -> Result<EncodedFrame, EncodeError> {
        let mut is_out = false;
        let frame = self.coded(picture, request, parts, &mut |left| {
            is_out |= left.is_last;
            part(left);
        })?;
        if !is_out {
            part(FramePart {
                data: &frame.data,
                is_keyframe: frame.is_keyframe,
                is_last: true,
            });
        }
        Ok(frame)
    }
}

impl GStreamer {
    fn coded(
        &mut self,
        picture: &Picture,
        request: &FrameRequest,
        parts: u8,
        out: &mut dyn FnMut(FramePart<'_>),
    ) -> Result<EncodedFrame, EncodeError> {
        EncodeError::check_size(picture, self.plan.config.size)?;
        let frame = self.frame(picture, request, parts, out);
        let frame = frame.map_err(|reason| EncodeError::Failed {
            encoder: self.plan.element.name,
            operation: "encoding",
            reason,
        })?;
        Ok(EncodedFrame {
            frame: request.frame,
            data: frame.data,
            is_keyframe: frame.is_keyframe,
            quantiser: None,
            attempts: 1,
            distortion: None,
        })
    }

    fn frame(
        &mut self,
        picture: &Picture,
        request: &FrameRequest,
        parts: u8,
        out: &mut dyn FnMut(FramePart<'_>),
    ) -> Result<Frame, String> {
        let frame = match self.attempt(picture, request, parts, out) {
            Ok(frame) => frame,
            Err(Failure::Pieces(fault, left)) => {
                self.give_up_parts(fault)?;
                if let Some(frame) = left {
                    return Ok(frame);
                }
                let again = self.attempt(picture, request, 1, out);
                again.map_err(|failure| failure.to_string())?
            }
            Err(Failure::Element(reason)) => return Err(reason),
        };
        self.last = Some(request.frame);
        Ok(frame)
    }

    fn attempt(
        &mut self,
        picture: &Picture,
        request: &FrameRequest,
        parts: u8,
        out: &mut dyn FnMut(FramePart<'_>),
    ) -> Result<Frame, Failure> {
        let is_asked = request.recovery.needs_keyframe(self.last);
        let change = self.steering.before(request.budget, is_asked);
        let pipeline = &mut self.opened.pipeline;
        pipeline.change(change).map_err(Failure::Element)?;
        if is_asked {
            pipeline.force_keyframe().map_err(Failure::Element)?;
        }
        let frame = pipeline.encode(picture, parts, out)?;
        if is_asked && !frame.is_keyframe {
            let reason = "it made no keyframe when asked for one";
            return Err(Failure::Element(reason.to_owned()));
        }
        Ok(frame)
    }

    /// Opens the element anew, for whole frames. The next one is a keyframe.
    fn give_up_parts(&mut self, fault: Fault) -> Result<(), String> {
        // Hardware may have room for one encoder only.
        self.opened.pipeline.stop();
        let delivery = self.plan.refuse(fault.to_string());
        self.opened = self.plan.open_whole(delivery)?;
        self.steering = Steering::new(self.opened.cost, self.plan.config.frames_per_second);
        self.last = None;
        Ok(())
    }
}
