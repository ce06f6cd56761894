//! Errors of the client.

use mimosa_avcodec::DecodeError;
use mimosa_protocol::problem::Problem;
use mimosa_sandbox::SandboxError;
use mimosa_tls::KeyHash;
use mimosa_transport::CallError;

/// Why a client does not play, or stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlayError {
    /// The text is not the address of a host.
    #[error(
        "`{text}` is no address of a host: {reason}; write https://HOST:PORT/, or http://, as it prints it"
    )]
    Address {
        /// The text that was given.
        text: String,
        /// What is wrong with the text.
        reason: String,
    },
    /// The host's name is unknown, or nothing answers at its address.
    #[error("{address} cannot be reached: {reason}; is `mimosa serve` running there?")]
    Unreachable {
        /// Address of the host.
        address: String,
        /// The system's error.
        reason: String,
    },
    /// Nobody vouches for what answers.
    #[error(
        "{address} is not trusted: {why}. Its key is {key}. Compare it with the `key=` in the URL that the host printed: if both are the same, play with that URL, or with --key {key}"
    )]
    Untrusted {
        /// Address of the host.
        address: String,
        /// The reason.
        why: String,
        /// The key that it has shown.
        key: KeyHash,
    },
    /// What answers has another key than the host.
    #[error(
        "what answers at {address} has not the host's key, but {shown}: another program has its place, or somebody is in between. If the host was given a new key, use the URL that it prints now"
    )]
    OtherKey {
        /// Address of the host.
        address: String,
        /// The key that was shown.
        shown: KeyHash,
    },
    /// What answers is not a host.
    #[error("what answers at {address} is no mimosa host: {reason}")]
    NoHost {
        /// Address of the host.
        address: String,
        /// A description of the answer.
        reason: String,
    },
    /// The answer comes from somebody who does not know the token, or was changed on its way.
    #[error(
        "what answers at {address} does not know the token, or its answer was changed on the way; check the address and the token with the host's owner"
    )]
    NotProven {
        /// Address of the host.
        address: String,
    },
    /// What the host would call this client is no name.
    #[error(
        "`{0}` is no name for the host's list; write 1 to 40 bytes of visible text with --name"
    )]
    Name(String),
    /// The token of a pairing cannot be kept.
    #[error("the token of this pairing cannot be kept: {0}; pair again when it can")]
    Keep(#[source] std::io::Error),
    /// The host refuses the session.
    #[error("the host refuses: {}", .0.message)]
    Refused(Problem),
    /// The host does not test the line.
    #[error("the line is not tested: {0}")]
    LineNotTested(String),
    /// Offer or answer cannot be used.
    #[error(transparent)]
    Call(#[from] CallError),
    /// No UDP socket can be opened.
    #[error("no UDP socket: {0}")]
    Socket(#[source] std::io::Error),
    /// Video cannot be decoded.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The decoder cannot be put into a process that can reach nothing.
    #[error(
        "the decoder cannot be kept from files and the network: {0}; `--decoder-sandbox off` plays without that, with hosts that you trust"
    )]
    NoSandbox(#[source] SandboxError),
    /// The decoder's process ended too often.
    #[error(transparent)]
    DecoderGone(SandboxError),
    /// Sound cannot be decoded.
    #[error(transparent)]
    Sound(#[from] mimosa_audio::AudioError),
    /// No window can be opened.
    #[error("{0}")]
    Window(String),
    /// A thread cannot be started.
    #[error("a thread cannot be started: {0}")]
    Thread(#[source] std::io::Error),
}
