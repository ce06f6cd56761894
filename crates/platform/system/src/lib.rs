//! Parts of a driver: its clock, threads that wait for sockets and messages at once, their
//! priority, and programs that it starts.

pub mod clock;
mod mailbox;
pub mod priority;
pub mod process;

pub use mailbox::{Inbox, Mailbox, mailbox};
