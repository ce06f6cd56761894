//! Controllers from outside the program decide as their twin in Rust does, and what goes wrong with
//! them is said.

mod aimd;
mod mistakes;
mod twins;

use std::path::{Path, PathBuf};

/// The folder of the controllers that the tests run.
fn controllers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../platform/outside/controllers")
}

/// A file of that folder, as a command or a scenario names it.
fn controller(file: &str) -> String {
    controllers().join(file).display().to_string()
}

/// A link whose rate falls, with jitter and losses, and a flow that pauses.
const SCENARIO: &str = r#"duration = "5s"
[link]
one_way_delay = "15ms"
jitter = { kind = "normal", deviation = "4ms", most = "12ms" }
loss = 0.005
queue = { kind = "droptail", limit = "400ms" }
steps = [
    { at = "0s", rate = "20Mbit/s" },
    { at = "2s", rate = "3Mbit/s" },
    { at = "3s", rate = "12Mbit/s" },
]
[[flow]]
name = "game"
start_bitrate = "8Mbit/s"
max_bitrate = "30Mbit/s"
pauses = [{ from = "1s", to = "1.5s" }]
"#;
