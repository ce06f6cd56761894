//! Congestion controllers, one file or folder per algorithm.
//!
//! Every algorithm implements [`Controller`](mimosa_facts::Controller), and [`Named`] as an
//! entry of the table in `registry.rs`, which declares its module. [`build`] makes a
//! controller by its name.

#[macro_use]
mod version;
#[macro_use]
mod registry;

controllers!(modules);

mod frame_ring;
mod named;
pub mod needs;
mod parameter;
mod send_queue;
pub mod window;
pub mod windowed;
mod windowed_min;

pub use named::Named;
pub use parameter::ParameterError;
pub use registry::{BuildError, NAMES, build};
