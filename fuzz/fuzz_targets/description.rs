//! Session descriptions from arbitrary text. What is done with an input,
//! and what has to hold, is written beside the tests of `mimosa-transport`, which use it too.
#![no_main]

#[path = "../../crates/session/transport/tests/inputs/description.rs"]
mod description;

libfuzzer_sys::fuzz_target!(|data: &[u8]| description::input(data));
