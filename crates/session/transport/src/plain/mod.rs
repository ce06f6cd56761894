//! A connection without encryption, for simulations: as quick to run as memory is copied.
//!
//! [`Host`] and [`Viewer`] have the interface of the WebRTC ends,
//! [`HostTransport`](crate::HostTransport) and [`ViewerTransport`](crate::ViewerTransport),
//! the same packets of RTP and RTCP inside, and datagrams of the same sizes. Instead of ICE,
//! DTLS and SRTP each datagram has the connection's number; instead of SCTP the channels
//! have reliable messages of their own (`channel.rs`). Nothing here is safe on a network:
//! whoever knows the number is believed.

mod channel;
mod host;
mod link;
mod viewer;
mod wire;

use std::net::SocketAddr;

pub use self::host::Host;
pub use self::viewer::Viewer;
use crate::ends::Agreed;

/// First byte of a datagram that asks for a keyframe.
pub const KEYFRAME: u8 = wire::Kind::Keyframe as u8;

/// What both ends of a plain connection know from the beginning; in WebRTC, offer and answer
/// say it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// What was agreed on.
    pub agreed: Agreed,
    /// Number of the connection, which each datagram carries.
    pub id: u64,
    /// First RTP sequence number of each stream.
    pub first_sequence: u16,
    /// Address of the host.
    pub host: SocketAddr,
    /// Address of the viewer.
    pub viewer: SocketAddr,
}
