//! Programs that end when we do, what they write, and a folder of their own.

mod clock;
mod folder;
mod group;
mod log;

pub use folder::Folder;
pub use group::Group;
pub use log::Log;
