//! The UDP sockets: one for each address, because a wildcard would hide at which of the host's
//! addresses a datagram came.

use std::io::IoSliceMut;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use mimosa_transport::Datagram;
use mimosa_units::Ecn;
use quinn_udp::{EcnCodepoint, RecvMeta, Transmit, UdpSocketState};

use crate::error::HostError;

/// Most bytes in one call: an IP packet's, with room for headers.
const LARGEST_BATCH: usize = 65_000;
/// Size of each buffer that the system is asked for: half a second at 50 Mbit/s.
const BUFFER: usize = 3 << 20;

/// Most bytes that the system returns at once, in one datagram or several.
pub(crate) const LARGEST: usize = 1 << 16;

/// The sockets, each bound to one address.
#[derive(Debug)]
pub(crate) struct Sockets {
    sockets: Vec<Socket>,
    batch: Batch,
}

/// Datagrams that were received together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    /// The host's address at which they came.
    pub(crate) local: SocketAddr,
    pub(crate) from: SocketAddr,
    /// Number of bytes in all datagrams.
    pub(crate) length: usize,
    /// Size of each datagram in bytes, except the last, which may be smaller.
    pub(crate) stride: usize,
}

#[derive(Debug)]
struct Socket {
    address: SocketAddr,
    udp: UdpSocket,
    state: UdpSocketState,
}

/// Datagrams that are sent in one call. All have the first one's size, except the last, which may
/// be smaller, and the first one's ECN field.
#[derive(Debug)]
struct Batch {
    source: SocketAddr,
    destination: SocketAddr,
    ecn: Ecn,
    contents: Vec<u8>,
    segment: usize,
    count: usize,
}

impl Batch {
    const fn new() -> Self {
        let nowhere = SocketAddr::new(IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED), 0);
        Self {
            source: nowhere,
            destination: nowhere,
            ecn: Ecn::NotEct,
            contents: Vec::new(),
            segment: 0,
            count: 0,
        }
    }

    /// Whether `datagram` may be added to the batch.
    fn fits(&self, datagram: &Datagram, most: usize) -> bool {
        let is_alike = self.source == datagram.source
            && self.destination == datagram.destination
            && self.ecn == datagram.ecn;
        let is_whole = self.contents.len() == self.segment * self.count;
        let length = datagram.contents.len();
        is_alike
            && is_whole
            && length <= self.segment
            && self.count < most
            && self.contents.len() + length < LARGEST_BATCH
    }

    fn push(&mut self, datagram: &Datagram) {
        if self.count == 0 {
            self.source = datagram.source;
            self.destination = datagram.destination;
            self.ecn = datagram.ecn;
            self.segment = datagram.contents.len();
        }
        self.contents.extend_from_slice(&datagram.contents);
        self.count += 1;
    }

    fn clear(&mut self) {
        self.contents.clear();
        self.count = 0;
    }
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
            let socket = match UdpSocket::bind(address) {
                Ok(socket) => socket,
                Err(error) if is_absent(address, &error) => continue,
                Err(error) => return Err(failed(error)),
            };
            socket.set_nonblocking(true).map_err(failed)?;
            // The system may allow less, and then gives less.
            let _ = rustix::net::sockopt::set_socket_send_buffer_size(&socket, BUFFER);
            let _ = rustix::net::sockopt::set_socket_recv_buffer_size(&socket, BUFFER);
            let bound = socket.local_addr().map_err(failed)?;
            port = bound.port();
            let state = UdpSocketState::new((&socket).into()).map_err(failed)?;
            sockets.push(Socket {
                address: bound,
                udp: socket,
                state,
            });
        }
        if sockets.is_empty() {
            return Err(HostError::NoAddress);
        }
        Ok(Self {
            sockets,
            batch: Batch::new(),
        })
    }

    /// The addresses of the sockets.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.sockets.iter().map(|socket| socket.address).collect()
    }

    /// The descriptors to wait for, in the order of the indices of [`Self::receive`].
    pub(crate) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.sockets.iter().map(|socket| socket.udp.as_fd())
    }

    /// Sends datagrams, with as many as possible in one call. Datagrams that the system does not
    /// take are lost; returns their number.
    pub(crate) fn send(&mut self, datagrams: impl Iterator<Item = Datagram>) -> u64 {
        let mut unsent = 0;
        for datagram in datagrams {
            let most = self
                .socket(datagram.source)
                .map_or(1, |socket| socket.state.max_gso_segments());
            if !self.batch.fits(&datagram, most) {
                unsent += self.flush();
            }
            self.batch.push(&datagram);
        }
        unsent + self.flush()
    }

    fn flush(&mut self) -> u64 {
        if self.batch.count == 0 {
            return 0;
        }
        let batch = &self.batch;
        let is_sent = self.socket(batch.source).is_some_and(|socket| {
            let transmit = Transmit {
                destination: batch.destination,
                ecn: codepoint(batch.ecn),
                contents: &batch.contents,
                segment_size: (batch.count > 1).then_some(batch.segment),
                src_ip: None,
            };
            let result = socket.state.try_send((&socket.udp).into(), &transmit);
            result.is_ok()
        });
        let unsent = if is_sent { 0 } else { batch.count as u64 };
        self.batch.clear();
        unsent
    }

    fn socket(&self, address: SocketAddr) -> Option<&Socket> {
        self.sockets.iter().find(|socket| socket.address == address)
    }

    /// Receives datagrams from one socket into `buffer`, which has [`LARGEST`] bytes; `None` if
    /// there are no more.
    pub(crate) fn receive(&self, index: usize, buffer: &mut [u8]) -> Option<Received> {
        let socket = self.sockets.get(index)?;
        let mut meta = [RecvMeta::default()];
        let mut read = || {
            let mut slices = [IoSliceMut::new(buffer)];
            socket
                .state
                .recv((&socket.udp).into(), &mut slices, &mut meta)
        };
        match read() {
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return None,
            // An error of an earlier send is reported here once; there may be datagrams behind it.
            Err(_) => read().ok()?,
            Ok(count) => count,
        };
        let [meta] = meta;
        Some(Received {
            local: socket.address,
            from: meta.addr,
            length: meta.len,
            stride: meta.stride.max(1),
        })
    }
}

