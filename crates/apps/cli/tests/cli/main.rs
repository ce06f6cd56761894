//! The command line, as a user calls it.

#![allow(clippy::unwrap_used, reason = "a test may")]

mod commands;
mod faults;
mod fleets;
mod hostile;
mod labs;
mod links;
mod outputs;
mod outside;
mod proxying;
mod quality;
#[cfg(feature = "x264")]
mod recordings;
mod refusals;
mod reports;
mod service;
mod serving;
mod traces;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// An empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// What `mimosa` does in `folder` with `arguments`, which spaces separate.
fn mimosa(folder: &Path, arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mimosa"))
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .output()
        .unwrap()
}

/// The standard output of a call that succeeds and has nothing to complain of.
fn stdout(folder: &Path, arguments: &str) -> String {
    let output = mimosa(folder, arguments);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "mimosa {arguments}: {errors}");
    assert_eq!(errors, "", "mimosa {arguments}");
    String::from_utf8(output.stdout).unwrap()
}
