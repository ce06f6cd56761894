//! Pictures, and the interface of encoders.
//!
//! ```text
//! source -> Picture -> Encoder::encode(picture, request) -> EncodedFrame
//! ```
//!
//! This crate does not know where pictures come from or which codec is in use.

mod bgra;
pub mod complexity;
pub mod detail;
mod encoder;
pub mod load;
mod picture;
mod view;

pub use bgra::TooFewPixels;
pub use encoder::{
    Capabilities, EncodeError, EncodedFrame, Encoder, FINEST_QUANTISER, FramePart, FrameRequest,
    Recovery,
};
pub use picture::{BadSize, Picture, Plane, Size};
pub use view::{Colours, Matrix, Samples, TooFewSamples, View};
