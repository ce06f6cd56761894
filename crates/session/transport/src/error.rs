//! Why there is no session.

/// Why an offer was not answered. Every variant is the viewer's side to fix.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OfferError {
    /// More than any browser writes.
    #[error("the offer has {bytes} bytes; at most 65536 are read")]
    TooLong {
        /// How many.
        bytes: usize,
    },
    /// Something else than SDP.
    #[error("the offer begins with `{line}`; SDP (RFC 8866) begins with `v=0`")]
    NotSdp {
        /// Its first line, shortened.
        line: String,
    },
    /// Nothing to send to.
    #[error("the offer has no video section to receive; add a transceiver for video, `recvonly`")]
    NoVideo,
    /// No codec in common.
    #[error(
        "the offer has none of what this host sends, {known}; use a browser or player that \
         decodes it, or start the host with another --encoder"
    )]
    NoCodec {
        /// What there is.
        known: String,
    },
    /// A candidate that is none.
    #[error("`{line}` is no candidate as RFC 8839, section 5.1, has it")]
    Candidate {
        /// The line, shortened.
        line: String,
    },
    /// It looks like SDP, but cannot be answered.
    #[error("the offer cannot be answered: {reason}")]
    Refused {
        /// In the words of the WebRTC library.
        reason: String,
    },
}

/// Why a call to a host has failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// str0m had nothing to offer.
    #[error("there is nothing to offer")]
    NothingOffered,
    /// One answer has been taken already.
    #[error("the offer has been answered already")]
    Answered,
    /// It looks like an answer, but cannot be taken.
    #[error("the host's answer cannot be taken: {reason}")]
    Refused {
        /// In the words of the WebRTC library.
        reason: String,
    },
}
