//! RTCP packets and the compounds they come in (RFC 3550, section 6).

/// Bytes of the common header (RFC 3550, section 6.4.1).
const HEADER: usize = 4;
/// The known version, in the upper two bits of the first byte (RFC 3550, section 5.1).
const VERSION: u8 = 2;
/// The bit that announces padding, whose length is the packet's last byte.
const PADDING_MASK: u8 = 0x20;
/// The bits with the number of reports or the format of the feedback.
const FORMAT_MASK: u8 = 0x1f;
/// Bytes in a word; lengths are counted in words.
const WORD: usize = 4;
/// The most bytes of a packet: its length has 16 bits.
pub(crate) const LONGEST: usize = HEADER + WORD * u16::MAX as usize;

/// RTCP payload type of transport-layer feedback (RFC 4585, section 6.1).
pub const TRANSPORT_FEEDBACK: u8 = 205;

/// One packet of a compound.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Packet<'a> {
    /// RTCP payload type of the packet.
    pub payload_type: u8,
    /// Format of a feedback packet; number of blocks in a report.
    pub format: u8,
    /// The bytes behind the common header, without padding.
    pub contents: &'a [u8],
}

/// Why bytes are not a compound of RTCP packets. The sender is to blame.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RtcpError {
    /// Fewer bytes than a header has are left.
    #[error("{left} bytes at byte {at}; an RTCP packet has at least 4")]
    NoHeader {
        /// Offset of the packet in bytes.
        at: usize,
        /// Number of bytes left.
        left: usize,
    },
    /// The packet is of another version of RTP.
    #[error("version {version} of RTCP at byte {at}; version 2 is known")]
    Version {
        /// Offset of the packet in bytes.
        at: usize,
        /// Version that the packet names.
        version: u8,
    },
    /// The packet announces more bytes than the compound has.
    #[error("the RTCP packet at byte {at} says that it has {length} bytes, but {left} are left")]
    TooLong {
        /// Offset of the packet in bytes.
        at: usize,
        /// Number of bytes that the packet announces.
        length: usize,
        /// Number of bytes left.
        left: usize,
    },
    /// The packet announces padding of no bytes, or more padding than it has room for.
    #[error(
        "{padding} bytes of padding in the RTCP packet at byte {at}, which has room for {room}"
    )]
    Padding {
        /// Offset of the packet in bytes.
        at: usize,
        /// Number of bytes of padding that the packet's last byte names.
        padding: usize,
        /// Number of bytes behind the header.
        room: usize,
    },
}

/// The packets of a compound, in their order. The first error is the last item:
/// nothing says where the next packet would begin.
///
/// A compound of feedback alone, without the report in front that RFC 3550 wants, is valid (RFC
/// 5506).
pub fn packets(compound: &[u8]) -> impl Iterator<Item = Result<Packet<'_>, RtcpError>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        if at >= compound.len() {
            return None;
        }
        let packet = packet(compound, at);
        at = match &packet {
            Ok((_, end)) => *end,
            Err(_) => compound.len(),
        };
        Some(packet.map(|(packet, _)| packet))
    })
}

/// Reads the packet at offset `at`, and returns it with the offset of its end.
fn packet(compound: &[u8], at: usize) -> Result<(Packet<'_>, usize), RtcpError> {
    let rest = compound.get(at..).unwrap_or_default();
    let left = rest.len();
    let Some(([first, payload_type, words @ ..], _)) = rest.split_first_chunk::<HEADER>() else {
        return Err(RtcpError::NoHeader { at, left });
    };
    let version = first >> 6;
    if version != VERSION {
        return Err(RtcpError::Version { at, version });
    }
    let length = HEADER + WORD * usize::from(u16::from_be_bytes(*words));
    let too_long = RtcpError::TooLong { at, length, left };
    let mut contents = rest.get(HEADER..length).ok_or(too_long)?;
    if first & PADDING_MASK != 0 {
        let room = contents.len();
        let padding = usize::from(contents.last().copied().unwrap_or(0));
        let kept = room.checked_sub(padding).filter(|_| padding > 0);
        let kept = kept.ok_or(RtcpError::Padding { at, padding, room })?;
        contents = &contents[..kept];
    }
    let packet = Packet {
        payload_type: *payload_type,
        format: first & FORMAT_MASK,
        contents,
    };
    Ok((packet, at + length))
}

/// Writes a packet with these contents, of at most 65535 words, filled up with zeros to a whole
/// word.
pub(crate) fn write(payload_type: u8, format: u8, contents: &[u8]) -> Vec<u8> {
    let words = contents.len().div_ceil(WORD);
    let length = u16::try_from(words).unwrap_or(u16::MAX);
    let mut packet = Vec::with_capacity(HEADER + WORD * words);
    packet.extend_from_slice(&[VERSION << 6 | format & FORMAT_MASK, payload_type]);
    packet.extend_from_slice(&length.to_be_bytes());
    packet.extend_from_slice(contents);
    packet.resize(HEADER + WORD * words, 0);
    packet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compound_falls_into_its_packets() {
        let mut compound = write(201, 1, &[1, 2, 3, 4]);
        compound.extend(write(205, 15, &[5]));
        compound.extend([0xa0, 200, 0, 1, 9, 0, 0, 3]);
        let packets: Vec<_> = packets(&compound).map(Result::unwrap).collect();
        let packet = |payload_type, format, contents| Packet {
            payload_type,
            format,
            contents,
        };
        assert_eq!(
            packets,
            [
                packet(201, 1, &[1, 2, 3, 4][..]),
                packet(205, 15, &[5, 0, 0, 0]),
                packet(200, 0, &[9]),
            ]
        );
        assert_eq!(super::packets(&[]).count(), 0);
    }

    #[test]
    fn a_broken_packet_ends_the_compound() {
        let error = |bytes: &[u8]| {
            let all: Vec<_> = packets(bytes).collect();
            assert_eq!(all.iter().filter(|packet| packet.is_err()).count(), 1);
            all.last().copied().unwrap().unwrap_err()
        };
        let (at, left) = (4, 2);
        assert_eq!(
            error(&[0x80, 201, 0, 0, 0x80, 201]),
            RtcpError::NoHeader { at, left }
        );
        assert_eq!(
            error(&[0x40, 201, 0, 0, 0x80, 201, 0, 0]),
            RtcpError::Version { at: 0, version: 1 }
        );
        let (at, length, left) = (0, 8, 4);
        assert_eq!(
            error(&[0x80, 201, 0, 1]),
            RtcpError::TooLong { at, length, left }
        );
        for (padding, bytes) in [
            (0, [0xa0, 201, 0, 1, 0, 0, 0, 0]),
            (5, [0xa0, 201, 0, 1, 0, 0, 0, 5]),
        ] {
            let (at, room) = (0, 4);
            assert_eq!(error(&bytes), RtcpError::Padding { at, padding, room });
        }
        let (at, padding, room) = (0, 0, 0);
        assert_eq!(
            error(&[0xa0, 201, 0, 0]),
            RtcpError::Padding { at, padding, room }
        );
    }
}
