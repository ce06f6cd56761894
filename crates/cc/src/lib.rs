//! Congestion controllers, one file or folder per algorithm.
//!
//! Every algorithm implements [`Controller`](mimosa_control::Controller); this
//! crate adds nothing to that interface. [`build`] makes one by name.

pub mod fixed;
pub mod oracle;
mod parameter;
pub mod pudica;
mod registry;
mod windowed_min;

pub use parameter::ParameterError;
pub use registry::{BuildError, NAMES, build};
