//! Pictures, and what an encoder is asked and answers.
//!
//! ```text
//! source -> Picture -> Encoder::encode(picture, request) -> EncodedFrame
//! ```
//!
//! Nothing here knows where pictures come from or which codec is in use.

mod bgra;
pub mod detail;
mod encoder;
mod picture;
mod view;

pub use bgra::TooFewPixels;
pub use encoder::{
    Capabilities, Codec, Complexity, EncodeError, EncodedFrame, Encoder, FrameRequest, Recovery,
};
pub use picture::{BadSize, Picture, Plane, Size};
pub use view::{Colours, Matrix, Samples, TooFewSamples, View};
