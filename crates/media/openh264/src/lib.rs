//! H.264 by OpenH264: every frame is tried at a quantiser before it counts.
//!
//! | file | what |
//! |---|---|
//! | `raw` | OpenH264's functions made safe; the one file with `unsafe` |
//! | `settings` | the settings that OpenH264 is opened with |
//! | `sizes` | how large a frame becomes at which quantiser |
//! | `encoder` | [`OpenH264`], which puts these together |
//!
//! OpenH264 is under the two-clause BSD licence and is built from source with this crate.
//! The licence is Cisco's for its code; it says nothing about patents.

mod encoder;
mod raw;
mod settings;
mod sizes;

pub use encoder::{OpenError, OpenH264};
pub use settings::Config;
