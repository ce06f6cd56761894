//! Real decoders in real processes that can reach nothing, and processes that are hostile.

#![allow(clippy::unwrap_used, reason = "a test may")]
#![allow(clippy::cast_possible_truncation, reason = "small numbers")]

mod confined;
mod deaths;
mod hostile;
mod pictures;
mod stream;

use mimosa_sandbox::Program;

const PUPPET: &str = env!("CARGO_BIN_EXE_sandbox-puppet");

/// The puppet as a decoder's process.
fn decoder() -> Program {
    Program::new(PUPPET, ["decoder-process"])
}

/// The processes that this one has started from any of its threads and that are there, dead or alive.
fn children() -> Vec<u32> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let mut children = Vec::new();
    for task in tasks.flatten() {
        let listed = std::fs::read_to_string(task.path().join("children"));
        let listed = listed.unwrap_or_default();
        children.extend(
            listed
                .split_whitespace()
                .map(|id| id.parse::<u32>().unwrap()),
        );
    }
    children
}
