//! `mimosa link` as a user calls it, with real programs behind real links.
//!
//! Without the rights to make network namespaces the tests say so and do nothing, unless
//! `CI` is set.

#![allow(clippy::unwrap_used, reason = "a test may")]

mod beyond;
mod keeping;
mod running;
mod tcp;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

/// An empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("link-{name}"));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// A name for a link that no other run of these tests has.
fn unique(name: &str) -> String {
    format!("test-{}-{name}", std::process::id())
}

/// `mimosa link` in `folder`; `arguments` are separated by spaces.
fn link(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mimosa"));
    command
        .arg("link")
        .args(arguments.split_whitespace())
        .current_dir(folder);
    command
}

/// What comes of it.
fn done(folder: &Path, arguments: &str) -> Output {
    link(folder, arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Writes the network `text` as `path.toml` into a new folder of this name; `None`
/// without the rights to emulate it, which under CI is a failure.
fn with_network(name: &str, network: &str) -> Option<PathBuf> {
    let folder = folder(name);
    std::fs::write(folder.join("path.toml"), network).unwrap();
    let output = done(&folder, "run path.toml --isolated -- true");
    if output.status.success() {
        return Some(folder);
    }
    let said = text(&output.stderr);
    assert!(std::env::var_os("CI").is_none(), "{said}");
    eprintln!("skipped: {said}");
    None
}

/// Whether `what` becomes true soon.
fn soon(mut what: impl FnMut() -> bool) -> bool {
    for _ in 0..250 {
        if what() {
            return true;
        }
        std::thread::park_timeout(Duration::from_millis(20));
    }
    false
}
