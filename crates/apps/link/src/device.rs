//! Sets up devices of the calling thread's network namespace: addresses, routes, and the flag that
//! lets them carry packets.
//!
//! This uses the ioctls of `netdevice(7)` (and `netlink`), so that no other program is needed and
//! the rights of this thread suffice.

use std::net::{Ipv4Addr, Ipv6Addr};

use rustix::fd::OwnedFd;
use rustix::ioctl::{Opcode, Setter, Updater, ioctl};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

use crate::error::LinkError;

/// `SIOCADDRT` and its neighbours (`linux/sockios.h`).
const SIOCADDRT: Opcode = 0x890b;
const SIOCGIFFLAGS: Opcode = 0x8913;
const SIOCSIFFLAGS: Opcode = 0x8914;
const SIOCSIFADDR: Opcode = 0x8916;
const SIOCSIFDSTADDR: Opcode = 0x8918;
const SIOCSIFMTU: Opcode = 0x8922;
const SIOCGIFINDEX: Opcode = 0x8933;
/// `linux/if.h`.
const IFF_UP: u16 = 1;
/// `linux/route.h`.
const RTF_UP: u16 = 1;
const RTF_GATEWAY: u16 = 2;
/// Longest name of a device in bytes, including the zero at the end (`IFNAMSIZ`).
pub(crate) const NAME_SIZE: usize = 16;
/// Packets that the device itself holds: so many that it never drops one, because dropping is the
/// task of the emulated queue.
const DEVICE_QUEUE: u32 = 20_000;

/// The addresses of both ends of a link, as one end sees them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Addresses {
    /// IPv4 address of this end.
    pub own: Ipv4Addr,
    /// IPv4 address of the other end.
    pub peer: Ipv4Addr,
    /// IPv6 address of this end, in the same /64 network as the other.
    pub own_v6: Ipv6Addr,
    /// IPv6 address of the other end.
    pub peer_v6: Ipv6Addr,
}

/// A device's name in the form of the kernel; `None` if it is not a valid name.
pub(crate) fn name_of(name: &str) -> Option<[u8; NAME_SIZE]> {
    let mut bytes = [0; NAME_SIZE];
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic());
    // The last byte stays zero.
    let room = bytes[..NAME_SIZE - 1].get_mut(..name.len());
    room.filter(|_| is_name)?.copy_from_slice(name.as_bytes());
    Some(bytes)
}

/// `struct ifreq`, its union as bytes.
#[repr(C)]
#[derive(Clone, Copy)]
struct Request {
    name: [u8; NAME_SIZE],
    value: [u8; 24],
}

/// `struct rtentry`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Route {
    pad_1: usize,
    destination: [u8; 16],
    gateway: [u8; 16],
    mask: [u8; 16],
    flags: u16,
    pad_2: i16,
    pad_3: usize,
    pad_4: usize,
    metric: i16,
    device: usize,
    mtu: usize,
    window: usize,
    round_trip: u16,
}

/// `struct sockaddr_in`, which has the size of `struct sockaddr`.
fn socket_address(address: Ipv4Addr) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..2].copy_from_slice(&AddressFamily::INET.as_raw().to_ne_bytes());
    bytes[4..8].copy_from_slice(&address.octets());
    bytes
}

/// A device, with a socket for ioctls about it.
struct Device<'a> {
    name: &'a str,
    bytes: [u8; NAME_SIZE],
    socket: OwnedFd,
}

impl<'a> Device<'a> {
    fn of(name: &'a str) -> Result<Self, LinkError> {
        let failed = |error| LinkError::Device {
            name: name.to_owned(),
            error,
        };
        let bytes = name_of(name).ok_or_else(|| {
            let why = "its name must have 1 to 15 characters, without spaces";
            failed(std::io::Error::other(why))
        })?;
        let socket = socket_with(
            AddressFamily::INET,
            SocketType::DGRAM,
            SocketFlags::CLOEXEC,
            None,
        )
        .map_err(|error| failed(error.into()))?;
        Ok(Self {
            name,
            bytes,
            socket,
        })
    }

