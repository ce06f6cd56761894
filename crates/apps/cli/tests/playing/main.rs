//! `mimosa play` as a user calls it, from `mimosa serve`.

#![allow(clippy::unwrap_used, reason = "a test may")]

mod acme;
mod campaign;
mod decoder;
mod discovery;
mod frozen;
mod gateway;
mod launched;
mod link;
mod nat;
mod pairing;
mod program;
mod relay;
mod sessions;
mod standstill;
mod window;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One session at a time: each has programs of its own that want their processor.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where the folder of a test is.
fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("playing-{name}"))
}

/// An empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let path = place(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
