//! Tests against a real X server, in memory.

#![allow(clippy::unwrap_used, reason = "a test may")]

mod capture;
mod clipboard;
mod confine;
mod cursor;
mod desk;
mod doom;
mod game;
mod input;
mod server;
mod typing;

/// A driver gives each of these types its own thread.
#[test]
fn all_can_go_to_another_thread() {
    fn check<T: Send>() {}
    check::<mimosa_x11::Capture>();
    check::<mimosa_x11::Clipboard>();
    check::<mimosa_x11::Injector>();
    check::<mimosa_x11::PrivateServer>();
    check::<mimosa_x11::Game>();
}