/// The ECN field in the form for the system.
const fn codepoint(ecn: Ecn) -> Option<EcnCodepoint> {
    match ecn {
        Ecn::NotEct => None,
        Ecn::Ect0 => Some(EcnCodepoint::Ect0),
        Ecn::Ect1 => Some(EcnCodepoint::Ect1),
        Ecn::Ce => Some(EcnCodepoint::Ce),
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

#[cfg(test)]
mod tests {
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
        assert_eq!(sockets.send(datagrams.clone().into_iter()), 0);
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
        assert_eq!(sockets.send(std::iter::repeat_n(elsewhere, 3)), 3, "unsent");
    }

    #[test]
    fn what_comes_together_is_told_apart() {
        let sockets = Sockets::bind(&[IpAddr::from([127, 0, 0, 1])], 0).unwrap();
        let ours = sockets.addresses()[0];
        let peer = peer();
        for (number, size) in (0..).zip([1_000, 1_000, 1_000, 400]) {
            peer.send_to(&vec![number; size], ours).unwrap();
        }
        let mut buffer = vec![0; LARGEST];
        let mut came = Vec::new();
        while came.len() < 4 {
            let Some(received) = sockets.receive(0, &mut buffer) else {
                std::thread::yield_now();
                continue;
            };
            assert_eq!(received.local, ours);
            assert_eq!(received.from, peer.local_addr().unwrap());
            let data = buffer[..received.length].chunks(received.stride);
            came.extend(data.map(|data| (data[0], data.len())));
        }
        assert_eq!(came, [(0, 1_000), (1, 1_000), (2, 1_000), (3, 400)]);
        assert!(sockets.receive(0, &mut buffer).is_none());
    }
}