    fn failed(&self, error: impl Into<std::io::Error>) -> LinkError {
        LinkError::Device {
            name: self.name.to_owned(),
            error: error.into(),
        }
    }

    fn index(&self) -> Result<i32, LinkError> {
        let [a, b, c, d, ..] = self.get::<SIOCGIFINDEX>()?;
        Ok(i32::from_ne_bytes([a, b, c, d]))
    }

    fn request(&self, value: &[u8]) -> Request {
        let mut request = Request {
            name: self.bytes,
            value: [0; 24],
        };
        for (to, from) in request.value.iter_mut().zip(value) {
            *to = *from;
        }
        request
    }

    fn set<const CODE: Opcode>(&self, value: &[u8]) -> Result<(), LinkError> {
        let request = self.request(value);
        // SAFETY: the kernel reads a `struct ifreq`, of which `Request` has the layout
        // and the size (40 bytes), and keeps no pointer to it.
        unsafe { ioctl(&self.socket, Setter::<CODE, Request>::new(request)) }
            .map_err(|error| self.failed(error))
    }

    fn get<const CODE: Opcode>(&self) -> Result<[u8; 24], LinkError> {
        let mut request = self.request(&[]);
        // SAFETY: the kernel reads and writes a `struct ifreq`, of which `Request` has
        // the layout and the size (40 bytes), and keeps no pointer to it.
        unsafe { ioctl(&self.socket, Updater::<CODE, Request>::new(&mut request)) }
            .map_err(|error| self.failed(error))?;
        Ok(request.value)
    }

    fn up(&self) -> Result<(), LinkError> {
        let [low, high, ..] = self.get::<SIOCGIFFLAGS>()?;
        let flags = u16::from_ne_bytes([low, high]) | IFF_UP;
        self.set::<SIOCSIFFLAGS>(&flags.to_ne_bytes())
    }

    fn route_all_to(&self, gateway: Ipv4Addr) -> Result<(), LinkError> {
        let any = socket_address(Ipv4Addr::UNSPECIFIED);
        let route = Route {
            destination: any,
            gateway: socket_address(gateway),
            mask: any,
            flags: RTF_UP | RTF_GATEWAY,
            ..Route::default()
        };
        // SAFETY: the kernel reads a `struct rtentry`, of which `Route` has the layout;
        // its pointers are null, which stands for none.
        unsafe { ioctl(&self.socket, Setter::<SIOCADDRT, Route>::new(route)) }
            .map_err(|error| self.failed(error))
    }
}

/// Lets the device `name` carry packets.
pub(crate) fn up(name: &str) -> Result<(), LinkError> {
    Device::of(name)?.up()
}

/// Gives the device `name` its addresses and lets it carry packets of up to `mtu` bytes. With
/// `routes_all`, packets without another route go to the device's other end.
pub(crate) fn set_up(
    name: &str,
    addresses: &Addresses,
    mtu: u16,
    routes_all: bool,
) -> Result<(), LinkError> {
    // Switches off what the kernel itself sends on a new link, where nothing listens for it. The
    // files do not exist without IPv6.
    for (key, value) in [("router_solicitations", "0"), ("addr_gen_mode", "1")] {
        let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{name}/{key}"), value);
    }
    let device = Device::of(name)?;
    device.set::<SIOCSIFMTU>(&i32::from(mtu).to_ne_bytes())?;
    crate::netlink::set_queue(device.index()?, DEVICE_QUEUE)
        .map_err(|error| device.failed(error))?;
    device.set::<SIOCSIFADDR>(&socket_address(addresses.own))?;
    device.set::<SIOCSIFDSTADDR>(&socket_address(addresses.peer))?;
    device.up()?;
    // IPv6 may be switched off on this system, and then is so on the link.
    let without = format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6");
    if std::fs::read_to_string(without).is_ok_and(|word| word.trim() == "0") {
        crate::netlink::add_v6(device.index()?, addresses.own_v6)
            .map_err(|error| device.failed(error))?;
    }
    if routes_all {
        device.route_all_to(addresses.peer)?;
    }
    Ok(())
}
