//! Congestion controllers, one file or folder per algorithm.
//!
//! Every algorithm implements [`Controller`](mimosa_facts::Controller); this
//! crate adds nothing to that interface. [`build`] makes one by name.

pub mod bbr_app;
pub mod c3g;
pub mod copa;
pub mod fixed;
mod frame_ring;
pub mod gcc;
pub mod mimosa;
pub mod nada;
pub mod needs;
pub mod oracle;
mod parameter;
pub mod pudica;
mod registry;
pub mod salsify;
pub mod scream;
mod send_queue;
pub mod sqp;
pub mod window;
pub mod windowed;
mod windowed_min;

pub use parameter::ParameterError;
pub use registry::{BuildError, NAMES, build};
