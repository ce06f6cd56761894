//! How large a frame will be, and how much work to put into it.
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
//! | `motion` | what is new of a picture after a search for motion |
//! | `difference` | what differs in place, as the ACE paper has it |
//! | `measure` | one of these two, from picture to picture |
//! | `bucket` | sizes planned around a mean |
//! | `model` | what is learnt of sizes and times |
//! | `ace_c` | [`AceC`], which puts these together |
//!
//! Nothing here reads a clock: times come in with the frames.

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
