//! Both ends of the proxy around an application without congestion control, over a simulated link.

#![allow(clippy::unwrap_used, reason = "a test may")]

mod application;
mod asking;
mod bad_input;
mod falling;
mod key;
mod l4s;
mod path;
mod run;
