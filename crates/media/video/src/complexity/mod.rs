//! Prediction of a frame's size, and the encoding work to put into the frame.
//!
//! ```text
//! picture -> Measure: how much is new (SATD)
//!         -> AceC::plan: level of complexity, and the size to plan for
//!         -> an encoder's work
//!         -> AceC::encoded: size, distortion and time, to learn from
//! ```
//!
//! | file | what |
//! |---|---|
//! | `hadamard` | the transform of 8x8 differences, summed up |
//! | `half` | brightness at half the resolution |
//! | `motion` | the new part of a picture after a search for motion |
//! | `difference` | the difference in place, as in the ACE paper |
//! | `measure` | `motion` or `difference`, from picture to picture |
//! | `bucket` | sizes planned around a mean |
//! | `model` | sizes and times that are learnt |
//! | `ace_c` | [`AceC`], which puts these together |
//!
//! This module reads no clock: times arrive with the frames.

mod ace_c;
mod bucket;
mod difference;
mod hadamard;
mod half;
mod measure;
mod model;
mod motion;

pub use ace_c::{AceC, Config, Plan};
pub use measure::{Kind, Measure};
