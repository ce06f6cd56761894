//! Cuts temporal units into payloads (section 4 of the RTP specification).
//!
//! A temporal unit takes the fewest payloads possible, of about equal size: the limit on a
//! payload's size is the smallest one found that does not need more payloads.

use mimosa_units::Bytes;

use super::{
    CONTINUES, COUNT_SHIFT, GOES_ON, KIND_SEQUENCE_HEADER, NEW_SEQUENCE, Obu, obus, size_of_size,
    write_size,
};
use crate::payloads::Payloads;

/// Length in bytes of a payload's header.
const HEADER: usize = 1;
/// The smallest size limit of a payload in bytes: one byte of an element.
const SMALLEST: usize = HEADER + 1;
/// The largest size limit of a payload in bytes: more than a datagram can carry.
const LARGEST: usize = u16::MAX as usize;
/// The most elements in a payload: as many as its first byte can count, so that the last needs no
/// size. A temporal unit of one layer seldom has more.
const MOST_ELEMENTS: usize = 3;

/// Cuts temporal units into RTP payloads.
#[derive(Clone, Copy, Debug)]
pub struct Packetiser {
    largest: usize,
}

impl Packetiser {
    /// A packetiser that makes payloads of at most `largest` bytes, a limit from 2 to 65535; values
    /// outside are clamped.
    #[must_use]
    pub fn new(largest: Bytes) -> Self {
        let largest = usize::try_from(largest.get()).unwrap_or(LARGEST);
        Self {
            largest: largest.clamp(SMALLEST, LARGEST),
        }
    }

    /// The payloads of a temporal unit in low-overhead form. Delimiters, padding and reserved OBUs
    /// are left out. The result is empty when the unit has no other OBU.
    #[must_use]
    pub fn packetise(&self, temporal_unit: &[u8]) -> Payloads {
        let obus: Vec<Obu<'_>> = obus(temporal_unit).filter(Obu::is_sent).collect();
        let elements: Vec<Vec<u8>> = obus.iter().map(element).collect();
        let (limit, count) = self.even_limit(&elements);
        let mut payloads = Payloads::with_capacity(temporal_unit.len() + 4 * count, count);
        let mut begins_sequence = begins_sequence(&obus);
        for pieces in cut(&elements, limit) {
            let is_new = std::mem::take(&mut begins_sequence);
            write(&pieces, is_new, &mut payloads);
        }
        payloads
    }

