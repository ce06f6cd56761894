//! The fate of frames: the messages of the channel `frames`, and the [`ClockMap`]
//! that puts a page's times on the host's clock.

mod clock;
mod message;

pub use clock::ClockMap;
pub use message::{FrameMessage, FramesError, Shown};
