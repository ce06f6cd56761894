//! The files of the repository.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A text file.
pub(crate) struct TextFile {
    /// Its path from the root, with `/` between the parts.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// The root of the repository, from where cargo runs this test: what was there
/// when it was compiled may be another checkout with the same target directory.
pub(crate) fn root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR");
    Path::new(&package.expect("run by cargo")).join("../../..")
}

/// The paths of all files that are tracked or about to be: what git ignores is
/// left out. `None`, and a line that says why, where git cannot tell.
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

/// The text files among [`paths`]; what was deleted or is not UTF-8 is left out.
pub(crate) fn texts() -> Option<Vec<TextFile>> {
    let read = |path: String| {
        let text = std::fs::read_to_string(root().join(&path)).ok()?;
        Some(TextFile { path, text })
    };
    Some(paths()?.into_iter().filter_map(read).collect())
}
