//! The checks, each a function of a [`Subject`](crate::Subject).

pub(crate) mod budgets;
pub(crate) mod capabilities;
pub(crate) mod decoding;
pub(crate) mod keyframes;
pub(crate) mod opening;
pub(crate) mod quantiser;
pub(crate) mod recovery;
pub(crate) mod repetition;

use mimosa_units::Bytes;
use mimosa_video::EncodedFrame;

use crate::clip::Clip;
use crate::request::{amount, plain_request};
use crate::subject::{Setup, Subject};

/// A frame and its budget.
pub(crate) type Budgeted = (Bytes, EncodedFrame);

/// Encodes a clip, a frame for each of `rates` in Mbit/s.
pub(crate) fn encode_at(
    subject: &Subject,
    setup: &Setup,
    noise: u32,
    rates: &[f64],
) -> Vec<Budgeted> {
    let mut clip = Clip::new(setup.size, noise);
    let mut encoder = subject.opened(setup);
    (0..)
        .zip(rates)
        .map(|(time, &mbps)| {
            let budget = amount(mbps);
            let request = plain_request(time, budget);
            let frame = encoder.encode(&clip.picture(time), &request).unwrap();
            (budget, frame)
        })
        .collect()
}

/// The share of its budget that a frame uses.
pub(crate) fn use_of((budget, frame): &Budgeted) -> f64 {
    frame.data.len() as f64 / budget.get() as f64
}

/// The mean share of their budgets that frames use.
pub(crate) fn mean_use(frames: &[Budgeted]) -> f64 {
    frames.iter().map(use_of).sum::<f64>() / frames.len() as f64
}

/// The share of frames that exceed their budgets.
pub(crate) fn share_above(frames: &[Budgeted]) -> f64 {
    let above = frames.iter().filter(|frame| use_of(frame) > 1.0).count();
    above as f64 / frames.len() as f64
}
