//! Encoders with a fault fail the check that is about it, and the encoder without a fault
//! passes the same check.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use mimosa_conformance as conformance;
use mimosa_conformance::{Budgets, MissingFrame, Pictures, QuantiserLimit, Sizes, Subject, Units};
use mimosa_facts::Codec;
use mimosa_openh264::{Config, OpenH264};
use mimosa_units::Bytes;
use mimosa_video::{
    Capabilities, EncodeError, EncodedFrame, Encoder, FrameRequest, Picture, Recovery, Size,
};

/// One thing that an encoder does wrong.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Fault {
    /// None.
    Nothing,
    /// Takes twice the budget.
    Budget,
    /// Ignores requests for keyframes.
    Keyframe,
    /// Claims to recover without keyframes, and does nothing about losses.
    References,
    /// Claims that complexity has an effect.
    Complexity,
    /// Cuts off the end of one frame.
    Cut,
    /// Returns each frame one call late.
    Late,
    /// Accepts pictures of another size.
    Size,
    /// States another frame number.
    Number,
}

struct Faulty {
    encoder: OpenH264,
    capabilities: Capabilities,
    size: Size,
    fault: Fault,
    last: Option<EncodedFrame>,
}

impl Faulty {
    fn open(size: Size, fault: Fault) -> Self {
        let encoder = OpenH264::open(Config::new(size, 60)).unwrap();
        let capabilities = encoder.capabilities().clone();
        Self {
            encoder,
            capabilities: Capabilities {
                invalidates_references: fault == Fault::References,
                switches_complexity: fault == Fault::Complexity,
                ..capabilities
            },
            size,
            fault,
            last: None,
        }
    }
}

impl Encoder for Faulty {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn encode(
        &mut self,
        picture: &Picture,
        request: &FrameRequest,
    ) -> Result<EncodedFrame, EncodeError> {
        let mut request = *request;
        let black = Picture::new(self.size);
        let mut picture = picture;
        match self.fault {
            Fault::Budget => request.budget = request.budget + request.budget,
            Fault::Keyframe | Fault::References => request.recovery = Recovery::None,
            Fault::Size if picture.size() != self.size => picture = &black,
            _ => {}
        }
        let mut frame = self.encoder.encode(picture, &request)?;
        match self.fault {
            Fault::Cut if frame.frame.0 == 30 => frame.data.truncate(frame.data.len() / 2),
            Fault::Late => {
                let late = self.last.replace(frame.clone());
                frame = late.unwrap_or(frame);
            }
            Fault::Number => frame.frame.0 += 1,
            _ => {}
        }
        Ok(frame)
    }
}

fn subject(fault: Fault) -> Subject {
    let pictures = Pictures {
        size: Size::new(320, 240).unwrap(),
        noise: 14,
        highest: 15.0,
        steps: (2.5, 15.0),
    };
    Subject {
        name: "a faulty encoder",
        codec: Codec::H264,
        open: Box::new(move |setup| Ok(Box::new(Faulty::open(setup.size, fault)))),
        large: pictures,
        small: pictures,
        budgets: Budgets::Kept {
            used: &[(1, 0.5)],
            retried: None,
            rise: 0.3,
            smallest: Bytes::new(4_000),
            smallest_range: 4_000,
        },
        cut: 50,
        units: Some(Units {
            keyframe: &[7, 8, 5],
            other: &[1],
        }),
        states_colours: true,
        states: &[],
        quantiser_limit: QuantiserLimit::Stated,
        repeatable: &[1],
        sizes: Sizes {
            work: &[(64, 64)],
            refused: &[],
            threads: &[1],
            frames_per_second: 60,
        },
        missing: MissingFrame::Worsens(30),
    }
}

/// Whether a subject with `fault` passes `check`.
fn passes(check: fn(&Subject), fault: Fault) -> bool {
    let subject = subject(fault);
    catch_unwind(AssertUnwindSafe(|| check(&subject))).is_ok()
}

fn finds(check: fn(&Subject), fault: Fault) {
    assert!(passes(check, Fault::Nothing), "fails without {fault:?}");
    assert!(!passes(check, fault), "passes in spite of {fault:?}");
}

#[test]
fn budgets_that_are_exceeded_are_found() {
    finds(conformance::random_budgets_are_kept_and_used, Fault::Budget);
    finds(conformance::steps_are_followed, Fault::Budget);
}

#[test]
fn keyframes_that_do_not_come_are_found() {
    finds(conformance::keyframes_come_when_asked_for, Fault::Keyframe);
    finds(
        conformance::keyframes_need_nothing_before_them,
        Fault::Keyframe,
    );
    finds(conformance::keyframes_come_when_asked_for, Fault::Number);
}

#[test]
fn capabilities_without_an_effect_are_found() {
    finds(conformance::a_loss_is_recovered_from, Fault::References);
    finds(
        conformance::complexity_has_the_stated_effect,
        Fault::Complexity,
    );
}

#[test]
fn damaged_and_late_frames_are_found() {
    finds(conformance::decoded_pictures_do_not_drift, Fault::Cut);
    finds(conformance::every_frame_is_a_picture, Fault::Late);
}

#[test]
fn a_size_that_is_not_refused_is_found() {
    finds(
        conformance::pictures_of_another_size_are_refused,
        Fault::Size,
    );
}
