//! Why the host does not run.

use std::net::SocketAddr;
use std::path::PathBuf;

/// Why the host did not start, or stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// None of the addresses is this machine's.
    #[error("none of the addresses to bind is this machine's; choose another with --bind")]
    NoAddress,
    /// An address or port is taken or not ours.
    #[error(
        "cannot listen on {protocol} {address}: {error}; choose another with --bind or --{flag}"
    )]
    Bind {
        /// `TCP` or `UDP`.
        protocol: &'static str,
        /// Which.
        address: SocketAddr,
        /// The flag that sets the port.
        flag: &'static str,
        /// The system's reason.
        error: std::io::Error,
    },
    /// The network's interfaces cannot be listed.
    #[error("cannot list the network's interfaces: {0}")]
    Interfaces(std::io::Error),
    /// The system gave no thread, timer or descriptor.
    #[error("the system refused a thread or file descriptor: {0}")]
    Thread(std::io::Error),
    /// The encoder does not open.
    #[error("no encoder opens: {0}; change its settings, or choose another with --encoder")]
    Encoder(String),
    /// The encoder failed at a picture.
    #[error("the encoder failed: {0}")]
    Encode(#[from] mimosa_video::EncodeError),
    /// The source does not start.
    #[error("{0}")]
    Source(String),
    /// Gamepads shall be devices of the kernel.
    #[error("no gamepads: {0}; or let them press keys, with --gamepads auto")]
    Gamepads(#[from] mimosa_uinput::UinputError),
    /// The controller's parameters are wrong.
    #[error("controller: {0}")]
    Controller(#[from] mimosa_cc::BuildError),
    /// There is no such pacer.
    #[error("pacer: {0}")]
    Pacer(#[from] mimosa_stream::pace::PolicyError),
    /// The folder for recordings cannot be used.
    #[error("cannot write recordings to {folder}: {error}")]
    Record {
        /// Which folder.
        folder: PathBuf,
        /// The system's reason.
        error: std::io::Error,
    },
    /// The source failed while sessions were running.
    #[error("{0}")]
    SourceEnded(String),
    /// A thread of the host has died.
    #[error("the {0} has stopped; its last messages in the log say why")]
    Died(&'static str),
}
