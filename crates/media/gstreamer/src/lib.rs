//! Encoders that are elements of GStreamer, including those of graphics processors.
//!
//! ```text
//! Picture -> appsrc ! videoconvert ! ENCODER ! parser ! appsink -> EncodedFrame
//! Picture -> appsrc ! videoconvert ! ENCODER          ! appsink -> FramePart, FramePart, ...
//! ```
//!
//! | file | what |
//! |---|---|
//! | `elements` | the elements that can be ENCODER, and their settings |
//! | `hardware` | the hardware encoders of this machine, and whether they work |
//! | `opening` | the settings of an encoder, and the pictures that it is tried with |
//! | `pieces` | the pieces in which an element hands out a frame, and the parts in which they leave |
//! | `pipeline` | the pipeline: a picture in, a frame out |
//! | `steering` | when bitrate and buffer are set |
//! | `library` | GStreamer's own functions, loaded where they are installed |
//! | `encoder` | [`GStreamer`], which puts these together |
//!
//! GStreamer is loaded from the system and is under the LGPL, version 2.1 or later. A program with this crate starts
//! where GStreamer is missing, and says what to install when GStreamer is needed. Elements are loaded when they are
//! used; the elements of libx264 and libx265 are under the GPL, and are used only when they are named.

mod elements;
mod encoder;
mod hardware;
mod library;
mod opening;
mod pieces;
mod pipeline;
mod steering;
#[cfg(test)]
mod tests;

pub use elements::{ELEMENTS, Element};
pub use encoder::GStreamer;
pub use hardware::{TrialResult, find};
pub use library::NotStarted;
pub use opening::{Config, Delivery, OpenError};
pub use steering::ChangeCost;
