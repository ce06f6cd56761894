//! Payloads of repair packets: what is coded of a frame's packets (`mimosa-fec`), and of which.
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
//! `media` is how many packets the frame has; their RTP sequence numbers follow `sequence
//! before`. `place` is this packet's among media and repair packets, `media` for the first
//! repair packet. `frame` is the low part of the frame's number and `distance` how far back
//! the one is that it refers to, zero for a keyframe, as in a dependency descriptor, which
//! such a packet is without.
//!
//! The format is our own. Repair packets are on the stream of retransmissions (RFC 4588),
//! where packets with a payload and no dependency descriptor are none: a receiver that takes
//! them for ones reads the sequence number of a packet that is done with. Both ends say with
//! [`ATTRIBUTE`] in the session description that they know it.

/// The line of the session description.
pub const ATTRIBUTE: &str = "a=x-mimosa-repair";

/// Length of what is in front of the coded bytes.
const HEADER: usize = 8;

/// A repair packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Repair<'a> {
    /// RTP sequence number before that of the frame's first packet.
    pub before: u16,
    /// Its place among the packets of its frame, behind all media packets.
    pub place: u8,
    /// How many media packets the frame has, at least one.
    pub media: u8,
    /// The low 16 bits of the frame's number.
    pub frame: u16,
    /// How many frames back the one is that it refers to; zero for a keyframe.
    pub distance: u16,
    /// What is coded of them.
    pub coded: &'a [u8],
}

/// Why a payload is no repair packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum RepairError {
    /// There is no room for the header and the coded length.
    #[error("a repair packet of {length} bytes; it has at least 10")]
    TooShort {
        /// Length of the payload.
        length: usize,
    },
    /// Its place is a media packet's, or there is none.
    #[error("a repair packet at place {place} of {media} media packets; its place is behind them")]
    BadPlace {
        /// Its place.
        place: u8,
        /// How many media packets there are.
        media: u8,
    },
}

impl<'a> Repair<'a> {
    /// The payload.
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
    /// [`RepairError`] when it is none.
    pub fn parse(payload: &'a [u8]) -> Result<Self, RepairError> {
        let length = payload.len();
        let too_short = RepairError::TooShort { length };
        let (header, coded) = payload.split_first_chunk::<HEADER>().ok_or(too_short)?;
        let &[b0, b1, place, media, f0, f1, d0, d1] = header;
        // Coded are two bytes of length at least.
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
