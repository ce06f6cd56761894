//! Why an offer or a call failed.

use std::fmt::Display;

use mimosa_units::one_line;

/// The reason for text that is no SDP to the library. Its own words name an address in the program's memory.
pub(crate) const UNPARSED: &str = "its lines are not those of SDP (RFC 8866)";
/// Most characters of a reason in the library's words. Our choice: a few lines of a terminal.
const LONGEST: usize = 300;

/// An error of the library in one line.
pub(crate) fn in_short(error: &dyn Display) -> String {
    one_line(&error.to_string(), LONGEST)
}

/// Why an offer was not answered. Every variant is a mistake in the offer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OfferError {
    /// The offer is longer than any browser's.
    #[error("the offer has {bytes} bytes; at most 65536 are read")]
    TooLong {
        /// Length of the offer in bytes.
        bytes: usize,
    },
    /// The text is not SDP.
    #[error("the offer begins with `{line}`; SDP (RFC 8866) begins with `v=0`")]
    NotSdp {
        /// First line of the text, shortened.
        line: String,
    },
    /// The offer has no video section in which the host could send.
    #[error("the offer has no video section to receive; add a transceiver for video, `recvonly`")]
    NoVideo,
    /// The offer and the host have no codec in common.
    #[error(
        "the offer has none of what this host sends, {known}; use a browser or player that \
         decodes it, or start the host with another --encoder"
    )]
    NoCodec {
        /// The forms of codecs that the host can send.
        known: String,
    },
    /// Two codecs have the same payload type.
    #[error("payload type {number} stands for two codecs; give each a number of its own")]
    PayloadTypeTwice {
        /// The payload type.
        number: u8,
    },
    /// The line is not an ICE candidate.
    #[error("`{line}` is no candidate in the form of RFC 8839, section 5.1")]
    Candidate {
        /// The line, shortened.
        line: String,
    },
    /// The text looks like SDP, but cannot be answered.
    #[error("the offer cannot be answered: {reason}")]
    Refused {
        /// The reason in the words of the WebRTC library.
        reason: String,
    },
}

/// Why a call to a host failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The offer would have no codec.
    #[error("there is nothing to offer")]
    NothingOffered,
    /// The text is not an answer to the offer.
    #[error("the host's answer cannot be taken: {reason}")]
    Refused {
        /// The reason in the words of the WebRTC library.
        reason: String,
    },
}
