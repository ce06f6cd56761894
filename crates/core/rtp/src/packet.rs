//! The header of an RTP packet (RFC 3550, section 5.1), and how RTP and RTCP are told apart on one
//! port (RFC 5761, section 4).
//!
//! *Deviation.* Padding counts as payload: under SRTP (RFC 3711, section 3.1) its length is
//! encrypted, and this reader is also for packets of which only the header can be read.

use crate::reader::Reader;

/// The known version, in the upper two bits of the first byte.
const VERSION: u8 = 2;
/// Bytes of the header without contributing sources and extension.
const FIXED: usize = 12;
/// The second bytes that are types of RTCP packets (RFC 5761, section 4).
const RTCP_TYPES: std::ops::RangeInclusive<u8> = 192..=223;

/// An RTP packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Packet<'a> {
    /// Whether the marker bit is set; for video, it is on the last packet of a frame.
    pub marker: bool,
    /// Payload type, from 0 to 127.
    pub payload_type: u8,
    /// Sequence number in the packet's stream.
    pub sequence: u16,
    /// Sampling time, in units of the stream's clock.
    pub timestamp: u32,
    /// SSRC of the packet's stream.
    pub ssrc: u32,
    /// The profile's number and the contents of the header extension.
    pub extension: Option<(u16, &'a [u8])>,
    /// The payload, with padding.
    pub payload: &'a [u8],
}

/// What a datagram is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Datagram<'a> {
    /// An RTP packet.
    Rtp(Packet<'a>),
    /// A compound of RTCP packets, which has not been read.
    Rtcp,
}

/// Why a datagram is neither RTP nor RTCP. Its sender is to blame.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RtpError {
    /// The datagram is too short for a header.
    #[error("a datagram of {length} bytes; an RTP packet has at least 12, one of RTCP 8")]
    TooShort {
        /// Number of bytes in the datagram.
        length: usize,
    },
    /// The datagram is of another version of RTP, or of another protocol.
    #[error("version {version} in the first byte; version 2 of RTP is known")]
    Version {
        /// The upper two bits of the first byte.
        version: u8,
    },
    /// The packet ends within its contributing sources or its extension.
    #[error("an RTP packet of {length} bytes, whose header has more")]
    HeaderCut {
        /// Number of bytes in the datagram.
        length: usize,
    },
}

impl<'a> Datagram<'a> {
    /// Reads a datagram.
    ///
    /// # Errors
    ///
    /// [`RtpError`] if the datagram is neither RTP nor RTCP. Of RTCP only the first header is
    /// looked at.
    pub fn parse(datagram: &'a [u8]) -> Result<Self, RtpError> {
        let length = datagram.len();
        let &[first, second, ..] = datagram else {
            return Err(RtpError::TooShort { length });
        };
        let version = first >> 6;
        if version != VERSION {
            return Err(RtpError::Version { version });
        }
        if RTCP_TYPES.contains(&second) {
            // A header and an SSRC.
            return if length < 8 {
                Err(RtpError::TooShort { length })
            } else {
                Ok(Self::Rtcp)
            };
        }
        if length < FIXED {
            return Err(RtpError::TooShort { length });
        }
        Packet::read(datagram)
            .map(Self::Rtp)
            .ok_or(RtpError::HeaderCut { length })
    }
}

impl<'a> Packet<'a> {
    fn read(datagram: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(datagram);
        let [first, second] = reader.take()?;
        let sequence = u16::from_be_bytes(reader.take()?);
        let timestamp = u32::from_be_bytes(reader.take()?);
        let ssrc = u32::from_be_bytes(reader.take()?);
        let sources = usize::from(first & 0x0f);
        let mut payload = datagram.get(FIXED + 4 * sources..)?;
        let mut extension = None;
        if first & 0x10 != 0 {
            let (&[p0, p1, w0, w1], rest) = payload.split_first_chunk()?;
            let words = usize::from(u16::from_be_bytes([w0, w1]));
            let (contents, rest) = rest.split_at_checked(4 * words)?;
            extension = Some((u16::from_be_bytes([p0, p1]), contents));
            payload = rest;
        }
        Some(Self {
            marker: second & 0x80 != 0,
            payload_type: second & 0x7f,
            sequence,
            timestamp,
            ssrc,
            extension,
            payload,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet with one contributing source and an extension of one word.
    const FULL: [u8; 27] = [
        0x91, 0xe0, 0xff, 0xfe, 0, 0, 0, 9, 1, 2, 3, 4, 0, 0, 0, 7, 0xbe, 0xde, 0, 1, 5, 6, 7, 8,
        0x65, 1, 2,
    ];

    #[test]
    fn every_part_of_a_header_is_read() {
        let expected = Packet {
            marker: true,
            payload_type: 96,
            sequence: 0xfffe,
            timestamp: 9,
            ssrc: 0x0102_0304,
            extension: Some((0xbede, &[5, 6, 7, 8])),
            payload: &[0x65, 1, 2],
        };
        assert_eq!(Datagram::parse(&FULL), Ok(Datagram::Rtp(expected)));
    }

    #[test]
    fn what_is_cut_off_is_refused() {
        for length in 0..24 {
            let error = Datagram::parse(&FULL[..length]).unwrap_err();
            let expected = if length < FIXED {
                RtpError::TooShort { length }
            } else {
                RtpError::HeaderCut { length }
            };
            assert_eq!(error, expected);
        }
        assert!(Datagram::parse(&FULL[..24]).is_ok(), "an empty payload");
    }

    #[test]
    fn rtcp_and_other_protocols_are_told_apart() {
        let report = [0x80, 201, 0, 1, 0, 0, 0, 9];
        assert_eq!(Datagram::parse(&report), Ok(Datagram::Rtcp));
        let short = Datagram::parse(&report[..4]);
        assert_eq!(short, Err(RtpError::TooShort { length: 4 }));
        // A payload type of 64 with the marker looks like RTCP; 63 does not.
        let mut packet = FULL;
        packet[1] = 0x80 | 63;
        assert!(matches!(Datagram::parse(&packet), Ok(Datagram::Rtp(_))));
        packet[1] = 0x80 | 64;
        assert_eq!(Datagram::parse(&packet), Ok(Datagram::Rtcp));
        // STUN, and a handshake of DTLS.
        for first in [0, 22] {
            let bytes = [first; 40];
            assert_eq!(
                Datagram::parse(&bytes),
                Err(RtpError::Version { version: 0 })
            );
        }
    }
}
