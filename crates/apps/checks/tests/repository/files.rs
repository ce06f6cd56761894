//! Lists the files of the repository.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A text file.
pub(crate) struct TextFile {
    /// Path from the root, with `/` between the parts.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// The root of the repository in which cargo runs this test. The root at compile time may be
/// another checkout with the same target directory.
pub(crate) fn root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR");
    Path::new(&package.expect("run by cargo")).join("../../..")
}

/// Paths of all files that git tracks or would add. `None`, after printing why, if git is not
/// there.
pub(crate) fn paths() -> Option<Vec<String>> {
    let output = Command::new("git")
        .arg("-C")
        .arg(root())
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .output();
    let why = match output {
        Ok(output) if output.status.success() && !output.stdout.is_empty() => {
            let listing = String::from_utf8_lossy(&output.stdout).into_owned();
            return Some(listing.split_terminator('\0').map(str::to_owned).collect());
        }
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(error) => error.to_string(),
    };
    eprintln!("skipped: git does not list this directory: {}", why.trim());
    None
}

/// The text files among [`paths`], without deleted files and those that are not UTF-8.
pub(crate) fn texts() -> Option<Vec<TextFile>> {
    let read = |path: String| {
        let text = std::fs::read_to_string(root().join(&path)).ok()?;
        Some(TextFile { path, text })
    };
    Some(paths()?.into_iter().filter_map(read).collect())
}
