//! Encoders that are elements of GStreamer, including those of graphics processors.
//!
//! ```text
//! Picture -> appsrc ! videoconvert ! ENCODER ! parser ! appsink -> EncodedFrame
//! ```
//!
//! | file | what |
//! |---|---|
//! | `elements` | the elements that can be ENCODER, and their settings |
//! | `hardware` | the hardware encoders of this machine, and whether they work |
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
mod pipeline;
mod steering;

pub use elements::{ELEMENTS, Element};
pub use encoder::{Config, GStreamer, OpenError};
pub use hardware::{TrialResult, find};
pub use library::NotStarted;
pub use steering::ChangeCost;
