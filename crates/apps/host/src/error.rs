//! Errors of the host.

use std::net::SocketAddr;
use std::path::PathBuf;

use crate::tls::TlsError;

/// Why the host did not start, or stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// No address to bind belongs to this machine.
    #[error("none of the addresses to bind is this machine's; choose another with --bind")]
    NoAddress,
    /// An address or port is in use, or not allowed to this user.
    #[error(
        "cannot listen on {protocol} {address}: {error}; choose another with --bind or --{flag}"
    )]
    Bind {
        /// `TCP` or `UDP`.
        protocol: &'static str,
        /// The address that could not be bound.
        address: SocketAddr,
        /// The flag that sets the port.
        flag: &'static str,
        /// The system's error.
        error: std::io::Error,
    },
    /// There is no certificate for HTTPS.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The network interfaces cannot be listed.
    #[error("cannot list the network's interfaces: {0}")]
    Interfaces(std::io::Error),
    /// The system refused a thread, a timer or a descriptor.
    #[error("the system refused a thread or file descriptor: {0}")]
    Thread(std::io::Error),
    /// No encoder opens.
    #[error("no encoder opens: {0}; change its settings, or choose another with --encoder")]
    Encoder(String),
    /// The encoder failed at a picture.
    #[error("the encoder failed: {0}")]
    Encode(#[from] mimosa_video::EncodeError),
    /// The source does not start.
    #[error("{0}")]
    Source(String),
    /// Gamepads have to be kernel devices, and cannot be.
    #[error("no gamepads: {0}; or let them press keys, with --gamepads auto")]
    Gamepads(#[from] mimosa_uinput::UinputError),
    /// The controller's parameters are wrong.
    #[error("controller: {0}")]
    Controller(#[from] mimosa_cc::BuildError),
    /// The controller from outside the program does not begin.
    #[error("{0}")]
    Outside(String),
    /// The pacing policy is unknown or invalid.
    #[error("pacer: {0}")]
    Pacer(#[from] mimosa_stream::pace::PolicyError),
    /// The folder for recordings cannot be used.
    #[error("cannot write recordings to {folder}: {error}")]
    Record {
        /// The folder.
        folder: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// The source failed while sessions were running.
    #[error("{0}")]
    SourceEnded(String),
    /// A thread of the host ended unexpectedly.
    #[error("the {0} has stopped; its last messages in the log say why")]
    Died(&'static str),
}
