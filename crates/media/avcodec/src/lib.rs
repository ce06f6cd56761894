//! H.264, H.265 and AV1 decoded by libavcodec: a picture for each frame, at once.
//!
//! | file | what |
//! |---|---|
//! | `layout` | where the fields that are read lie in libavcodec's structures |
//! | `library` | libavcodec itself, loaded where it is installed |
//! | `raw` | libavcodec's functions made safe |
//! | `units` | the units of an access unit of H.264 |
//! | `decoder` | [`Decoder`] and the [`DecodedPicture`]s that come out of it |
//!
//! Only `layout`, `library` and `raw` have `unsafe` code.
//!
//! libavcodec is loaded when it is first asked for. It is under the LGPL, version 2.1 or later, or
//! under the GPL, version 2 or later, where it was built with parts that are: Debian's is. A program
//! that has loaded it is then under the GPL as a whole.

mod decoder;
mod layout;
mod library;
mod raw;
mod units;

pub use decoder::{DecodeError, DecodedPicture, Decoder, decodable};
