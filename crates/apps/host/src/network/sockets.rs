//! The UDP sockets: one for each address, because a wildcard would hide at which of the host's
//! addresses a datagram came.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;

use mimosa_system::udp::{self, BatchSocket};
use mimosa_transport::Datagram;
use mimosa_units::Time;

use super::relay::Relay;
use super::streams::Streams;
use crate::error::HostError;

/// The sockets, each bound to one address, and the streams of TCP.
#[derive(Debug)]
pub(crate) struct Sockets {
    udp: Vec<BatchSocket>,
    port: u16,
    /// The addresses that could not be bound, of which the log has been told.
    refused: BTreeSet<IpAddr>,
    pub(super) streams: Streams,
    /// The host's address at a relay, if it has a relay.
    pub(super) relay: Option<Relay>,
}

/// Datagrams that were received together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    /// The host's address at which they came.
    pub(crate) local: SocketAddr,
    pub(crate) datagrams: udp::Received,
}

impl Sockets {
    /// Binds all `addresses`. An unspecified address (`0.0.0.0`, `::`) stands for all addresses of
    /// its family that the machine has now. All sockets have the same port; zero is any free port.
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
            match BatchSocket::bind(address) {
                Ok(socket) => {
                    port = socket.address().port();
                    sockets.push(socket);
                }
                Err(error) if is_absent(address, &error) => {}
                Err(error) => return Err(failed(error)),
            }
        }
        if sockets.is_empty() {
            return Err(HostError::NoAddress);
        }
        Ok(Self {
            udp: sockets,
            port,
            refused: BTreeSet::new(),
            streams: Streams::default(),
            relay: None,
        })
    }

    /// Binds those of `addresses` that have no socket yet, and closes the sockets of all others.
    /// Returns whether anything has changed. What cannot be bound is tried again at the next call:
    /// an address of IPv6 is of no use in its first second (RFC 4862, section 5.4).
    pub(crate) fn change(&mut self, addresses: &[IpAddr]) -> bool {
        let before = self.udp.len();
        self.udp
            .retain(|socket| addresses.contains(&socket.address().ip()));
        let mut has_changed = self.udp.len() < before;
        self.refused.retain(|address| addresses.contains(address));
        for &ip in addresses {
            if self.udp.iter().any(|socket| socket.address().ip() == ip) {
                continue;
            }
            match BatchSocket::bind(SocketAddr::new(ip, self.port)) {
                Ok(socket) => {
                    self.refused.remove(&ip);
                    self.udp.push(socket);
                    has_changed = true;
                }
                Err(error) => {
                    if self.refused.insert(ip) {
                        tracing::warn!(%ip, port = self.port, %error, "UDP cannot be bound yet");
                    }
                }
            }
        }
        has_changed
    }

    /// The addresses of the sockets.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.udp.iter().map(BatchSocket::address).collect()
    }

    /// The descriptors to wait for, in the order of the indices of [`Self::receive`].
    pub(crate) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let own = self.udp.iter().map(BatchSocket::fd);
        own.chain(self.relay.as_ref().and_then(Relay::fd))
    }

    /// Sends datagrams, with as many as possible in one call. Datagrams that the system does not
    /// take are lost; returns their number.
    pub(crate) fn send(&mut self, now: Time, datagrams: impl Iterator<Item = Datagram>) -> u64 {
        let mut unsent = 0;
        for datagram in datagrams {
            let mut sockets = self.udp.iter_mut();
            let socket = sockets.find(|socket| socket.address() == datagram.source);
            unsent += match socket {
                Some(socket) => socket.send(datagram.destination, datagram.ecn, &datagram.contents),
                None => match &mut self.relay {
                    Some(relay) if relay.relayed() == Some(datagram.source) => {
                        relay.send(now, &datagram)
                    }
                    _ => u64::from(!self.streams.send(&datagram)),
                },
            };
        }
        unsent += self.relay.as_mut().map_or(0, Relay::flush);
        unsent + self.udp.iter_mut().map(BatchSocket::flush).sum::<u64>()
    }

    /// Receives datagrams from one socket into `buffer`, which has [`udp::LARGEST`] bytes; `None` if
    /// there are no more.
    pub(crate) fn receive(&self, index: usize, buffer: &mut [u8]) -> Option<Received> {
        let relay = || self.relay.as_ref()?.socket();
        let socket = self.udp.get(index).or_else(relay)?;
        Some(Received {
            local: socket.address(),
            datagrams: socket.receive(buffer)?,
        })
    }
}

