//! Payloads of repair packets: coded bytes (`mimosa-fec`), and the packets of a frame they cover.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |       sequence before         |     place     |     media     |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |            frame              |           distance            |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   coded ...
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```
//!
//! `media` is the number of the frame's media packets; their RTP sequence numbers follow
//! `sequence before`. `place` is this packet's place among media and repair packets: `media` for
//! the first repair packet. `frame` is the low part of the frame's number, and `distance` tells how
//! many frames before it the frame is that it refers to, zero for a keyframe; other packets have
//! these two in a dependency descriptor.
//!
//! The format is our own. Repair packets are sent on the stream of retransmissions (RFC 4588), on
//! which a packet with a payload and without a dependency descriptor is not a retransmission. A
//! receiver that takes it for one reads the sequence number of a packet that it no longer needs.
//! Both ends say with [`ATTRIBUTE`] in the session description that they know the format.

/// The line of the session description that says that an end knows repair packets.
pub const ATTRIBUTE: &str = "a=x-mimosa-repair";

/// Number of bytes in front of the coded bytes.
const HEADER: usize = 8;

/// A repair packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Repair<'a> {
    /// RTP sequence number before the first packet of the frame.
    pub before: u16,
    /// The packet's place among the packets of its frame, behind all media packets.
    pub place: u8,
    /// Number of media packets in the frame, at least one.
    pub media: u8,
    /// The low 16 bits of the frame's number.
    pub frame: u16,
    /// How many frames before this one the frame is that it refers to; zero for a keyframe.
    pub distance: u16,
    /// The bytes coded from the frame's media packets.
    pub coded: &'a [u8],
}

/// Why a payload is not a repair packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum RepairError {
    /// The payload is too short for the header and the coded length.
    #[error("a repair packet of {length} bytes; it has at least 10")]
    TooShort {
        /// Length of the payload in bytes.
        length: usize,
    },
    /// The packet's place is that of a media packet, or the frame has no media packets.
    #[error("a repair packet at place {place} of {media} media packets; its place is behind them")]
    BadPlace {
        /// The packet's place.
        place: u8,
        /// Number of media packets in the frame.
        media: u8,
    },
}

impl<'a> Repair<'a> {
    /// The repair packet as a payload.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let [before, frame, distance] =
            [self.before, self.frame, self.distance].map(u16::to_be_bytes);
        let places = [self.place, self.media];
        [&before, &places, &frame, &distance, self.coded].concat()
    }

    /// Reads a payload.
    ///
    /// # Errors
    ///
    /// [`RepairError`] when the payload is not a repair packet.
    pub fn parse(payload: &'a [u8]) -> Result<Self, RepairError> {
        let length = payload.len();
        let too_short = RepairError::TooShort { length };
        let (header, coded) = payload.split_first_chunk::<HEADER>().ok_or(too_short)?;
        let &[b0, b1, place, media, f0, f1, d0, d1] = header;
        // The coded bytes begin with a length of two bytes.
        if coded.len() < 2 {
            return Err(too_short);
        }
        if media == 0 || place < media {
            return Err(RepairError::BadPlace { place, media });
        }
        Ok(Self {
            before: u16::from_be_bytes([b0, b1]),
            place,
            media,
            frame: u16::from_be_bytes([f0, f1]),
            distance: u16::from_be_bytes([d0, d1]),
            coded,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repair_packet_is_read_as_it_was_written() {
        let repair = Repair {
            before: 0xFFFE,
            place: 13,
            media: 12,
            frame: 0x0203,
            distance: 1,
            coded: &[0, 1, 7],
        };
        let bytes = repair.to_bytes();
        assert_eq!(bytes, [0xFF, 0xFE, 13, 12, 2, 3, 0, 1, 0, 1, 7]);
        assert_eq!(Repair::parse(&bytes), Ok(repair));
    }

    #[test]
    fn what_is_none_is_refused() {
        let bad = |bytes: &[u8]| Repair::parse(bytes).unwrap_err();
        assert_eq!(bad(&[]), RepairError::TooShort { length: 0 });
        let short = [0, 0, 2, 1, 0, 0, 0, 0, 0];
        assert_eq!(bad(&short), RepairError::TooShort { length: 9 });
        let (place, media) = (3, 4);
        let early = [0, 0, place, media, 0, 0, 0, 0, 0, 0];
        assert_eq!(bad(&early), RepairError::BadPlace { place, media });
        let (place, media) = (1, 0);
        let none = [0, 0, place, media, 0, 0, 0, 0, 0, 0];
        assert_eq!(bad(&none), RepairError::BadPlace { place, media });
    }
}
