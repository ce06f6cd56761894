//! The two hosts of a link, each with a network namespace and a device with addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::device::{Addresses, set_up};
use crate::error::LinkError;
use crate::namespace::Namespace;
use crate::tun::Tun;

/// Most links of which one namespace may be an end.
const MOST_LINKS: u8 = 255;
/// Beginning of the names of links' devices.
const DEVICE: &str = "mimosa";
/// `EBUSY`: a device of this name exists.
const BUSY: Option<i32> = Some(rustix::io::Errno::BUSY.raw_os_error());

/// An end of a link: the sender or the receiver of the stream that the link carries. `[link]` in a
/// scenario describes the direction from the sender to the receiver.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum End {
    /// The end from which the stream comes.
    Sender,
    /// The end to which the stream goes.
    Receiver,
}

impl End {
    /// The opposite end.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Sender => Self::Receiver,
            Self::Receiver => Self::Sender,
        }
    }
}

/// One host of a link.
#[derive(Debug)]
pub struct Side {
    /// Network namespace of the host.
    pub namespace: Namespace,
    /// Addresses of the host and of the other one.
    pub addresses: Addresses,
}

/// Both hosts of a link.
#[derive(Debug)]
pub struct Sides {
    /// The sender's host.
    pub sender: Side,
    /// The receiver's host.
    pub receiver: Side,
    /// The end that is the caller's own network, if there is one.
    pub here: Option<End>,
}

impl Sides {
    /// Makes two hosts with a device each, and returns them and the devices. With `here`, that end
    /// is the caller's own network namespace, and the other end can reach what lies beyond if the
    /// machine forwards packets. Without `here`, both namespaces are new.
    ///
    /// # Errors
    ///
    /// [`LinkError::Rights`], [`LinkError::Device`] and others.
    pub fn connect(here: Option<End>, mtu: u16) -> Result<(Self, (Tun, Tun)), LinkError> {
        let namespace = |end| {
            if here == Some(end) {
                Namespace::current()
            } else {
                Namespace::private()
            }
        };
        let (at_sender, at_receiver) = (namespace(End::Sender)?, namespace(End::Receiver)?);
        let own = here.map(|_| free_device()).transpose()?;
        let range = match here {
            Some(_) => free_range(&if_addrs::get_if_addrs().unwrap_or_default())?,
            // A new namespace has no other addresses.
            None => RANGES[0],
        };
        let number = own.as_ref().map_or(0, |(number, _)| *number);
        let mut tun_here = own.map(|(_, tun)| tun);
        let name = device_name(number);
        let mut side = |end, namespace: Namespace| {
            let addresses = addresses(end, range, number);
            let is_here = here == Some(end);
            let own = if is_here { tun_here.take() } else { None };
            let made = namespace.within(|| {
                let tun = own.map_or_else(|| Tun::create(&name), Ok)?;
                set_up(&name, &addresses, mtu, !is_here)?;
                Ok::<_, LinkError>(tun)
            });
            let side = Side {
                namespace,
                addresses,
            };
            Ok::<_, LinkError>((side, made??))
        };
        let (sender, left) = side(End::Sender, at_sender)?;
        let (receiver, right) = side(End::Receiver, at_receiver)?;
        let sides = Self {
            sender,
            receiver,
            here,
        };
        Ok((sides, (left, right)))
    }

    /// The host at this end.
    #[must_use]
    pub const fn side(&self, end: End) -> &Side {
        match end {
            End::Sender => &self.sender,
            End::Receiver => &self.receiver,
        }
    }
}

