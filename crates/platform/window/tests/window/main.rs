//! A real window on a real X server, in memory, and sound through a real PulseAudio.

#![allow(clippy::unwrap_used, reason = "a test may")]
#![allow(clippy::cast_possible_truncation, reason = "small numbers")]

#[path = "../../../x11/tests/x11/desk.rs"]
#[allow(dead_code, reason = "other tests use the rest of it")]
mod desk;

mod input;
mod pictures;
mod program;
mod sound;
mod window;

/// The network, the decoder and the sound have threads of their own.
#[test]
fn what_goes_to_another_thread_can() {
    fn check<T: Send>() {}
    check::<mimosa_window::Waker>();
    check::<mimosa_window::Speaker>();
    check::<mimosa_window::WindowEvent>();
}
