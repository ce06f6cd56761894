//! Generic NACK: a receiver's report of the packets that it lacks (RFC 4585, section 6.2.1).

use crate::reader::Reader;
use crate::rtcp::{self, Packet, TRANSPORT_FEEDBACK};

/// The format number of a generic NACK in transport-layer feedback.
const FORMAT: u8 = 1;
/// The number of sequence numbers behind the first that a pair's mask can name.
const MASK_BITS: u16 = 16;

/// The packets of one stream that a receiver lacks.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Nack {
    /// SSRC of the receiver, which sends the NACK.
    pub sender_ssrc: u32,
    /// SSRC of the stream whose packets are lacking.
    pub media_ssrc: u32,
    /// RTP sequence numbers of the lacking packets.
    pub lost: Vec<u16>,
}

/// Why a packet is not a valid generic NACK. The sender is to blame.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NackError {
    /// The packet is of another kind.
    #[error("a packet of type {payload_type}, format {format}; a generic NACK is 205, 1")]
    OtherPacket {
        /// RTCP payload type of the packet.
        payload_type: u8,
        /// Feedback format of the packet.
        format: u8,
    },
    /// The packet does not consist of two SSRCs and at least one pair.
    #[error("a generic NACK of {length} bytes; it has 8, and 4 for each of one or more pairs")]
    Length {
        /// Number of bytes behind the common header.
        length: usize,
    },
}

impl Nack {
    /// Whether an RTCP packet is a generic NACK.
    #[must_use]
    pub const fn is(packet: &Packet<'_>) -> bool {
        packet.payload_type == TRANSPORT_FEEDBACK && packet.format == FORMAT
    }

    /// Reads a NACK from an RTCP packet.
    ///
    /// # Errors
    ///
    /// [`NackError`] when the packet is of another kind or of a wrong length.
    pub fn parse(packet: &Packet<'_>) -> Result<Self, NackError> {
        if !Self::is(packet) {
            return Err(NackError::OtherPacket {
                payload_type: packet.payload_type,
                format: packet.format,
            });
        }
        let length = packet.contents.len();
        let mut reader = Reader::new(packet.contents);
        let (Some(sender), Some(media)) = (reader.take(), reader.take()) else {
            return Err(NackError::Length { length });
        };
        if reader.left() == 0 || !reader.left().is_multiple_of(4) {
            return Err(NackError::Length { length });
        }
        let mut lost = Vec::new();
        while let (Some(first), Some(mask)) = (reader.take(), reader.take()) {
            let (first, mask) = (u16::from_be_bytes(first), u16::from_be_bytes(mask));
            lost.push(first);
            let named = (0..MASK_BITS).filter(|bit| mask >> bit & 1 == 1);
            lost.extend(named.map(|bit| first.wrapping_add(1 + bit)));
        }
        Ok(Self {
            sender_ssrc: u32::from_be_bytes(sender),
            media_ssrc: u32::from_be_bytes(media),
            lost,
        })
    }

    /// The NACK as the bytes of an RTCP packet. `lost` should not be empty; each number in it is
    /// written once, in the order of the sequence from the first on.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut lost = self.lost.clone();
        if let Some(&first) = lost.first() {
            lost.sort_unstable_by_key(|sequence| sequence.wrapping_sub(first));
            lost.dedup();
        }
        let mut contents = [self.sender_ssrc, self.media_ssrc]
            .map(u32::to_be_bytes)
            .concat();
        let mut rest = lost.as_slice();
        while let Some((&first, behind)) = rest.split_first() {
            let bit = |sequence: &u16| sequence.wrapping_sub(first) - 1;
            let named = behind
                .iter()
                .take_while(|sequence| bit(sequence) < MASK_BITS)
                .count();
            let mask = behind[..named]
                .iter()
                .fold(0u16, |mask, sequence| mask | 1 << bit(sequence));
            contents.extend_from_slice(&first.to_be_bytes());
            contents.extend_from_slice(&mask.to_be_bytes());
            rest = &behind[named..];
        }
        rtcp::write(TRANSPORT_FEEDBACK, FORMAT, &contents)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(bytes: &[u8]) -> Result<Nack, NackError> {
        let packets: Vec<_> = rtcp::packets(bytes).map(Result::unwrap).collect();
        assert_eq!(packets.len(), 1);
        Nack::parse(&packets[0])
    }

    #[test]
    fn a_pair_names_up_to_seventeen_packets() {
        let nack = Nack {
            sender_ssrc: 1,
            media_ssrc: 2,
            lost: vec![65_534, 65_535, 14, 15],
        };
        let bytes = nack.to_bytes();
        assert_eq!(
            bytes,
            [
                0x81, 205, 0, 4, 0, 0, 0, 1, 0, 0, 0, 2, 0xff, 0xfe, 0x80, 1, 0, 15, 0, 0
            ]
        );
        assert_eq!(parsed(&bytes), Ok(nack));
    }

    #[test]
    fn a_wrong_packet_is_refused() {
        let (payload_type, format) = (206, 1);
        assert_eq!(
            parsed(&rtcp::write(206, 1, &[0; 12])),
            Err(NackError::OtherPacket {
                payload_type,
                format
            })
        );
        for length in [0, 4, 8] {
            assert_eq!(
                parsed(&rtcp::write(205, 1, &vec![0; length])),
                Err(NackError::Length { length })
            );
        }
        let padded = [0xa1, 205, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 1, 0, 2];
        assert_eq!(parsed(&padded), Err(NackError::Length { length: 10 }));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn every_number_comes_back_once(
            lost in prop::collection::vec(any::<u16>().prop_map(|n| n >> 7 << 3), 1..80),
        ) {
            let nack = Nack { sender_ssrc: 7, media_ssrc: 8, lost };
            let mut back = parsed(&nack.to_bytes()).unwrap().lost;
            let mut expected = nack.lost.clone();
            back.sort_unstable();
            expected.sort_unstable();
            expected.dedup();
            prop_assert_eq!(back, expected);
        }
    }
}
