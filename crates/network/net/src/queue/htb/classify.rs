//! Filters, which tell to which class a packet belongs.
//!
//! The filters that `tc-u32(8)` and `tc-flower(8)` can state and that experiments
//! need: an address with a prefix, ports, the protocol, the code point and the ECN
//! field. A filter matches a packet that has all the values that the filter
//! states.
//!
//! *Deviations.* All filters belong to the root, and their order is their
//! priority; inner classes have no filters of their own.

use std::net::IpAddr;
use std::ops::RangeInclusive;

use mimosa_units::Ecn;

use crate::packet::Packet;

/// A range of addresses: those that have the same first bits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Prefix {
    address: IpAddr,
    length: u8,
}

impl Prefix {
    /// The addresses whose first `length` bits are those of `address`; `None` if
    /// an address has fewer bits.
    #[must_use]
    pub const fn new(address: IpAddr, length: u8) -> Option<Self> {
        let most = match address {
            IpAddr::V4(_) => 32,
            IpAddr::V6(_) => 128,
        };
        if length > most {
            return None;
        }
        Some(Self { address, length })
    }

    /// The range of this address alone.
    #[must_use]
    pub const fn host(address: IpAddr) -> Self {
        let length = match address {
            IpAddr::V4(_) => 32,
            IpAddr::V6(_) => 128,
        };
        Self { address, length }
    }

    /// Whether `address` is in the range; an address of the other family never is.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let length = u32::from(self.length);
        // For a prefix of zero bits the shift is by all bits, after which nothing differs.
        match (self.address, address) {
            (IpAddr::V4(a), IpAddr::V4(b)) => {
                let differing = a.to_bits() ^ b.to_bits();
                differing.checked_shr(32 - length).unwrap_or(0) == 0
            }
            (IpAddr::V6(a), IpAddr::V6(b)) => {
                let differing = a.to_bits() ^ b.to_bits();
                differing.checked_shr(128 - length).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

/// A filter: the values that a packet must have. A field that is `None` matches any value.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Filter {
    /// Range of the source address.
    pub source: Option<Prefix>,
    /// Range of the destination address.
    pub destination: Option<Prefix>,
    /// IANA's number of the protocol above IP.
    pub protocol: Option<u8>,
    /// Range of the source port.
    pub source_ports: Option<RangeInclusive<u16>>,
    /// Range of the destination port.
    pub destination_ports: Option<RangeInclusive<u16>>,
    /// Differentiated services code point, 0 to 63.
    pub dscp: Option<u8>,
    /// ECN field with which the packet arrives.
    pub ecn: Option<Ecn>,
}

impl Filter {
    /// Whether `packet` has all the values that the filter states.
    #[must_use]
    pub fn matches(&self, packet: &impl Packet) -> bool {
        let header = packet.header();
        let within =
            |prefix: &Option<Prefix>, address| prefix.is_none_or(|prefix| prefix.contains(address));
        let among = |ports: &Option<RangeInclusive<u16>>, port| {
            ports.as_ref().is_none_or(|ports| ports.contains(&port))
        };
        within(&self.source, header.source)
            && within(&self.destination, header.destination)
            && self.protocol.is_none_or(|one| one == header.protocol)
            && among(&self.source_ports, header.source_port)
            && among(&self.destination_ports, header.destination_port)
            && self.dscp.is_none_or(|one| one == header.dscp)
            && self.ecn.is_none_or(|one| one == packet.ecn())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::TestPacket;

    fn prefix(address: &str, length: u8) -> Option<Prefix> {
        Prefix::new(address.parse().unwrap(), length)
    }

    #[test]
    fn prefixes_hold_what_begins_alike() {
        for (address, length, other, inside) in [
            ("10.1.2.3", 32, "10.1.2.3", true),
            ("10.1.2.3", 32, "10.1.2.2", false),
            ("10.1.2.3", 31, "10.1.2.2", true),
            ("10.1.2.3", 8, "10.255.0.0", true),
            ("10.1.2.3", 8, "11.1.2.3", false),
            ("10.1.2.3", 0, "200.1.1.1", true),
            ("10.1.2.3", 0, "::1", false),
            ("2001:db8::1", 64, "2001:db8::ffff", true),
            ("2001:db8::1", 64, "2001:db8:0:1::1", false),
            ("2001:db8::1", 0, "::", true),
        ] {
            let prefix = prefix(address, length).unwrap();
            let found = prefix.contains(other.parse().unwrap());
            assert_eq!(found, inside, "{other} in {address}/{length}");
        }
        assert_eq!(prefix("10.0.0.0", 33), None);
        assert_eq!(prefix("::", 129), None);
        let host = "10.0.0.1".parse().unwrap();
        assert_eq!(Prefix::host(host), Prefix::new(host, 32).unwrap());
    }

    #[test]
    fn every_part_of_a_filter_counts() {
        // The packet goes from 10.1.0.7 to 10.2.0.7 over UDP; both ports are 5000.
        let packet = TestPacket {
            flow: 7,
            ecn: Ecn::Ect1,
            ..TestPacket::sized(100)
        };
        let filter = |change: fn(&mut Filter)| {
            let mut filter = Filter {
                source: prefix("10.1.0.7", 32),
                destination: prefix("10.2.0.0", 16),
                protocol: Some(17),
                source_ports: Some(5_000..=5_000),
                destination_ports: Some(4_000..=5_000),
                dscp: Some(0),
                ecn: Some(Ecn::Ect1),
            };
            change(&mut filter);
            filter.matches(&packet)
        };
        assert!(filter(|_| ()));
        assert!(!filter(|f| f.source = prefix("10.1.0.8", 32)));
        assert!(!filter(|f| f.destination = prefix("10.3.0.0", 16)));
        assert!(!filter(|f| f.protocol = Some(6)));
        assert!(!filter(|f| f.source_ports = Some(1..=4_999)));
        assert!(!filter(|f| f.destination_ports = Some(5_001..=6_000)));
        assert!(!filter(|f| f.dscp = Some(46)));
        assert!(!filter(|f| f.ecn = Some(Ecn::NotEct)));
        assert!(Filter::default().matches(&packet));
    }
}
