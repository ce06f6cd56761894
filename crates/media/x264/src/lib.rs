//! H.264 by libx264: one frame of VBV, sized anew for every frame.
//!
//! | file | what |
//! |---|---|
//! | `library` | libx264 itself, loaded where it is installed |
//! | `raw` | libx264's functions made safe |
//! | `settings` | the settings that libx264 is opened with, and those that change per frame
//! |
//! | `budget` | the size to ask for, so that a frame keeps within its budget |
//! | `quantiser` | the quantiser that a frame begins with |
//! | `references` | which frames the next one may refer to |
//! | `parameter_set` | the sequence parameter set, changed to allow frame gaps |
//! | `slice` | slices with the longer frame numbers that go with it |
//! | `bits` | reading and writing the bits of both |
//! | `encoder` | [`X264`], which puts these together |
//!
//! Only `library` and `raw` have `unsafe` code.
//!
//! libx264 is loaded when the first encoder is opened. It is under the GPL, version 2 or later: a
//! program that has loaded it is under the GPL as a whole.

mod ballast;
mod bits;
mod budget;
mod encoder;
mod library;
mod parameter_set;
mod quantiser;
mod raw;
mod references;
mod settings;
mod slice;

pub use budget::Margin;
pub use encoder::{OpenError, X264};
pub use settings::{Aim, Config};