/// Makes a device with a free number in the caller's namespace.
fn free_device() -> Result<(u8, Tun), LinkError> {
    let mut number = 0;
    loop {
        match Tun::create(&device_name(number)) {
            Ok(tun) => return Ok((number, tun)),
            Err(LinkError::Device { error, .. })
                if error.raw_os_error() == BUSY && number < MOST_LINKS =>
            {
                number += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

fn device_name(number: u8) -> String {
    format!("{DEVICE}{number}")
}

/// A range of IPv4 addresses that no host on the Internet has.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Range {
    network: Ipv4Addr,
    /// Number of leading bits that all addresses of the range share.
    prefix: u32,
}

/// Ranges for links' addresses: RFC 6598's, which Mahimahi also uses; and, where the machine has
/// such an address from its provider or a virtual private network, RFC 2544's, which is for tests
/// of networks.
const RANGES: [Range; 2] = [
    Range {
        network: Ipv4Addr::new(100, 64, 0, 0),
        prefix: 10,
    },
    Range {
        network: Ipv4Addr::new(198, 18, 0, 0),
        prefix: 15,
    },
];

impl Range {
    fn has(self, address: Ipv4Addr) -> bool {
        let differing = u32::from(self.network) ^ u32::from(address);
        differing.leading_zeros() >= self.prefix
    }
}

/// The first range in which this machine, with these devices, has no addresses but those of other
/// links.
fn free_range(devices: &[if_addrs::Interface]) -> Result<Range, LinkError> {
    let is_free = |range: &Range| {
        let others = devices
            .iter()
            .filter(|device| !device.name.starts_with(DEVICE));
        let mut addresses = others.map(|device| device.addr.ip());
        !addresses.any(|address| matches!(address, IpAddr::V4(address) if range.has(address)))
    };
    let free = RANGES.iter().copied().find(is_free);
    free.ok_or(LinkError::NoRange)
}

/// Addresses of the link with this number. IPv4 addresses are from `range`; IPv6 addresses are
/// unique local ones (RFC 4193).
fn addresses(end: End, range: Range, number: u8) -> Addresses {
    let of = |end| {
        let last = match end {
            End::Sender => 1,
            End::Receiver => 2,
        };
        let network = 0x6100 | u16::from(number);
        let v6 = [0xfd6d, 0x696d, 0x6f73, network, 0, 0, 0, u16::from(last)];
        let [first, second, ..] = range.network.octets();
        let v4 = Ipv4Addr::new(first, second, number, last);
        (v4, Ipv6Addr::from(v6))
    };
    let ((own, own_v6), (peer, peer_v6)) = (of(end), of(end.other()));
    Addresses {
        own,
        peer,
        own_v6,
        peer_v6,
    }
}

#[cfg(test)]
mod tests {
    use if_addrs::{IfAddr, Ifv4Addr, Interface};

    use super::*;

    fn device(name: &str, ip: [u8; 4]) -> Interface {
        Interface {
            name: name.to_owned(),
            addr: IfAddr::V4(Ifv4Addr {
                ip: ip.into(),
                netmask: Ipv4Addr::BROADCAST,
                prefixlen: 32,
                broadcast: None,
            }),
            index: None,
            oper_status: if_addrs::IfOperStatus::Up,
            is_p2p: false,
        }
    }

    #[test]
    fn a_range_that_the_machine_is_in_is_left_to_it() {
        let network = |devices: &[Interface]| {
            let range = free_range(devices).ok()?;
            Some(range.network.octets()[0])
        };
        let ethernet = device("eth0", [192, 168, 1, 2]);
        let other_link = device("mimosa0", [100, 64, 0, 1]);
        let nodes = [[100, 64, 0, 1], [100, 100, 100, 100], [100, 127, 255, 254]];
        let outside = device("wg0", [100, 128, 0, 1]);
        assert_eq!(network(&[ethernet.clone(), other_link, outside]), Some(100));
        for node in nodes {
            let taken = [ethernet.clone(), device("tailscale0", node)];
            assert_eq!(network(&taken), Some(198), "{node:?}");
            let both = [taken, [ethernet.clone(), device("tun0", [198, 19, 0, 1])]].concat();
            assert_eq!(network(&both), None);
        }
    }

    #[test]
    fn both_ends_are_in_the_range() {
        for range in RANGES {
            for number in [0, 7, 255] {
                let (one, other) = (
                    addresses(End::Sender, range, number),
                    addresses(End::Receiver, range, number),
                );
                assert!(range.has(one.own) && range.has(one.peer));
                assert_eq!((one.own, one.own_v6), (other.peer, other.peer_v6));
                assert_ne!(one.own, one.peer);
            }
        }
    }
}
