//! The properties of a packet that queues and links use.

use std::net::IpAddr;

use mimosa_facts::Header;
use mimosa_units::random::mix;
use mimosa_units::{Bytes, Ecn};

/// A packet as queues and links see it: its bytes in an emulator, a few numbers in a simulation.
pub trait Packet {
    /// Size of the packet on the wire.
    fn size(&self) -> Bytes;
    /// The ECN field of the packet.
    fn ecn(&self) -> Ecn;
    /// Marks the packet: sets its ECN field to "congestion experienced" (CE).
    fn mark(&mut self);
    /// The header fields that identify the packet's flow and class.
    fn header(&self) -> Header;
}

/// A hash of a packet's flow: of its addresses, protocol and ports, but not of
/// its code point. Each `perturbation` gives another, independent hash.
pub(crate) fn flow_hash(header: &Header, perturbation: u64) -> u64 {
    // FNV-1a, 64 bit, with the last step of SplitMix64, so that every bit depends on all others.
    let mut hash = 0xcbf2_9ce4_8422_2325 ^ perturbation.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut eat = |byte: u8| {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    };
    for address in [header.source, header.destination] {
        match address {
            IpAddr::V4(v4) => v4.octets().into_iter().for_each(&mut eat),
            IpAddr::V6(v6) => v6.octets().into_iter().for_each(&mut eat),
        }
    }
    eat(header.protocol);
    for port in [header.source_port, header.destination_port] {
        port.to_be_bytes().into_iter().for_each(&mut eat);
    }
    mix(hash)
}

/// A packet for tests.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TestPacket {
    pub(crate) size: u64,
    pub(crate) flow: u32,
    pub(crate) ecn: Ecn,
    pub(crate) number: u64,
}

#[cfg(test)]
impl TestPacket {
    /// A packet of flow 0 without ECN.
    pub(crate) const fn sized(size: u64) -> Self {
        Self {
            size,
            flow: 0,
            ecn: Ecn::NotEct,
            number: 0,
        }
    }
}

#[cfg(test)]
impl Packet for TestPacket {
    fn size(&self) -> Bytes {
        Bytes::new(self.size)
    }

    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn mark(&mut self) {
        self.ecn = Ecn::Ce;
    }

    fn header(&self) -> Header {
        Header::of_flow(self.flow, Header::UDP, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_spread_evenly_and_differently_with_each_perturbation() {
        let buckets = |perturbation| {
            let mut counts = [0_u32; 64];
            for flow in 0..6_400 {
                let hash = flow_hash(&Header::of_flow(flow, Header::UDP, 0), perturbation);
                counts[usize::try_from(hash % 64).unwrap()] += 1;
            }
            counts
        };
        let (one, other) = (buckets(0), buckets(1));
        assert_ne!(one, other);
        for counts in [one, other] {
            // The mean is a hundred in each bucket; the bounds are five
            // standard deviations from it.
            assert!(
                counts.iter().all(|count| (50..150).contains(count)),
                "{counts:?}"
            );
        }
    }

    #[test]
    fn the_code_point_does_not_make_another_flow() {
        let header = Header::of_flow(7, Header::TCP, 0);
        let marked = Header { dscp: 46, ..header };
        assert_eq!(flow_hash(&header, 3), flow_hash(&marked, 3));
        let other = Header {
            source_port: 1,
            ..header
        };
        assert_ne!(flow_hash(&header, 3), flow_hash(&other, 3));
    }
}
