//! Files with a secret, such as a token: a process's arguments and environment are seen by more people than a file.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Permissions of a file that others than its owner have.
const OTHERS: u32 = 0o077;

/// A file with a secret cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the secret in {}: {source}", path.display())]
pub(crate) struct SecretFileError {
    path: PathBuf,
    source: io::Error,
}

/// The secret in a file: its text, without the white space around it.
pub(crate) fn read(path: &Path) -> Result<String, SecretFileError> {
    warn_of_others(path);
    let text = std::fs::read_to_string(path).map_err(|source| SecretFileError {
        path: path.to_owned(),
        source,
    })?;
    Ok(text.trim().to_owned())
}

/// Warns if others may read a file with a secret.
pub(crate) fn warn_of_others(path: &Path) {
    let mode = std::fs::metadata(path).map_or(0, |found| found.permissions().mode());
    if mode & OTHERS != 0 {
        tracing::warn!(
            "{} has a secret, and others may read it; `chmod 600` it",
            path.display()
        );
    }
}
