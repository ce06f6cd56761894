//! IP packets as hosts send them.
//!
//! The headers are those of RFC 791 and RFC 8200, the ECN field that of RFC 3168. A
//! mark changes IPv4's checksum as in RFC 1624.
//!
//! *Deviations.* Ports are read for TCP, UDP, DCCP, SCTP and UDP-Lite, which have
//! them in the same place; packets of other protocols and later fragments have none.
//! The transport's header is found behind IPv6's hop-by-hop options, routing,
//! destination options and fragment headers, and behind no other, where fewer than
//! [`MOST_EXTENSIONS`] of them come before it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use mimosa_facts::{Header, RtpPacket};
use mimosa_units::{Bytes, Ecn};

use crate::packet::Packet;

/// The number of IPv6 extension headers behind which the transport's header is no
/// longer looked for: more than anybody sends.
const MOST_EXTENSIONS: usize = 8;
/// Length of the UDP header in bytes (RFC 768).
const UDP_HEADER: usize = 8;
/// IANA's numbers of the protocols whose header begins with the two ports.
const WITH_PORTS: [u8; 5] = [6, 17, 33, 132, 136];

/// Why bytes are not an IP packet. It is a mistake of their sender.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NotIp {
    /// The IP version is neither 4 nor 6.
    #[error("IP version {0}; 4 and 6 are known")]
    Version(u8),
    /// The packet, of this many bytes, ends within its IP header, or its IPv4 header
    /// is stated to be shorter than 20 bytes.
    #[error("a packet of {0} bytes does not hold its IP header")]
    Short(usize),
}

/// An IP packet, with the fields that queues use.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct IpPacket {
    bytes: Vec<u8>,
    header: Header,
    ecn: Ecn,
    rtp: Option<RtpPacket>,
}

impl IpPacket {
    /// Reads the packet in `bytes`, which begin with its IP header.
    ///
    /// # Errors
    ///
    /// [`NotIp`] when the version is unknown or the IP header is not whole.
    pub fn parse(bytes: Vec<u8>) -> Result<Self, NotIp> {
        let short = NotIp::Short(bytes.len());
        let first = *bytes.first().ok_or(short)?;
        let (header, traffic_class, transport) = match first >> 4 {
            4 => version_4(&bytes).ok_or(short)?,
            6 => version_6(&bytes).ok_or(short)?,
            version => return Err(NotIp::Version(version)),
        };
        let ecn = match traffic_class & 3 {
            0 => Ecn::NotEct,
            1 => Ecn::Ect1,
            2 => Ecn::Ect0,
            _ => Ecn::Ce,
        };
        let udp = transport.filter(|_| header.protocol == Header::UDP);
        let rtp = udp.and_then(|at| rtp(bytes.get(at + UDP_HEADER..)?));
        Ok(Self {
            bytes,
            header,
            ecn,
            rtp,
        })
    }

    /// The stream and number in the RTP header; `None` unless the packet looks like RTP over UDP.
    #[must_use]
    pub const fn rtp(&self) -> Option<RtpPacket> {
        self.rtp
    }

    /// The bytes of the packet, with the ECN field as last set.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Sets the ECN field, and corrects the checksum of an IPv4 header.
    pub fn set_ecn(&mut self, ecn: Ecn) {
        let bits = match ecn {
            Ecn::NotEct => 0,
            Ecn::Ect1 => 1,
            Ecn::Ect0 => 2,
            Ecn::Ce => 3,
        };
        self.ecn = ecn;
        let Some([first, second, ..]) = self.bytes.get_mut(..2) else {
            return;
        };
        if *first >> 4 == 6 {
            // The traffic class is the second half of the first byte and the first
            // half of the second.
            *second = (*second & !0x30) | (bits << 4);
            return;
        }
        let old = u16::from_be_bytes([*first, *second]);
        *second = (*second & !3) | bits;
        let new = u16::from_be_bytes([*first, *second]);
        if let Some(checksum) = self.bytes.get_mut(10..12)
            && let [high, low] = checksum
        {
            let mended = mend(u16::from_be_bytes([*high, *low]), old, new);
            checksum.copy_from_slice(&mended.to_be_bytes());
        }
    }

