//! Ports that the router of a home network forwards to this machine.
//!
//! [`forward`] asks the router for a port, and [`Forwarding`] keeps it: by PCP (RFC 6887), or NAT-PMP (RFC 6886)
//! where the router says that it knows that alone, or else by UPnP (Internet Gateway Device). The router is the
//! gateway of the default route, and only it is asked: whoever else answers a search for routers is no router.
//!
//! What a router says is not believed blindly. An address that the Internet cannot reach
//! ([`is_reachable`]) means that the router is itself behind another one, where nothing is forwarded.

mod forwarding;
mod route;
mod upnp;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

pub use forwarding::{Forwarding, forward};

/// This machine's address in the router's network, to which a router forwards.
///
/// # Errors
///
/// [`GatewayError`] if there is no router.
pub fn own_address() -> Result<Ipv4Addr, GatewayError> {
    Ok(route::router()?.1)
}

/// The protocol of a port.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Protocol {
    /// UDP.
    Udp,
    /// TCP.
    Tcp,
}

impl Protocol {
    /// The name in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Udp => "UDP",
            Self::Tcp => "TCP",
        }
    }
}

/// How a router was asked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Means {
    /// The Port Control Protocol, RFC 6887.
    Pcp,
    /// The NAT Port Mapping Protocol, RFC 6886.
    NatPmp,
    /// UPnP, Internet Gateway Device.
    Upnp,
}

impl Means {
    /// The name in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pcp => "PCP",
            Self::NatPmp => "NAT-PMP",
            Self::Upnp => "UPnP",
        }
    }
}

/// A port of this machine, and where a router takes in what is for it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Forwarded {
    /// The protocol of both ports.
    pub protocol: Protocol,
    /// This machine's address, to which the router forwards.
    pub inside: SocketAddr,
    /// The router's address outside.
    pub outside: SocketAddr,
    /// How the router was asked.
    pub means: Means,
}

/// Why a port is not forwarded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatewayError {
    /// The machine has no default route of IPv4.
    #[error("this machine has no default route, and so no router to ask")]
    NoRouter,
    /// The routes, or this machine's address towards the router, cannot be read.
    #[error("cannot find the router: {0}")]
    Route(#[from] std::io::Error),
    /// The router does not do as it is asked in any way.
    #[error(
        "the router {router} forwards no port: by PCP and NAT-PMP, {control}; by UPnP, {upnp}; switch one of \
         them on in the router, or forward the ports there by hand and use --advertise"
    )]
    Refused {
        /// The router's address.
        router: Ipv4Addr,
        /// What came of PCP and NAT-PMP.
        control: String,
        /// What came of UPnP.
        upnp: String,
    },
}

/// Whether the Internet can reach an address of this kind: it is not set aside for private networks (RFC 1918),
/// for a provider's own translation (RFC 6598), for one link or one machine.
#[must_use]
pub fn is_reachable(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            let [first, second, ..] = v4.octets();
            let is_shared = first == 100 && (64..128).contains(&second);
            !(v4.is_private()
                || v4.is_loopback()
                || v4.is_link_local()
                || v4.is_unspecified()
                || v4.is_broadcast()
                || v4.is_multicast()
                || is_shared)
        }
        IpAddr::V6(v6) => {
            !(v6.is_loopback()
                || v6.is_unspecified()
                || v6.is_multicast()
                || v6.is_unique_local()
                || v6.is_unicast_link_local())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_private_networks_are_not_reached() {
        for text in [
            "203.0.113.7",
            "9.9.9.9",
            "100.63.0.1",
            "100.128.0.1",
            "2001:db8::1",
        ] {
            assert!(is_reachable(text.parse().unwrap()), "{text}");
        }
        for text in [
            "10.0.0.1",
            "172.16.0.1",
            "192.168.1.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "169.254.0.1",
            "0.0.0.0",
            "255.255.255.255",
            "224.0.0.1",
            "::1",
            "fe80::1",
            "fd00::1",
            "::",
        ] {
            assert!(!is_reachable(text.parse().unwrap()), "{text}");
        }
    }
}
