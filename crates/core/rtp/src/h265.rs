//! H.265 in RTP, by RFC 7798 without decoding order numbers.
//!
//! An encoder gives access units as a byte stream (H.265, annex B). [`Packetiser`] cuts an access
//! unit into RTP payloads, and [`depacketise`] joins them again. Decoding order numbers and PACI
//! packets come only where both sides agreed on them.

use mimosa_units::Bytes;

use crate::nal::{self, Format};
use crate::payloads::Payloads;
use crate::video::DepacketiseError;

pub use crate::nal::units;

/// The bits of a NAL unit's first byte that hold its type (RFC 7798, 1.1.4).
const KIND_MASK: u8 = 0x7e;
/// Access unit delimiter (H.265, table 7-1).
const KIND_DELIMITER: u8 = 35;
/// Filler data (H.265, table 7-1).
const KIND_FILLER: u8 = 38;
/// Supplemental enhancement information before the picture (H.265, table 7-1).
const KIND_PREFIX_SEI: u8 = 39;
/// Supplemental enhancement information behind the picture (H.265, table 7-1).
const KIND_SUFFIX_SEI: u8 = 40;
/// Aggregation packet (RFC 7798, 4.4.2).
const KIND_AP: u8 = 48;
/// Fragmentation unit (RFC 7798, 4.4.3).
const KIND_FU: u8 = 49;

/// Cuts access units into RTP payloads.
#[derive(Clone, Copy, Debug)]
pub struct Packetiser {
    largest: usize,
}

impl Packetiser {
    /// A packetiser that makes payloads of at most `largest` bytes, a limit from 4 to 65535; values
    /// outside are clamped.
    #[must_use]
    pub fn new(largest: Bytes) -> Self {
        Self {
            largest: usize::try_from(largest.get()).unwrap_or(usize::MAX),
        }
    }

    /// The payloads of an access unit in annex B form. Delimiters, supplemental information and
    /// filler are left out, as a decoder does not need them. The result is empty when there is no
    /// unit to send.
    #[must_use]
    pub fn packetise(&self, access_unit: &[u8]) -> Payloads {
        nal::packetise::<H265>(access_unit, self.largest)
    }
}

/// Joins the payloads of one access unit, given in the order of their sequence numbers. The result
/// is in annex B form.
///
/// # Errors
///
/// [`DepacketiseError`] names the first payload that does not fit, and why.
pub fn depacketise<'a>(
    payloads: impl IntoIterator<Item = &'a [u8]>,
) -> Result<Vec<u8>, DepacketiseError> {
    nal::depacketise::<H265>(payloads)
}

struct H265;

impl Format for H265 {
    const HEADER: usize = 2;
    const KIND_MASK: u8 = 0x3f;
    const AGGREGATE: u8 = KIND_AP;
    const FRAGMENT: u8 = KIND_FU;
    const KNOWN: &'static str = "0 to 47, 48 (AP) and 49 (FU)";

    fn kind(first: u8) -> u8 {
        (first & KIND_MASK) >> 1
    }

    fn with_kind(first: u8, kind: u8) -> u8 {
        first & !KIND_MASK | kind << 1
    }

    fn is_unit(kind: u8) -> bool {
        kind < KIND_AP
    }

    fn is_needed(kind: u8) -> bool {
        let is_spare = matches!(kind, KIND_PREFIX_SEI | KIND_SUFFIX_SEI);
        !is_spare && !matches!(kind, KIND_DELIMITER | KIND_FILLER)
    }

