//! Errors of the two ends.

use std::net::SocketAddr;

/// Why an end does not run.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// A UDP socket could not be bound.
    #[error("cannot listen at UDP {address}: {error}; choose another address or port")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        error: std::io::Error,
    },
    /// The next port, for RTCP, does not exist.
    #[error("{address} has no next port for RTCP: choose a lower one, or --rtcp-mux")]
    NoNextPort {
        /// The address of the RTP port.
        address: SocketAddr,
    },
    /// The socket for the application's connections could not be made.
    #[error("cannot listen at {place}: {error}")]
    Interface {
        /// The place, as it was given.
        place: String,
        /// The system's error.
        error: std::io::Error,
    },
    /// The system has no file descriptor or no thread left.
    #[error("cannot start: {0}")]
    Start(std::io::Error),
}
