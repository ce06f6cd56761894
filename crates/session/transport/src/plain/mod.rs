//! A connection without encryption, for simulations: running it costs hardly more than copying
//! memory.
//!
//! [`Host`] and [`Viewer`] implement [`HostTransport`](crate::HostTransport) and
//! [`ViewerTransport`](crate::ViewerTransport), as the WebRTC ends do. They exchange the same RTP
//! and RTCP packets, in datagrams of the same sizes. In place of ICE, DTLS and SRTP, each datagram
//! carries the connection's number. In place of SCTP, the channels have a simple reliable protocol
//! (`channel.rs`). A plain connection is not safe on a network: an end accepts anything from anyone
//! who knows the number.

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

/// What both ends of a plain connection know from the beginning. In WebRTC, offer and answer carry
/// it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// What both ends have agreed on.
    pub agreed: Agreed,
    /// The connection's number, which each datagram carries.
    pub id: u64,
    /// First RTP number of each stream.
    pub first_sequence: u16,
    /// Address of the host.
    pub host: SocketAddr,
    /// Address of the viewer.
    pub viewer: SocketAddr,
}
