//! What a host tells of its relay: the answer to `GET /api/relay` (`docs/embed/protocol.md`, "The relay").

use serde::{Deserialize, Serialize};

/// The relays that a page may use.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct IceServers {
    /// The relays, in the form of `RTCConfiguration.iceServers`; none where the host has no relay.
    pub ice_servers: Vec<IceServer>,
}

/// A relay with credentials that end.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct IceServer {
    /// URLs of the relay (RFC 7065).
    pub urls: Vec<String>,
    /// The name, which is the second of Unix at which the credentials end.
    pub username: String,
    /// The password.
    pub credential: String,
}
