//! Threads that wait for sockets and messages at once, and go before others.

mod mailbox;
pub mod priority;

pub use mailbox::{Inbox, Mailbox, mailbox};
