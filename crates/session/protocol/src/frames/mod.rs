//! The messages of the channel `frames`, about the display of frames, and the [`ClockMap`] from a
//! page's clock to the host's.

mod clock;
mod message;

pub use clock::ClockMap;
pub use message::{FrameMessage, FramesError, Shown};
