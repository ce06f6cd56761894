//! Programs that end when this process ends, their output, and private folders for them.

mod folder;
mod group;
mod log;

pub use folder::Folder;
pub use group::Group;
pub use log::Log;
