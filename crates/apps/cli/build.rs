//! Finds out which commit the program is built from, for `mimosa --version`.
//!
//! `BUILD_COMMIT` says it where there is no repository, as in `make dist`. Debug builds do not ask
//! git: the command line and its tests would be built again after every commit.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=BUILD_COMMIT");
    let said = std::env::var("BUILD_COMMIT").ok();
    let is_debug = std::env::var("PROFILE").is_ok_and(|profile| profile == "debug");
    let commit = match said.filter(|commit| is_plain(commit)) {
        Some(commit) => commit,
        None if is_debug => "not looked up in a debug build".to_owned(),
        None => in_repository().unwrap_or_else(|| "unknown".to_owned()),
    };
    println!("cargo::rustc-env=BUILD_COMMIT={commit}");
}

/// Whether `commit` is a name that fits on a line.
fn is_plain(commit: &str) -> bool {
    !commit.is_empty()
        && commit
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// The commit that is checked out, abbreviated. Git's log of HEAD changes with every commit and
/// checkout.
fn in_repository() -> Option<String> {
    let log = git(&[
        "rev-parse",
        "--path-format=absolute",
        "--git-path",
        "logs/HEAD",
    ])?;
    println!("cargo::rerun-if-changed={log}");
    git(&["rev-parse", "--short=12", "HEAD"]).filter(|commit| is_plain(commit))
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let line = text.trim_end();
    (output.status.success() && !line.is_empty()).then(|| line.to_owned())
}
