//! A peer and a browser that str0m plays, over a network of the test's, in virtual
//! time.

#![allow(clippy::unwrap_used, reason = "a test may")]

mod browser;
mod caller;
mod connection;
mod feedback;
mod hostile;
mod inputs;
mod media;
mod offers;
mod rtp;
mod sound;
mod world;
