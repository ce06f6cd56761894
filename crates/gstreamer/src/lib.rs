//! Encoders of GStreamer, those of graphics processors among them.
//!
//! ```text
//! Picture -> appsrc ! videoconvert ! ENCODER ! parser ! appsink -> EncodedFrame
//! ```
//!
//! | file | what |
//! |---|---|
//! | `elements` | the elements that can be ENCODER, and what each is told |
//! | `hardware` | what of this machine encodes, and works |
//! | `pipeline` | the pipeline: a picture in, a frame out |
//! | `property` | setting a property that an element may not have |
//! | `encoder` | [`GStreamer`], which puts these together |
//!
//! GStreamer is linked dynamically, as the system has it, under the LGPL, version 2.1 or
//! later. Elements are loaded when they are used; those of libx264 and libx265 are under
//! the GPL, and are used only where they are named.

mod elements;
mod encoder;
mod hardware;
mod pipeline;
mod property;

pub use elements::{ELEMENTS, Element};
pub use encoder::{Config, GStreamer, OpenError};
pub use hardware::{Found, find};
