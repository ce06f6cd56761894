//! What comes out of a client.

use std::net::{IpAddr, SocketAddr};
use std::ops::Range;

/// Why there is no relayed address, or none any more.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Trouble {
    /// Nothing comes from the relay.
    #[error("it does not answer")]
    Unanswered,
    /// The relay does not take the credentials.
    #[error(
        "it does not take the host's credentials ({code} {reason}): relay.secret has to be the relay's own \
         (static-auth-secret of coturn), and the clocks of both have to agree"
    )]
    Credentials {
        /// The number of the error (RFC 8489, section 14.8).
        code: u16,
        /// The relay's words.
        reason: String,
    },
    /// The relay refuses.
    #[error("it refuses: {code} {reason}")]
    Refused {
        /// The number of the error (RFC 8656, section 19).
        code: u16,
        /// The relay's words.
        reason: String,
    },
    /// The relay does not know the allocation: it was started again.
    #[error("it has forgotten the host's address there")]
    Forgotten,
    /// The allocation was not refreshed in time.
    #[error("the host's address there has expired")]
    Expired,
    /// The relay has granted something without saying what.
    #[error("its answer names no address")]
    Unreadable,
}

/// Something that happened to the allocation.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Event {
    /// Peers reach the client at this address from now on.
    Allocated(SocketAddr),
    /// There is no relayed address, and [`Client::begin`](crate::Client::begin) is due later.
    Failed(Trouble),
    /// The relay does not let this address send to the relayed one.
    Forbidden {
        /// The peer's address.
        peer: IpAddr,
        /// The number of the error (RFC 8656, section 19).
        code: u16,
    },
}

/// Data from a peer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Carried {
    /// Who sent them to the relayed address.
    pub peer: SocketAddr,
    /// Where in the relay's datagram they are.
    pub data: Range<usize>,
}
