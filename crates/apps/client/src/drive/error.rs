//! Why a client does not play.

use mimosa_avcodec::DecodeError;
use mimosa_protocol::problem::Problem;
use mimosa_transport::CallError;

/// Why a client does not play, or stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlayError {
    /// Not the address of a host.
    #[error("`{text}` is no address of a host: {reason}; write http://HOST:PORT/, as it prints it")]
    Address {
        /// What was given.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The host's name is not known, or nothing answers there.
    #[error("{address} cannot be reached: {reason}; is `mimosa serve` running there?")]
    Unreachable {
        /// Where it should be.
        address: String,
        /// In the system's words.
        reason: String,
    },
    /// Something answers that is no host.
    #[error("what answers at {address} is no mimosa host: {reason}")]
    NoHost {
        /// Where.
        address: String,
        /// What it said.
        reason: String,
    },
    /// The host's answer is no.
    #[error("the host refuses: {}", .0.message)]
    Refused(Problem),
    /// There is no connection to be had from offer and answer.
    #[error(transparent)]
    Call(#[from] CallError),
    /// There is no socket to be had.
    #[error("no UDP socket: {0}")]
    Socket(#[source] std::io::Error),
    /// There is no decoder.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// There is no decoder for sound.
    #[error(transparent)]
    Sound(#[from] mimosa_audio::AudioError),
    /// There is no window.
    #[error("{0}")]
    Window(String),
    /// A thread cannot be started.
    #[error("a thread cannot be started: {0}")]
    Thread(#[source] std::io::Error),
}
