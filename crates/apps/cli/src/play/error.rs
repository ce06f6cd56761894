//! Errors of `mimosa play`.

use crate::output::OutputError;
use crate::secret_file::SecretFileError;

/// Why `mimosa play` does not play.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlayError {
    #[error("cannot start the log: {0}")]
    Log(String),
    #[error("{}", heard(&.0.to_string()))]
    Client(#[from] mimosa_client::PlayError),
    #[error(transparent)]
    Discovery(#[from] mimosa_discovery::DiscoveryError),
    #[error(
        "no host was found in this network: one that is bound to loopback alone, as hosts are without `--bind`, or that says `announce = \"off\"`, announces nothing, and a firewall may keep UDP port 5353 closed; with the URL that `mimosa serve` prints, `mimosa play URL` needs no announcement"
    )]
    NoneFound,
    #[error(
        "`{}` is no number of the list; say one from 1 to {most}",
        heard(given)
    )]
    Choice { given: String, most: usize },
    #[error("{0}")]
    Pairing(String),
    #[error(transparent)]
    Token(#[from] SecretFileError),
    #[error(transparent)]
    Report(#[from] OutputError),
    #[cfg(not(feature = "window"))]
    #[error("{0}, or play with --headless")]
    NoWindow(String),
    #[error(
        "the host answers, and nothing comes from it by UDP: let its UDP port (8081 unless set) through the firewall of its machine; where a router or a container is in between, forward that port and start the host with --advertise and the address that is reached from here"
    )]
    NoWay,
    #[error("no picture was seen: {}", heard(end))]
    NoPicture { end: String },
}

/// A host's text, which may contain anything, in the form of a part of one line.
pub(super) fn heard(text: &str) -> String {
    /// Longer than any message of ours, in characters.
    const LONGEST: usize = 1_000;
    mimosa_units::one_line(text, LONGEST)
}
