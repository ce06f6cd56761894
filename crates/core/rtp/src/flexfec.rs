//! Payloads of `FlexFEC` packets as browsers use them: exclusive ors of whole RTP packets.
//!
//! *Source:* draft-ietf-payload-flexible-fec-scheme-03, section 4.2.2.1 (flexible masks) for one
//! protected stream, which libwebrtc calls `flexfec-03`; RFC 8627, its later form, has another
//! header.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |0|0|P|X|  CC   |M| PT recovery |        length recovery        |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                          TS recovery                          |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   SSRC count  |                   reserved                    |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                             SSRC                              |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |           SN base             |k|          mask [0-14]        |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |k|                       mask [15-45]                          |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |k|                                                             |
//! |                         mask [46-108]                         |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```
//!
//! A `k` bit that is set ends the mask. Behind the mask is the exclusive or of the packets' bytes
//! behind their fixed header: header extensions and payload. Extensions that change on the way,
//! such as the transport-wide number, count as zero at the receiver ([`zero_extension`]).

/// Length in bytes of RTP's fixed header (RFC 3550, section 5.1).
const RTP_HEADER: usize = 12;
/// Profiles of header extensions with one-byte and two-byte headers (RFC 8285, sections 4.2 and
/// 4.3).
const ONE_BYTE: u16 = 0xBEDE;
const TWO_BYTES: u16 = 0x1000;
/// How many sequence numbers a mask of each of the three lengths covers.
const MASKS: [usize; 3] = [15, 46, 109];

/// The payload that protects `packets` of the stream `ssrc`, each given with the offset of its
/// sequence number from `base`. `None` when a packet is not RTP, or its offset is beyond the
/// longest mask.
#[must_use]
pub fn protect(ssrc: u32, base: u16, packets: &[(usize, &[u8])]) -> Option<Vec<u8>> {
    let furthest = packets.iter().map(|(offset, _)| *offset).max()?;
    let reach = MASKS.into_iter().find(|reach| furthest < *reach)?;
    let mut fixed = [0_u8; 8];
    let mut rest: Vec<u8> = Vec::new();
    let mut mask = 0_u128;
    for &(offset, packet) in packets {
        let (header, behind) = packet.split_first_chunk::<RTP_HEADER>()?;
        let length = u16::try_from(behind.len()).ok()?.to_be_bytes();
        let timestamp = &header[4..8];
        let recovery = [&header[..2], &length, timestamp].concat();
        xor(&mut fixed, &recovery);
        if rest.len() < behind.len() {
            rest.resize(behind.len(), 0);
        }
        xor(&mut rest, behind);
        mask |= 1 << (108 - offset);
    }
    fixed[0] &= 0x3F;
    let mut payload = fixed.to_vec();
    payload.extend([1, 0, 0, 0]);
    payload.extend(ssrc.to_be_bytes());
    payload.extend(base.to_be_bytes());
    payload.extend(masks(mask, reach));
    payload.extend(rest);
    Some(payload)
}

/// The mask of 109 bits, the highest for offset zero, with its `k` bits.
#[expect(
    clippy::cast_possible_truncation,
    reason = "parts of the mask are meant"
)]
fn masks(mask: u128, reach: usize) -> Vec<u8> {
    let first = (mask >> 94) as u16 & 0x7FFF;
    let second = (mask >> 63) as u32 & 0x7FFF_FFFF;
    let third = mask as u64 & 0x7FFF_FFFF_FFFF_FFFF;
    let ends = |at: usize| reach == MASKS[at];
    let mut bytes = (first | u16::from(ends(0)) << 15).to_be_bytes().to_vec();
    if !ends(0) {
        bytes.extend((second | u32::from(ends(1)) << 31).to_be_bytes());
        if !ends(1) {
            bytes.extend((third | 1 << 63).to_be_bytes());
        }
    }
    bytes
}

fn xor(sum: &mut [u8], other: &[u8]) {
    for (byte, other) in sum.iter_mut().zip(other) {
        *byte ^= other;
    }
}

/// Offset of the payload in an RTP packet; `None` when the bytes are not RTP.
#[must_use]
pub fn header_length(packet: &[u8]) -> Option<usize> {
    let &first = packet.first()?;
    let sources = RTP_HEADER + 4 * usize::from(first & 0x0F);
    let length = if first & 0x10 == 0 {
        sources
    } else {
        let words = packet.get(sources + 2..sources + 4)?;
        sources + 4 + 4 * usize::from(u16::from_be_bytes([words[0], words[1]]))
    };
    (first >> 6 == 2 && packet.len() >= length).then_some(length)
}

