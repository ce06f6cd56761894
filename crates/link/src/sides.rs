//! The two hosts of a link: a network namespace each, and a device with addresses.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::device::{Addresses, set_up};
use crate::error::LinkError;
use crate::namespace::Namespace;
use crate::tun::Tun;

/// Links that one namespace may be an end of.
const MOST_LINKS: u8 = 255;
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
        let number = own.as_ref().map_or(0, |(number, _)| *number);
        let mut tun_here = own.map(|(_, tun)| tun);
        let name = device_name(number);
        let mut side = |end, namespace: Namespace| {
            let addresses = addresses(end, number);
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
    format!("mimosa{number}")
}

/// Of the link with this number. IPv4's are from RFC 6598's space, as Mahimahi's are,
/// which no host of the Internet has; IPv6's are local (RFC 4193).
fn addresses(end: End, number: u8) -> Addresses {
    let of = |end| {
        let last = match end {
            End::Sender => 1,
            End::Receiver => 2,
        };
        let network = 0x6100 | u16::from(number);
        let v6 = [0xfd6d, 0x696d, 0x6f73, network, 0, 0, 0, u16::from(last)];
        (Ipv4Addr::new(100, 64, number, last), Ipv6Addr::from(v6))
    };
    let ((own, own_v6), (peer, peer_v6)) = (of(end), of(end.other()));
    Addresses {
        own,
        peer,
        own_v6,
        peer_v6,
    }
}
