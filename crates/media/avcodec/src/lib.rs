//! H.264, H.265 and AV1 decoded by libavcodec: a picture for each frame, at once.
//!
//! | file | what |
//! |---|---|
//! | `raw` | libavcodec's functions made safe; the one file with `unsafe` |
//! | `decoder` | [`Decoder`] and the [`DecodedPicture`]s that come out of it |
//!
//! libavcodec is linked dynamically, as the system has it. It is under the LGPL, version
//! 2.1 or later, or under the GPL, version 2 or later, where it was built with parts that
//! are: Debian's is. A program that links it is then under the GPL as a whole.

mod decoder;
mod raw;

pub use decoder::{DecodeError, DecodedPicture, Decoder, decodable};
