//! Errors of `mimosa serve`.

use std::path::PathBuf;

use mimosa_host::HostError;
use mimosa_settings::SettingsError;

use crate::secret_file::SecretFileError;

/// Why `mimosa serve` does not run. Each error says what is wrong, where, and what to do instead.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServeError {
    /// The settings file cannot be read.
    #[error("cannot read the settings file {}: {source}; name another with --config", path.display())]
    ReadConfig {
        path: PathBuf,
        source: std::io::Error,
    },
    /// An environment variable is not UTF-8.
    #[error("{name}: its value is not UTF-8; set it anew, or unset it")]
    NotText { name: String },
    /// A file with a token cannot be read.
    #[error(transparent)]
    Token(#[from] SecretFileError),
    /// The settings are wrong.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The log cannot be started.
    #[error("cannot start the log: {0}")]
    Log(String),
    /// The host did not start, or failed.
    #[error(transparent)]
    Host(#[from] HostError),
}