impl Sockets {
    /// What a datagram brings that came from the first of two addresses to the second: itself, or what a peer has
    /// sent by the relay, with the peer's address and the host's address at the relay; `None` if it is the relay's own.
    pub(super) fn arrived<'a>(
        &mut self,
        now: impl FnOnce() -> Time,
        (from, local): (SocketAddr, SocketAddr),
        data: &'a [u8],
    ) -> Option<((SocketAddr, SocketAddr), &'a [u8])> {
        let relay = self.relay.as_mut();
        match relay.filter(|relay| relay.is_at(local)) {
            Some(relay) => relay.receive(now(), from, data),
            None => Some(((from, local), data)),
        }
    }
}

/// Whether an address could not be bound because this machine has no IPv6, in which case IPv4
/// suffices.
pub(crate) fn is_absent(address: SocketAddr, error: &std::io::Error) -> bool {
    let is_none = error.kind() == std::io::ErrorKind::AddrNotAvailable
        || error.raw_os_error() == Some(rustix::io::Errno::AFNOSUPPORT.raw_os_error());
    if is_none && address == SocketAddr::from((std::net::Ipv6Addr::LOCALHOST, address.port())) {
        tracing::info!("this machine has no IPv6");
        return true;
    }
    false
}

/// The addresses with wildcards resolved. Link-local IPv6 addresses are left out, because they mean
/// nothing without a zone.
pub(super) fn resolved(addresses: &[IpAddr]) -> Result<Vec<IpAddr>, HostError> {
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

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use mimosa_units::Ecn;

    use super::*;

    fn peer() -> UdpSocket {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket
            .set_read_timeout(Some(std::time::Duration::from_secs(5)))
            .unwrap();
        socket
    }

    #[test]
    fn datagrams_that_leave_together_arrive_apart_and_in_order() {
        let mut sockets = Sockets::bind(&[IpAddr::from([127, 0, 0, 1])], 0).unwrap();
        let source = sockets.addresses()[0];
        let peers = [peer(), peer()];
        // Equal datagrams, a smaller one that ends a batch, a larger one, an empty one, and one to
        // another destination in between.
        let some = [
            (0, 1_200),
            (0, 1_200),
            (0, 1_200),
            (0, 700),
            (0, 700),
            (0, 1_200),
            (1, 1_200),
            (0, 1_200),
            (0, 1),
            (0, 0),
            (0, 1_200),
        ];
        // More bytes than the system takes in one call.
        let plan: Vec<_> = some.into_iter().chain([(1, 100); 150]).collect();
        let datagrams: Vec<_> = (0..)
            .zip(&plan)
            .map(|(number, &(to, size)): (u8, &(usize, usize))| Datagram {
                source,
                destination: peers[to].local_addr().unwrap(),
                ecn: [Ecn::NotEct, Ecn::Ect1, Ecn::Ect1][usize::from(number) % 3],
                contents: vec![number; size],
            })
            .collect();
        let expected = |to: usize| {
            let all = datagrams.iter().zip(&plan);
            let ours = all.filter(move |(_, (wanted, _))| *wanted == to);
            ours.map(|(datagram, _)| datagram.contents.clone())
                .collect::<Vec<_>>()
        };
        let wanted = [expected(0), expected(1)];
        assert_eq!(sockets.send(Time::ZERO, datagrams.clone().into_iter()), 0);
        for (peer, wanted) in peers.iter().zip(wanted) {
            let mut buffer = [0; 2_000];
            for contents in wanted {
                let (length, from) = peer.recv_from(&mut buffer).unwrap();
                assert_eq!((&buffer[..length], from), (&contents[..], source));
            }
        }
        let elsewhere = Datagram {
            source: SocketAddr::from(([127, 0, 0, 2], 1)),
            ..datagrams[0].clone()
        };
        assert_eq!(
            sockets.send(Time::ZERO, std::iter::repeat_n(elsewhere, 3)),
            3,
            "unsent"
        );
    }

    #[test]
    fn what_comes_together_is_told_apart() {
        let sockets = Sockets::bind(&[IpAddr::from([127, 0, 0, 1])], 0).unwrap();
        let ours = sockets.addresses()[0];
        let peer = peer();
        for (number, size) in (0..).zip([1_000, 1_000, 1_000, 400]) {
            peer.send_to(&vec![number; size], ours).unwrap();
        }
        let mut buffer = vec![0; udp::LARGEST];
        let mut came = Vec::new();
        while came.len() < 4 {
            let Some(received) = sockets.receive(0, &mut buffer) else {
                std::thread::yield_now();
                continue;
            };
            assert_eq!(received.local, ours);
            assert_eq!(received.datagrams.from, peer.local_addr().unwrap());
            let received = received.datagrams;
            let data = buffer[..received.length].chunks(received.stride);
            came.extend(data.map(|data| (data[0], data.len())));
        }
        assert_eq!(came, [(0, 1_000), (1, 1_000), (2, 1_000), (3, 400)]);
        assert!(sockets.receive(0, &mut buffer).is_none());
    }
}
