//! Both ends of a WebRTC connection, with arbitrary changes to what passes between them. What is done with an input,
//! and what has to hold, is written beside the tests of `mimosa-transport`, which use it too.
#![no_main]

#[path = "../../crates/session/transport/tests/inputs/connection.rs"]
mod connection;

libfuzzer_sys::fuzz_target!(|data: &[u8]| connection::input(data));
