//! The client's UDP socket.

use std::net::{SocketAddr, UdpSocket};

use mimosa_system::udp::StampedSocket;

/// A socket at the address from which this machine reaches `host`.
pub(super) fn towards(host: SocketAddr) -> std::io::Result<StampedSocket> {
    let any: SocketAddr = match host {
        SocketAddr::V4(_) => ([0, 0, 0, 0], 0).into(),
        SocketAddr::V6(_) => ([0_u16; 8], 0).into(),
    };
    // Connecting a UDP socket sends nothing; it makes the system choose a route.
    let way = UdpSocket::bind(any)?;
    way.connect(host)?;
    StampedSocket::bind((way.local_addr()?.ip(), 0).into())
}
