//! The two hosts of a link: a network namespace each, and a device with addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::device::{Addresses, set_up};
use crate::error::LinkError;
use crate::namespace::Namespace;
use crate::tun::Tun;

/// Links that one namespace may be an end of.
const MOST_LINKS: u8 = 255;
/// How the names of links' devices begin.
const DEVICE: &str = "mimosa";
/// `EBUSY`: a device of this name is there.
const BUSY: Option<i32> = Some(rustix::io::Errno::BUSY.raw_os_error());

/// Who sends the stream that a link is about, or who receives it: `[link]` of a path is
/// the way from the one to the other.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum End {
    /// Where the stream comes from.
    Sender,
    /// Where it goes to.
    Receiver,
}

impl End {
    /// The other one.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Sender => Self::Receiver,
            Self::Receiver => Self::Sender,
        }
    }
}

/// One host.
#[derive(Debug)]
pub struct Side {
    /// Where it is.
    pub namespace: Namespace,
    /// How it is called there, and how the other is.
    pub addresses: Addresses,
}

/// Both hosts.
#[derive(Debug)]
pub struct Sides {
    /// The sender's.
    pub sender: Side,
    /// The receiver's.
    pub receiver: Side,
    /// The end that is the caller's own network, if one is.
    pub here: Option<End>,
}

impl Sides {
    /// Two hosts with a device each, and what comes through those. With `here`, that end
    /// is the caller's own network namespace, and the other can reach beyond it where
    /// that forwards packets; without it, both are new.
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
            // Nobody else is there.
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

    /// One of them.
    #[must_use]
    pub const fn side(&self, end: End) -> &Side {
        match end {
            End::Sender => &self.sender,
            End::Receiver => &self.receiver,
        }
    }
}

/// A device with a number that is free here.
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

/// Addresses of IPv4 that no host of the Internet has.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Range {
    network: Ipv4Addr,
    /// How many of its bits are the same in all addresses.
    prefix: u32,
}

/// Where links' addresses are from: RFC 6598's space, as Mahimahi's are; where this machine has
/// such an address already, from its provider or by a virtual private network, RFC 2544's, which
/// is for tests of networks.
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

/// The first range in which this machine, with these devices, has no address but other links'.
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

/// Of the link with this number. IPv4's are from `range`; IPv6's are local (RFC 4193).
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