/// Sets the data of the header extension `id` to zero, wherever it is in `header`.
pub fn zero_extension(header: &mut [u8], id: u8) {
    let Some(length) = header_length(header).filter(|_| header[0] & 0x10 != 0) else {
        return;
    };
    let sources = RTP_HEADER + 4 * usize::from(header[0] & 0x0F);
    let profile = u16::from_be_bytes([header[sources], header[sources + 1]]);
    let mut rest = &mut header[sources + 4..length];
    loop {
        let (number, data, size) = match (profile, &*rest) {
            (ONE_BYTE | TWO_BYTES, [0, ..]) => (0, 0, 1),
            (ONE_BYTE, [first, ..]) => (first >> 4, 1, 2 + usize::from(first & 0x0F)),
            (TWO_BYTES, [number, size, ..]) => (*number, 2, 2 + usize::from(*size)),
            _ => return,
        };
        let Some((element, behind)) = rest.split_at_mut_checked(size) else {
            return;
        };
        if number == id && number != 0 {
            element[data..].fill(0);
        }
        rest = behind;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An RTP packet with an extension of number 3, two bytes, and one of number 4.
    fn packet(sequence: u16, transport: [u8; 2], payload: &[u8]) -> Vec<u8> {
        let [high, low] = sequence.to_be_bytes();
        let mut packet = vec![0x90, 96, high, low, 0, 0, 0, 9, 1, 2, 3, 4];
        packet.extend([0xBE, 0xDE, 0, 2]);
        packet.extend([0x31, transport[0], transport[1], 0, 0x40, 0xEE, 0, 0]);
        packet.extend(payload);
        packet
    }

    #[test]
    fn what_changes_on_the_way_is_zero() {
        let mut header = packet(7, [1, 2], &[]);
        zero_extension(&mut header, 3);
        assert_eq!(header, packet(7, [0, 0], &[]));
        let mut two = vec![0x90, 96, 0, 7, 0, 0, 0, 9, 1, 2, 3, 4];
        two.extend([0x10, 0, 0, 2, 4, 1, 0xEE, 3, 2, 5, 6, 0]);
        zero_extension(&mut two, 3);
        assert_eq!(two[16..], [4, 1, 0xEE, 3, 2, 0, 0, 0]);
        // Nothing, and broken ones.
        let mut plain = vec![0x80, 96, 0, 7, 0, 0, 0, 9, 1, 2, 3, 4, 5];
        zero_extension(&mut plain, 3);
        assert_eq!(plain[12], 5);
        assert_eq!(header_length(&plain), Some(12));
        for length in 0..two.len() {
            zero_extension(&mut two[..length].to_vec(), 3);
        }
        let mut beyond = packet(7, [1, 2], &[]);
        beyond[16] = 0x3F;
        zero_extension(&mut beyond, 3);
    }

    /// Recovered as the draft's section 6.3.2 has it.
    #[test]
    fn the_exclusive_or_with_all_but_one_gives_that_one() {
        let packets = [
            packet(65_535, [0, 0], b"one"),
            packet(0, [0, 0], b"number two"),
            packet(2, [0, 0], b""),
        ];
        let offsets = [0_usize, 1, 3];
        let all: Vec<_> = offsets
            .into_iter()
            .zip(packets.iter().map(Vec::as_slice))
            .collect();
        let payload = protect(0x0102_0304, 65_535, &all).unwrap();
        assert_eq!(payload[8..16], [1, 0, 0, 0, 1, 2, 3, 4]);
        assert_eq!(payload[16..20], [0xFF, 0xFF, 0b1110_1000, 0]);
        let (header, mut rest) = (payload[..8].to_vec(), payload[20..].to_vec());
        let mut fixed = header;
        for packet in [&packets[0], &packets[2]] {
            xor(&mut rest, &packet[12..]);
            let length = u16::try_from(packet.len() - 12).unwrap().to_be_bytes();
            xor(&mut fixed, &[&packet[..2], &length, &packet[4..8]].concat());
        }
        let length = usize::from(u16::from_be_bytes([fixed[2], fixed[3]]));
        assert_eq!(rest[..length], packets[1][12..]);
        assert_eq!((fixed[0] & 0x3F, fixed[1]), (0x10, 96));
        assert_eq!(fixed[4..8], packets[1][4..8]);
    }

    #[test]
    fn masks_are_as_long_as_they_must_be() {
        let one = packet(0, [0, 0], b"x");
        let mask = |offset| {
            let payload = protect(1, 0, &[(0, &one), (offset, &one)])?;
            Some(payload[18..payload.len() - (one.len() - 12)].to_vec())
        };
        assert_eq!(mask(14).unwrap(), [0xC0, 1]);
        assert_eq!(mask(15).unwrap(), [0x40, 0, 0xC0, 0, 0, 0]);
        assert_eq!(mask(45).unwrap(), [0x40, 0, 0x80, 0, 0, 1]);
        let long = [0x40, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 1];
        assert_eq!(mask(108).unwrap(), long);
        assert_eq!(mask(109), None);
        assert_eq!(protect(1, 0, &[(0, &one[..11])]), None);
        assert_eq!(protect(1, 0, &[]), None);
    }
}