    /// The buffer of the packet, to be used again.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

impl Packet for IpPacket {
    fn size(&self) -> Bytes {
        Bytes::new(self.bytes.len() as u64)
    }

    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn mark(&mut self) {
        self.set_ecn(Ecn::Ce);
    }

    fn header(&self) -> Header {
        self.header
    }
}

/// The checksum after one of the words that it covers has changed from `old` to `new`
/// (RFC 1624, equation 3).
fn mend(checksum: u16, old: u16, new: u16) -> u16 {
    let sum = u32::from(!checksum) + u32::from(!old) + u32::from(new);
    let folded = (sum & 0xffff) + (sum >> 16);
    #[expect(clippy::cast_possible_truncation, reason = "folded into 16 bits")]
    let folded = ((folded & 0xffff) + (folded >> 16)) as u16;
    !folded
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    let word = bytes.get(at..at + 2)?;
    Some(u16::from_be_bytes(word.try_into().ok()?))
}

/// The RTP header at the beginning of `bytes`; `None` if they are too short, have
/// another version, or are RTCP (RFC 5761, section 4).
fn rtp(bytes: &[u8]) -> Option<RtpPacket> {
    let [first, second, high, low, _, _, _, _, ssrc @ ..] = bytes else {
        return None;
    };
    let is_rtp = first >> 6 == 2 && !(64..96).contains(&(second & 0x7f));
    is_rtp.then_some(RtpPacket {
        ssrc: u32::from_be_bytes(ssrc.first_chunk().copied()?),
        sequence: u16::from_be_bytes([*high, *low]),
    })
}

/// The results of parsing a packet: its header, its traffic class, and the offset at
/// which the protocol above IP begins, or `None` where it does not begin in this
/// packet.
type Parsed = (Header, u8, Option<usize>);

/// Parses an IPv4 packet; `None` when its header is not whole.
fn version_4(bytes: &[u8]) -> Option<Parsed> {
    let length = usize::from(bytes.first()? & 0x0f) * 4;
    if length < 20 || bytes.len() < length {
        return None;
    }
    let address = |at: usize| -> Option<IpAddr> {
        let octets: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(Ipv4Addr::from(octets).into())
    };
    let traffic_class = *bytes.get(1)?;
    let protocol = *bytes.get(9)?;
    // Three bits of flags come before the thirteen bits of the fragment's offset.
    let is_first = word(bytes, 6)? << 3 == 0;
    let ports = is_first.then(|| ports(bytes, length, protocol));
    Some((
        Header {
            source: address(12)?,
            destination: address(16)?,
            protocol,
            source_port: ports.map_or(0, |ports| ports.0),
            destination_port: ports.map_or(0, |ports| ports.1),
            dscp: traffic_class >> 2,
        },
        traffic_class,
        is_first.then_some(length),
    ))
}

/// Parses an IPv6 packet; `None` when its header is not whole.
fn version_6(bytes: &[u8]) -> Option<Parsed> {
    let address = |at: usize| -> Option<IpAddr> {
        let octets: [u8; 16] = bytes.get(at..at + 16)?.try_into().ok()?;
        Some(Ipv6Addr::from(octets).into())
    };
    let [.., traffic_class] = (word(bytes, 0)? >> 4).to_be_bytes();
    let (source, destination) = (address(8)?, address(24)?);
    let (protocol, at) = transport(bytes, *bytes.get(6)?);
    let ports = at.map_or((0, 0), |at| ports(bytes, at, protocol));
    Some((
        Header {
            source,
            destination,
            protocol,
            source_port: ports.0,
            destination_port: ports.1,
            dscp: traffic_class >> 2,
        },
        traffic_class,
        at,
    ))
}

/// The protocol above IPv6 and the offset at which it begins, where `first` is the
/// IPv6 header's "next header". The offset is `None` in a later fragment, where an
/// extension header is cut off, and behind too many of them.
fn transport(bytes: &[u8], first: u8) -> (u8, Option<usize>) {
    let (mut next, mut at) = (first, 40);
    for _ in 0..MOST_EXTENSIONS {
        let length = match next {
            // Hop-by-hop options, routing, destination options.
            0 | 43 | 60 => match bytes.get(at + 1) {
                Some(length) => 8 * (usize::from(*length) + 1),
                None => return (next, None),
            },
            // Fragment.
            44 => 8,
            _ => return (next, Some(at)),
        };
        let is_later = next == 44 && word(bytes, at + 2).is_none_or(|word| word & 0xfff8 != 0);
        let Some(after) = bytes.get(at) else {
            return (next, None);
        };
        next = *after;
        if is_later {
            return (next, None);
        }
        at += length;
    }
    (next, None)
}

fn ports(bytes: &[u8], at: usize, protocol: u8) -> (u16, u16) {
    if !WITH_PORTS.contains(&protocol) {
        return (0, 0);
    }
    match (word(bytes, at), word(bytes, at + 2)) {
        (Some(source), Some(destination)) => (source, destination),
        _ => (0, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A UDP packet over IPv4 from 10.0.0.1:5000 to 10.0.0.2:443, with this traffic class.
    fn udp_4(traffic_class: u8) -> Vec<u8> {
        let mut bytes = vec![0x45, traffic_class, 0, 32, 0, 0, 0, 0, 64, 17, 0, 0];
        bytes.extend([10, 0, 0, 1, 10, 0, 0, 2]);
        let checksum = !sum(&bytes);
        bytes[10..12].copy_from_slice(&checksum.to_be_bytes());
        bytes.extend(5000_u16.to_be_bytes());
        bytes.extend(443_u16.to_be_bytes());
        bytes.extend([0, 12, 0, 0, 1, 2, 3, 4]);
        bytes
    }

    /// The ones' complement sum of an even number of bytes.
    fn sum(bytes: &[u8]) -> u16 {
        bytes.chunks(2).fold(0_u16, |sum, pair| {
            let (sum, carry) = sum.overflowing_add(u16::from_be_bytes([pair[0], pair[1]]));
            sum + u16::from(carry)
        })
    }

    fn udp_6(traffic_class: u8, extensions: &[&[u8]], protocols: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0x60 | traffic_class >> 4, traffic_class << 4, 0, 0, 0, 12];
        bytes.extend([protocols[0], 64]);
        bytes.extend(Ipv6Addr::LOCALHOST.octets());
        bytes.extend(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2).octets());
        for (extension, next) in extensions.iter().zip(&protocols[1..]) {
            bytes.push(*next);
            bytes.extend(*extension);
        }
        bytes.extend(5000_u16.to_be_bytes());
        bytes.extend(443_u16.to_be_bytes());
        bytes.extend([0, 12, 0, 0, 1, 2, 3, 4]);
        bytes
    }

    #[test]
    fn a_mark_changes_two_bits_and_keeps_the_checksum_right() {
        for traffic_class in 0..=255_u8 {
            let plain = udp_4(traffic_class);
            let mut packet = IpPacket::parse(plain.clone()).unwrap();
            assert_eq!(packet.header().dscp, traffic_class >> 2);
            packet.mark();
            assert_eq!(packet.ecn(), Ecn::Ce);
            let marked = packet.bytes();
            assert_eq!(sum(&marked[..20]), 0xffff, "traffic class {traffic_class}");
            assert_eq!(marked[1], traffic_class | 3);
            assert_eq!(
                (&marked[2..10], &marked[12..]),
                (&plain[2..10], &plain[12..])
            );
            let again = IpPacket::parse(marked.to_vec()).unwrap();
            assert_eq!(again.ecn(), Ecn::Ce);

            let plain = udp_6(traffic_class, &[], &[17]);
            let mut packet = IpPacket::parse(plain.clone()).unwrap();
            assert_eq!(packet.header().dscp, traffic_class >> 2);
            packet.mark();
            let expected = udp_6(traffic_class | 3, &[], &[17]);
            assert_eq!(packet.bytes(), expected);
        }
    }

    #[test]
    fn a_field_is_set_and_keeps_the_checksum_right() {
        for traffic_class in 0..=255_u8 {
            for (bits, ecn) in [
                (0, Ecn::NotEct),
                (1, Ecn::Ect1),
                (2, Ecn::Ect0),
                (3, Ecn::Ce),
            ] {
                let mut packet = IpPacket::parse(udp_4(traffic_class)).unwrap();
                packet.set_ecn(ecn);
                assert_eq!(packet.ecn(), ecn);
                assert_eq!(packet.bytes()[1], traffic_class & !3 | bits);
                assert_eq!(
                    sum(&packet.bytes()[..20]),
                    0xffff,
                    "{traffic_class} {ecn:?}"
                );
                let mut packet = IpPacket::parse(udp_6(traffic_class, &[], &[17])).unwrap();
                packet.set_ecn(ecn);
                let expected = udp_6(traffic_class & !3 | bits, &[], &[17]);
                assert_eq!(packet.bytes(), expected);
            }
        }
    }

    #[test]
    fn the_ecn_field_is_read() {
        for (bits, ecn) in [
            (0, Ecn::NotEct),
            (1, Ecn::Ect1),
            (2, Ecn::Ect0),
            (3, Ecn::Ce),
        ] {
            assert_eq!(IpPacket::parse(udp_4(bits)).unwrap().ecn(), ecn);
            let packet = IpPacket::parse(udp_6(0xb8 | bits, &[], &[17])).unwrap();
            assert_eq!((packet.ecn(), packet.header().dscp), (ecn, 46));
        }
    }

    #[test]
    fn flows_are_told_apart_behind_extension_headers() {
        let plain = IpPacket::parse(udp_6(0, &[], &[17])).unwrap().header();
        assert_eq!(
            (plain.protocol, plain.source_port, plain.destination_port),
            (17, 5000, 443)
        );
        // Hop-by-hop options of 16 bytes, then the first fragment.
        let options: &[u8] = &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let fragment: &[u8] = &[0, 0, 1, 0, 0, 0, 9];
        let behind = udp_6(0, &[options, fragment], &[0, 44, 17]);
        assert_eq!(IpPacket::parse(behind).unwrap().header(), plain);
        let later: &[u8] = &[0, 0, 8, 0, 0, 0, 9];
        let header = IpPacket::parse(udp_6(0, &[later], &[44, 17]))
            .unwrap()
            .header();
        assert_eq!((header.protocol, header.source_port), (17, 0));
        // A later fragment of IPv4.
        let mut bytes = udp_4(0);
        bytes[7] = 1;
        let header = IpPacket::parse(bytes).unwrap().header();
        assert_eq!((header.source_port, header.destination_port), (0, 0));
    }

    #[test]
    fn what_is_no_packet_is_refused_and_nothing_panics() {
        assert_eq!(IpPacket::parse(vec![]), Err(NotIp::Short(0)));
        assert_eq!(IpPacket::parse(vec![0x50; 40]), Err(NotIp::Version(5)));
        assert_eq!(IpPacket::parse(vec![0x44; 40]), Err(NotIp::Short(40)));
        for whole in [udp_4(0), udp_6(0, &[&[0; 7]], &[60, 17])] {
            for length in 0..whole.len() {
                // Bytes with a whole IP header are a packet, however few follow it.
                let header = if whole[0] >> 4 == 4 { 20 } else { 40 };
                let parsed = IpPacket::parse(whole[..length].to_vec());
                assert_eq!(parsed.is_ok(), length >= header, "{length}");
                if let Ok(mut packet) = parsed {
                    packet.mark();
                }
            }
        }
    }
}
