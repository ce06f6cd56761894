//! AV1 by SVT-AV1: one quantiser for each frame, by what frames like it had.
//!
//! | file | what |
//! |---|---|
//! | `raw` | SVT-AV1's functions made safe; the one file with `unsafe` |
//! | `settings` | what SVT-AV1 is opened with |
//! | `quantiser` | AV1's quantisers on the scale of H.264's |
//! | `sizes` | how large a frame becomes at which quantiser |
//! | `encoder` | [`SvtAv1`], which puts these together |
//!
//! SVT-AV1 is linked dynamically, as the system has it. It is under the three-clause
//! BSD licence in its clear form, with the patent licence of the Alliance for Open
//! Media beside it.

mod encoder;
mod quantiser;
mod raw;
mod settings;
mod sizes;

pub use encoder::{OpenError, SvtAv1};
pub use settings::Config;
