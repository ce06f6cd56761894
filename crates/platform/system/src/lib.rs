//! Parts of a driver: its clock, UDP sockets, threads that wait for sockets and messages at once,
//! their priority, random bits, and programs that it starts.

pub mod clock;
mod mailbox;
pub mod priority;
pub mod process;
pub mod random;
pub mod state;
pub mod udp;

pub use mailbox::{Inbox, Mailbox, mailbox};
