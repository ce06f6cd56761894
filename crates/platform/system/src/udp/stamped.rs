//! A socket that receives each datagram with the kernel's receive time and its ECN field.

use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::time::Duration;

use mimosa_units::{Ecn, Time};
use nix::cmsg_space;
use nix::sys::socket::sockopt;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, setsockopt};

use super::BUFFER;
use crate::clock::Clock;

/// The bits of the ECN field in the former type-of-service byte (RFC 3168, section 5).
const ECN_MASK: u8 = 3;

/// A datagram that was received.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Stamped {
    /// Where the datagram came from.
    pub from: SocketAddr,
    /// When the kernel received the datagram.
    pub at: Time,
    /// The ECN field with which the datagram came.
    pub ecn: Ecn,
    /// Number of bytes in the datagram.
    pub length: usize,
}

/// A socket bound to one address.
#[derive(Debug)]
pub struct StampedSocket {
    address: SocketAddr,
    udp: UdpSocket,
    /// Room for control messages.
    control: Vec<u8>,
}

impl StampedSocket {
    /// Binds a socket to this address. Port zero is any free port.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let udp = UdpSocket::bind(address)?;
        udp.set_nonblocking(true)?;
        // The system may allow less, and then gives less.
        let _ = rustix::net::sockopt::set_socket_recv_buffer_size(&udp, BUFFER);
        setsockopt(&udp, sockopt::ReceiveTimestampns, &true)?;
        match address {
            SocketAddr::V4(_) => setsockopt(&udp, sockopt::IpRecvTos, &true)?,
            SocketAddr::V6(_) => setsockopt(&udp, sockopt::Ipv6RecvTClass, &true)?,
        }
        Ok(Self {
            address: udp.local_addr()?,
            udp,
            control: cmsg_space!(nix::sys::time::TimeSpec, u8, i32),
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

    /// Sends a datagram. A datagram that the system does not take is lost.
    pub fn send(&self, destination: SocketAddr, contents: &[u8]) {
        let _ = self.udp.send_to(contents, destination);
    }

    /// Receives a datagram into `buffer`, which has [`LARGEST`](super::LARGEST) bytes; `None` if there is none.
    pub fn receive(&mut self, clock: Clock, buffer: &mut [u8]) -> Option<Stamped> {
        let descriptor = self.udp.as_raw_fd();
        let mut read = || {
            let mut slices = [IoSliceMut::new(buffer)];
            let control = Some(self.control.as_mut_slice());
            let message =
                recvmsg::<SockaddrStorage>(descriptor, &mut slices, control, MsgFlags::empty())?;
            let from = message.address.and_then(|address| {
                let v4 = address
                    .as_sockaddr_in()
                    .map(|&v4| SocketAddr::V4(v4.into()));
                v4.or_else(|| {
                    address
                        .as_sockaddr_in6()
                        .map(|&v6| SocketAddr::V6(v6.into()))
                })
            });
            let mut stamp = None;
            let mut field = 0;
            for control in message.cmsgs()? {
                match control {
                    ControlMessageOwned::ScmTimestampns(time) => {
                        stamp = Some(Duration::from(time));
                    }
                    ControlMessageOwned::Ipv4Tos(service) => field = service,
                    ControlMessageOwned::Ipv6TClass(class) => {
                        field = u8::try_from(class & 0xff).unwrap_or(0);
                    }
                    _ => {}
                }
            }
            Ok::<_, nix::Error>((from, stamp, field, message.bytes))
        };
        let (from, stamp, field, length) = match read() {
            Err(nix::Error::EAGAIN) => return None,
            // An error of an earlier send is reported here once; there may be datagrams behind it.
            Err(_) => read().ok()?,
            Ok(message) => message,
        };
        Some(Stamped {
            from: from?,
            at: stamp.map_or_else(|| clock.now(), |stamp| clock.stamped(stamp)),
            ecn: match field & ECN_MASK {
                0 => Ecn::NotEct,
                1 => Ecn::Ect1,
                2 => Ecn::Ect0,
                _ => Ecn::Ce,
            },
            length,
        })
    }
}

#[cfg(test)]
mod tests {
    use mimosa_units::TimeDelta;

    use super::super::LARGEST;
    use super::*;

    /// Sends datagrams with each ECN field, together if possible, and receives them.
    fn exchange(local: &str) {
        let sender = UdpSocket::bind(local).unwrap();
        let clock = Clock::start();
        let mut socket = StampedSocket::bind(local.parse().unwrap()).unwrap();
        let mut buffer = vec![0; LARGEST];
        assert_eq!(socket.receive(clock, &mut buffer), None);
        let fields = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
        for (number, field) in (0_u8..).zip([0, 1, 2, 3]) {
            if local.starts_with('[') {
                rustix::net::sockopt::set_ipv6_tclass(&sender, field).unwrap();
            } else {
                rustix::net::sockopt::set_ip_tos(&sender, u8::try_from(field).unwrap()).unwrap();
            }
            sender.send_to(&[number; 300], socket.address()).unwrap();
        }
        let sent = clock.now();
        for (number, field) in (0_u8..).zip(fields) {
            let received = loop {
                if let Some(received) = socket.receive(clock, &mut buffer) {
                    break received;
                }
                std::thread::yield_now();
            };
            assert_eq!((received.length, received.ecn), (300, field));
            assert_eq!(buffer[..300], [number; 300]);
            assert_eq!(received.from, sender.local_addr().unwrap());
            // Loopback delivers during the call, so that the stamp is before the end of the call.
            assert!(
                received.at <= sent + TimeDelta::from_millis(1),
                "{received:?}, {sent:?}"
            );
        }
    }

    #[test]
    fn datagrams_come_with_their_times_and_fields() {
        exchange("127.0.0.1:0");
        if UdpSocket::bind("[::1]:0").is_ok() {
            exchange("[::1]:0");
        }
    }
}