    /// The smallest limit found that needs no more payloads than the largest one, and the number of
    /// these payloads.
    fn even_limit(self, elements: &[Vec<u8>]) -> (usize, usize) {
        let count = |limit| cut(elements, limit).count();
        let fewest = count(self.largest);
        let (mut low, mut high) = (SMALLEST, self.largest);
        while low < high {
            let middle = usize::midpoint(low, high);
            if count(middle) > fewest {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (high, fewest)
    }
}

/// Whether a coded video sequence begins with these OBUs.
fn begins_sequence(obus: &[Obu<'_>]) -> bool {
    let has_header = obus.iter().any(|obu| obu.kind() == KIND_SEQUENCE_HEADER);
    has_header && obus.iter().find_map(Obu::begins_sequence) == Some(true)
}

/// The element of an OBU: the OBU without its size.
fn element(obu: &Obu<'_>) -> Vec<u8> {
    let mut element = vec![obu.first];
    element.extend(obu.extension);
    element.extend_from_slice(obu.body);
    element
}

/// A piece of an element in a payload.
#[derive(Clone, Copy, Debug)]
struct Piece<'a> {
    bytes: &'a [u8],
    continues: bool,
    goes_on: bool,
}

/// Puts elements in their order into payloads, as many as fit within `limit`; an element that does
/// not fit is cut where the payload is full.
fn cut(elements: &[Vec<u8>], limit: usize) -> impl Iterator<Item = Vec<Piece<'_>>> {
    let mut left = elements.iter();
    // The rest of an element, and whether its first part has been sent.
    let mut next = left.next().map(|element| (&element[..], false));
    std::iter::from_fn(move || {
        let mut pieces: Vec<Piece<'_>> = Vec::new();
        let mut room = limit - HEADER;
        while let Some((rest, continues)) = next {
            // The element before is not the last any more, and needs a size.
            let before = pieces
                .last()
                .map_or(0, |piece| size_of_size(piece.bytes.len()));
            if pieces.len() == MOST_ELEMENTS || room <= before {
                break;
            }
            room -= before;
            let (bytes, behind) = rest.split_at(rest.len().min(room));
            room -= bytes.len();
            let goes_on = !behind.is_empty();
            pieces.push(Piece {
                bytes,
                continues,
                goes_on,
            });
            if goes_on {
                next = Some((behind, true));
                break;
            }
            next = left.next().map(|element| (&element[..], false));
        }
        (!pieces.is_empty()).then_some(pieces)
    })
}

fn write(pieces: &[Piece<'_>], begins_sequence: bool, payloads: &mut Payloads) {
    let flag = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
    let count = u8::try_from(pieces.len()).unwrap_or(0);
    let continues = pieces.first().is_some_and(|piece| piece.continues);
    let goes_on = pieces.last().is_some_and(|piece| piece.goes_on);
    payloads.extend(&[flag(continues, CONTINUES)
        | flag(goes_on, GOES_ON)
        | count << COUNT_SHIFT
        | flag(begins_sequence, NEW_SEQUENCE)]);
    for (place, piece) in pieces.iter().enumerate() {
        if place + 1 < pieces.len() {
            write_size(piece.bytes.len(), |byte| payloads.extend(&[byte]));
        }
        payloads.extend(piece.bytes);
    }
    payloads.end();
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::depacketise;
    use super::super::tests::obu;
    use super::*;

    const LIMIT: Bytes = Bytes::new(1140);

    fn packetise(obus: &[Vec<u8>]) -> Payloads {
        Packetiser::new(LIMIT).packetise(&obus.concat())
    }

    /// A frame's header of a shown keyframe, or of another frame, and as many bytes in all.
    fn frame(is_key: bool, length: usize) -> Vec<u8> {
        let mut body = vec![if is_key { 0x10 } else { 0x30 }];
        body.resize(length, 0x55);
        obu(6, &body)
    }

    #[test]
    fn a_keyframe_has_its_sequence_header_with_it_and_is_cut_evenly() {
        let payloads = packetise(&[obu(2, &[]), obu(1, &[7; 10]), frame(true, 2_500)]);
        let sizes: Vec<u64> = payloads.sizes().map(Bytes::get).collect();
        // 1 for each payload, 12 for the sequence header and its size, 2501 for the frame.
        assert_eq!(sizes.iter().sum::<u64>(), 3 + 12 + 2501);
        let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
        assert!(sizes.len() == 3 && most - least <= 2, "{sizes:?}");
        let firsts: Vec<u8> = payloads.iter().map(|payload| payload[0]).collect();
        // Goes on, two elements, new sequence; both; continues.
        assert_eq!(firsts, [0b0110_1000, 0b1101_0000, 0b1001_0000]);
        let first = payloads.get(0).unwrap();
        assert_eq!(first[1..4], [11, 1 << 3, 7], "a size, and none in the OBU");
        assert_eq!(first[13..15], [6 << 3, 0x10], "the last has no size");
    }

    #[test]
    fn a_frame_that_fits_is_one_payload() {
        let payloads = packetise(&[obu(2, &[]), frame(false, 1138)]);
        assert_eq!(payloads.len(), 1);
        let first = payloads.get(0).unwrap();
        assert_eq!(first[..3], [0b0001_0000, 6 << 3, 0x30]);
        assert_eq!(first.len(), 1140);
        assert_eq!(packetise(&[frame(false, 1139)]).len(), 2);
    }

    /// A sequence header that is repeated begins nothing, nor does a keyframe that is not
    /// shown.
    #[test]
    fn a_new_sequence_is_a_sequence_header_and_a_keyframe() {
        let header = obu(1, &[7; 10]);
        let hidden = obu(3, &[0x00, 1]);
        for (obus, is_new) in [
            (vec![header.clone(), frame(true, 9)], true),
            (vec![frame(true, 9)], false),
            (vec![header.clone(), frame(false, 9)], false),
            (vec![header, hidden, obu(4, &[1])], false),
        ] {
            let payloads = packetise(&obus);
            assert_eq!(payloads.get(0).unwrap()[0] & NEW_SEQUENCE != 0, is_new);
        }
    }

    /// The third element is cut, so that both payloads are of one size.
    #[test]
    fn a_payload_has_three_elements_at_most() {
        let payloads = packetise(&[1, 3, 4, 4, 4].map(|kind| obu(kind, &[0x30, 2])));
        let firsts: Vec<u8> = payloads.iter().map(|payload| payload[0]).collect();
        assert_eq!(firsts, [0b0111_0000, 0b1011_0000]);
    }

    #[test]
    fn nothing_to_send_is_no_payload() {
        for stream in [&[][..], &[0x80, 1], &[0x12, 0], &[0x12, 0, 0x7a, 1, 0x80]] {
            assert!(Packetiser::new(LIMIT).packetise(stream).is_empty());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn what_is_packetised_comes_back(
            given in prop::collection::vec(
                (0..16u8, prop::collection::vec(any::<u8>(), 0..3_000)), 0..6),
            largest in 2..3_000usize,
        ) {
            let stream: Vec<u8> = given.iter().flat_map(|(kind, body)| obu(*kind, body)).collect();
            let payloads = Packetiser::new(Bytes::new(largest as u64)).packetise(&stream);
            let back = depacketise(payloads.iter());
            let back = back.map_err(|error| TestCaseError::fail(error.to_string()))?;
            let sent: Vec<Obu<'_>> = obus(&stream).filter(Obu::is_sent).collect();
            let got: Vec<Obu<'_>> = obus(&back).filter(Obu::is_sent).collect();
            prop_assert_eq!(got, sent);
            prop_assert!(payloads.iter().all(|payload| (2..=largest).contains(&payload.len())));
            // No space is wasted: all payloads of one frame but the last are full.
            let fewest = stream.len().div_ceil(largest.saturating_sub(5).max(1));
            prop_assert!(payloads.len() <= fewest + given.len(), "{}", payloads.len());
        }
    }
}
