//! AV1 by SVT-AV1: one quantiser for each frame, chosen from the sizes of similar frames.
//!
//! | file | what |
//! |---|---|
//! | `library` | SVT-AV1 itself, loaded where it is installed |
//! | `raw` | SVT-AV1's functions made safe |
//! | `settings` | the settings that SVT-AV1 is opened with |
//! | `quantiser` | AV1's quantisers on H.264's scale |
//! | `sizes` | how large a frame becomes at which quantiser |
//! | `encoder` | [`SvtAv1`], which puts these together |
//!
//! Only `library` and `raw` have `unsafe` code.
//!
//! SVT-AV1 is loaded when the first encoder is opened. It is under the three-clause BSD licence
//! in its clear form, together with the patent licence of the Alliance for Open Media.

mod encoder;
mod library;
mod quantiser;
mod raw;
mod settings;
mod sizes;

pub use encoder::{OpenError, SvtAv1};
pub use settings::Config;