    /// Begins an AP (RFC 7798, 4.4.2): of the lowest layer and sub-layer of its units, and damaged
    /// when one of its units is.
    fn begin_aggregate(units: &[&[u8]], payloads: &mut Payloads) {
        let headers = || {
            let header = |unit: &&[u8]| unit.first_chunk().map(|&two| u16::from_be_bytes(two));
            units.iter().filter_map(header)
        };
        let lowest = |mask: u16| headers().map(|header| header & mask).min().unwrap_or(0);
        let forbidden = headers().fold(0, |bits, header| bits | header & 0x8000);
        let header = forbidden | u16::from(KIND_AP) << 9 | lowest(0x01f8) | lowest(0x0007);
        payloads.extend(&header.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::nal::tests::{access_unit, comes_back, unit};
    use crate::video::Malformed;

    const LIMIT: Bytes = Bytes::new(1140);
    const VPS: &[u8] = &[32 << 1, 1];
    const SPS: &[u8] = &[33 << 1, 1];
    const PPS: &[u8] = &[34 << 1, 1];
    const DELIMITER: &[u8] = &[35 << 1, 1];
    const SEI: &[u8] = &[39 << 1, 1];
    const IDR: &[u8] = &[19 << 1, 1];
    const TRAIL: &[u8] = &[1 << 1, 1];

    fn problem(payloads: &[&[u8]]) -> (usize, Malformed) {
        let error = depacketise(payloads.iter().copied()).unwrap_err();
        (error.packet, error.problem)
    }

    #[test]
    fn a_keyframe_is_one_aggregate_and_equal_fragments() {
        let units = [
            (DELIMITER, 3),
            (VPS, 23),
            (SPS, 40),
            (PPS, 7),
            (SEI, 300),
            (IDR, 4_002),
        ];
        let payloads = Packetiser::new(LIMIT).packetise(&access_unit(&units));
        let sizes: Vec<u64> = payloads.sizes().map(Bytes::get).collect();
        assert_eq!(sizes, [2 + 3 * 2 + 23 + 40 + 7, 1003, 1003, 1003, 1003]);
        let starts: Vec<&[u8]> = payloads.iter().map(|payload| &payload[..3]).collect();
        assert_eq!(starts[0], [48 << 1, 1, 0]);
        assert_eq!(starts[1], [49 << 1, 1, 0x93]);
        assert_eq!(starts[2], [49 << 1, 1, 19]);
        assert_eq!(starts[4], [49 << 1, 1, 0x53]);
    }

    #[test]
    fn a_unit_that_fits_is_sent_as_it_is() {
        let unit = access_unit(&[(TRAIL, 1140)]);
        let payloads = Packetiser::new(LIMIT).packetise(&unit);
        assert_eq!(payloads.iter().collect::<Vec<_>>(), [&unit[4..]]);
    }

    /// Layer 5 with sub-layer 3 and layer 32 with sub-layer 2, the one damaged.
    #[test]
    fn an_aggregate_has_the_lowest_of_each_and_all_damage() {
        let units = access_unit(&[(&[0x82, 0x2c], 9), (&[0x03, 0x03], 9)]);
        let payloads = Packetiser::new(LIMIT).packetise(&units);
        assert_eq!(payloads.len(), 1);
        assert_eq!(payloads.get(0).unwrap()[..2], [0xe0, 0x2b]);
    }

    /// The layer's high bit shares its byte with the type.
    #[test]
    fn a_fragment_keeps_the_header_of_its_unit() {
        let unit = access_unit(&[(&[0x27, 0x0a], 90)]);
        let payloads = Packetiser::new(Bytes::new(50)).packetise(&unit);
        assert_eq!(payloads.get(0).unwrap()[..3], [0x63, 0x0a, 0x93]);
        assert_eq!(depacketise(payloads.iter()), Ok(unit));
    }

    #[test]
    fn nothing_to_send_is_no_payload() {
        for stream in [
            &[][..],
            &[0, 0, 1, 70, 1, 0x50],
            &[0, 0, 1, 2],
            &[0, 0, 1, 96, 1, 1],
        ] {
            assert!(Packetiser::new(LIMIT).packetise(stream).is_empty());
        }
    }

    #[test]
    fn every_broken_payload_is_named() {
        let known = H265::KNOWN;
        let needed = 2;
        for length in [0, 1] {
            let too_short = Malformed::TooShort { length, needed };
            assert_eq!(problem(&[&[38; 2][..length]]), (1, too_short));
        }
        for kind in [50, 51, 63] {
            let unknown = Malformed::UnknownKind { kind, known };
            assert_eq!(problem(&[&[kind << 1, 1, 2]]), (1, unknown));
        }
        let cut = |at, needed, left| Malformed::Cut { at, needed, left };
        assert_eq!(problem(&[&[96, 1, 0]]), (1, cut(2, 2, 1)));
        assert_eq!(problem(&[&[96, 1, 0, 3, 2, 1]]), (1, cut(4, 3, 2)));
        let (at, length) = (2, 1);
        let no_header = Malformed::NoHeader { at, length, needed };
        assert_eq!(problem(&[&[96, 1, 0, 1, 2]]), (1, no_header));
        let (length, header) = (3, 3);
        let empty = Malformed::EmptyFragment { length, header };
        assert_eq!(problem(&[&[98, 1, 0x81]]), (1, empty));
        assert_eq!(
            problem(&[&[98, 1, 0xc1, 0]]),
            (1, Malformed::FragmentIsWhole)
        );
        let kind = 48;
        let unknown = Malformed::UnknownKind { kind, known };
        assert_eq!(problem(&[&[98, 1, 0xb0, 0]]), (1, unknown));
        assert_eq!(problem(&[&[98, 1, 1, 0]]), (1, Malformed::NotBegun));
        let begun: &[u8] = &[98, 1, 0x81, 0];
        assert_eq!(problem(&[begun, &[98, 1, 2, 0]]), (2, Malformed::NotBegun));
        for next in [begun, &[2, 1, 0], &[96, 1, 0, 2, 2, 1]] {
            assert_eq!(problem(&[begun, next]), (2, Malformed::NotEnded));
        }
        assert_eq!(problem(&[begun]), (2, Malformed::NotEnded));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn what_is_packetised_comes_back(
            given in prop::collection::vec(unit(), 0..8),
            largest in 4..3_000usize,
        ) {
            comes_back::<H265>(&given, largest)?;
        }

        #[test]
        fn no_payload_makes_it_panic(
            payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..5),
        ) {
            let _ = depacketise(payloads.iter().map(Vec::as_slice));
        }
    }
}
