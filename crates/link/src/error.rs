//! What can go wrong on the way to a running link.

use std::path::PathBuf;

/// Why there is no link.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// A namespace that is not there, or may not be entered.
    #[error(
        "cannot enter the network namespace {}: {error}; run as root, and see `ip netns list`",
        .path.display()
    )]
    Namespace {
        /// Its file.
        path: PathBuf,
        /// The system's word.
        error: std::io::Error,
    },
    /// No device.
    #[error(
        "cannot create the device `{name}`: {error}; it needs /dev/net/tun and the right CAP_NET_ADMIN in its namespace (run as root)"
    )]
    Device {
        /// Its name.
        name: String,
        /// The system's word.
        error: std::io::Error,
    },
    /// The system has no thread left.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
}
