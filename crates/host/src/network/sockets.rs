//! The UDP sockets: one for each address, since a wildcard would hide which of our
//! addresses a datagram came in on.

use std::net::{IpAddr, SocketAddr, UdpSocket};

use mimosa_webrtc::Datagram;

use crate::error::HostError;

/// Most that is asked of the system for each buffer: half a second at 50 Mbit/s.
const BUFFER: usize = 3 << 20;

/// Sockets, each on one address.
#[derive(Debug)]
pub(crate) struct Sockets {
    sockets: Vec<(SocketAddr, UdpSocket)>,
}

impl Sockets {
    /// Binds all `addresses`, an unspecified one (`0.0.0.0`, `::`) standing for
    /// all of its family that the machine has now. All get the same port; zero is
    /// a free one.
    ///
    /// # Errors
    ///
    /// [`HostError::Bind`] or [`HostError::Interfaces`].
    pub(crate) fn bind(addresses: &[IpAddr], port: u16) -> Result<Self, HostError> {
        let mut sockets = Vec::new();
        let mut port = port;
        for address in resolved(addresses)? {
            let address = SocketAddr::new(address, port);
            let failed = |error| HostError::Bind {
                protocol: "UDP",
                address,
                flag: "udp-port",
                error,
            };
            let socket = match UdpSocket::bind(address) {
                Ok(socket) => socket,
                Err(error) if is_absent(address, &error) => continue,
                Err(error) => return Err(failed(error)),
            };
            socket.set_nonblocking(true).map_err(failed)?;
            // The system gives less when it allows less.
            let _ = rustix::net::sockopt::set_socket_send_buffer_size(&socket, BUFFER);
            let _ = rustix::net::sockopt::set_socket_recv_buffer_size(&socket, BUFFER);
            let bound = socket.local_addr().map_err(failed)?;
            port = bound.port();
            sockets.push((bound, socket));
        }
        if sockets.is_empty() {
            return Err(HostError::NoAddress);
        }
        Ok(Self { sockets })
    }

    /// The addresses that are bound.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.sockets.iter().map(|(address, _)| *address).collect()
    }

    /// The sockets with their addresses.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(SocketAddr, UdpSocket)> {
        self.sockets.iter()
    }

    /// How many.
    pub(crate) const fn len(&self) -> usize {
        self.sockets.len()
    }

    /// Sends a datagram; what the system does not take is lost, as on any network.
    pub(crate) fn send(&self, datagram: &Datagram) -> bool {
        self.sockets
            .iter()
            .find(|(address, _)| *address == datagram.source)
            .is_some_and(|(_, socket)| {
                socket
                    .send_to(&datagram.contents, datagram.destination)
                    .is_ok()
            })
    }

    /// Takes a datagram from one of them: our address, its length, its sender's.
    pub(crate) fn receive(
        &self,
        index: usize,
        buffer: &mut [u8],
    ) -> Option<(SocketAddr, usize, SocketAddr)> {
        let (local, socket) = self.sockets.get(index)?;
        // An error of an earlier send shows here once; there may be more to read.
        let (length, from) = (0..2).find_map(|_| socket.recv_from(buffer).ok())?;
        Some((*local, length, from))
    }
}

/// Whether an address could not be bound because this machine does without IPv6,
/// in which case IPv4 will do.
pub(crate) fn is_absent(address: SocketAddr, error: &std::io::Error) -> bool {
    let is_none = error.kind() == std::io::ErrorKind::AddrNotAvailable
        || error.raw_os_error() == Some(rustix::io::Errno::AFNOSUPPORT.raw_os_error());
    if is_none && address == SocketAddr::from((std::net::Ipv6Addr::LOCALHOST, address.port())) {
        tracing::info!("this machine has no IPv6");
        return true;
    }
    false
}

/// Wildcards resolved; link-local IPv6 addresses are left out, as they mean
/// nothing without a zone.
fn resolved(addresses: &[IpAddr]) -> Result<Vec<IpAddr>, HostError> {
    let mut all = Vec::new();
    for &address in addresses {
        if address.is_unspecified() {
            let interfaces = if_addrs::get_if_addrs().map_err(HostError::Interfaces)?;
            all.extend(
                interfaces
                    .iter()
                    .map(if_addrs::Interface::ip)
                    .filter(|ip| ip.is_ipv4() == address.is_ipv4() && !is_link_local(*ip)),
            );
        } else {
            all.push(address);
        }
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

const fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(_) => false,
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    }
}
