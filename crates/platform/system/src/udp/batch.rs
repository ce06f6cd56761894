//! A socket that sends and receives several datagrams in one call (UDP segmentation and coalescing
//! offload).

use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use mimosa_units::Ecn;
use quinn_udp::{EcnCodepoint, RecvMeta, Transmit, UdpSocketState};

use super::BUFFER;

/// Most bytes in one call: an IP packet's, with room for headers.
const LARGEST_BATCH: usize = 65_000;

/// Datagrams that were received together.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Received {
    /// Where the datagrams came from.
    pub from: SocketAddr,
    /// Number of bytes in all datagrams.
    pub length: usize,
    /// Size of each datagram in bytes, except the last, which may be smaller; at least one.
    pub stride: usize,
}

/// A socket bound to one address.
#[derive(Debug)]
pub struct BatchSocket {
    address: SocketAddr,
    udp: UdpSocket,
    state: UdpSocketState,
    batch: Batch,
}

/// Datagrams that are sent in one call. All have the first one's size, except the last, which may
/// be smaller, and the first one's ECN field.
#[derive(Debug)]
struct Batch {
    destination: SocketAddr,
    ecn: Ecn,
    contents: Vec<u8>,
    segment: usize,
    count: usize,
}

impl Batch {
    const fn new(nowhere: SocketAddr) -> Self {
        Self {
            destination: nowhere,
            ecn: Ecn::NotEct,
            contents: Vec::new(),
            segment: 0,
            count: 0,
        }
    }

    /// Whether a datagram may be added to the batch.
    fn fits(&self, destination: SocketAddr, ecn: Ecn, contents: &[u8], most: usize) -> bool {
        let is_alike = self.destination == destination && self.ecn == ecn;
        let is_whole = self.contents.len() == self.segment * self.count;
        let length = contents.len();
        is_alike
            && is_whole
            && length <= self.segment
            && self.count < most
            && self.contents.len() + length < LARGEST_BATCH
    }

    fn push(&mut self, destination: SocketAddr, ecn: Ecn, contents: &[u8]) {
        if self.count == 0 {
            self.destination = destination;
            self.ecn = ecn;
            self.segment = contents.len();
        }
        self.contents.extend_from_slice(contents);
        self.count += 1;
    }
}

impl BatchSocket {
    /// Binds a socket to this address. Port zero is any free port.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let udp = UdpSocket::bind(address)?;
        udp.set_nonblocking(true)?;
        // The system may allow less, and then gives less.
        let _ = rustix::net::sockopt::set_socket_send_buffer_size(&udp, BUFFER);
        let _ = rustix::net::sockopt::set_socket_recv_buffer_size(&udp, BUFFER);
        let state = UdpSocketState::new((&udp).into())?;
        let address = udp.local_addr()?;
        Ok(Self {
            address,
            udp,
            state,
            batch: Batch::new(address),
        })
    }

    /// The socket's address.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The descriptor to wait for.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.udp.as_fd()
    }

    /// Adds a datagram to those that leave together, and sends them first if it cannot be added.
    /// Datagrams that the system does not take are lost; returns their number. Call
    /// [`Self::flush`] in the end.
    pub fn send(&mut self, destination: SocketAddr, ecn: Ecn, contents: &[u8]) -> u64 {
        let most = self.state.max_gso_segments();
        let fits = self.batch.fits(destination, ecn, contents, most);
        let unsent = if fits { 0 } else { self.flush() };
        self.batch.push(destination, ecn, contents);
        unsent
    }

    /// Sends what has been added. Returns the number of datagrams that the system did not take.
    pub fn flush(&mut self) -> u64 {
        let batch = &mut self.batch;
        if batch.count == 0 {
            return 0;
        }
        let transmit = Transmit {
            destination: batch.destination,
            ecn: codepoint(batch.ecn),
            contents: &batch.contents,
            segment_size: (batch.count > 1).then_some(batch.segment),
            src_ip: None,
        };
        let result = self.state.try_send((&self.udp).into(), &transmit);
        let unsent = if result.is_ok() {
            0
        } else {
            batch.count as u64
        };
        batch.contents.clear();
        batch.count = 0;
        unsent
    }

    /// Receives datagrams into `buffer`, which has [`LARGEST`](super::LARGEST) bytes; `None` if
    /// there are no more.
    pub fn receive(&self, buffer: &mut [u8]) -> Option<Received> {
        let mut meta = [RecvMeta::default()];
        let mut read = || {
            let mut slices = [IoSliceMut::new(buffer)];
            self.state.recv((&self.udp).into(), &mut slices, &mut meta)
        };
        match read() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return None,
            // An error of an earlier send is reported here once; there may be datagrams behind it.
            Err(_) => read().ok()?,
            Ok(count) => count,
        };
        let [meta] = meta;
        Some(Received {
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
