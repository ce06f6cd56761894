//! H.264 in RTP, by RFC 6184 in packetization-mode 1.
//!
//! An encoder gives access units as a byte stream (H.264, annex B). [`Packetiser`] cuts an access
//! unit into RTP payloads, and [`depacketise`] joins them again. Interleaving (STAP-B, FU-B) and
//! MTAPs belong to packetization-mode 2.

use mimosa_units::Bytes;

use crate::nal::{self, Format};
use crate::payloads::Payloads;
use crate::video::DepacketiseError;

pub use crate::nal::units;

/// The bits of a NAL unit's first byte that hold its type (RFC 6184, 1.3).
const KIND_MASK: u8 = 0x1f;
/// The forbidden bit, which says that a unit is damaged (RFC 6184, 1.3).
const FORBIDDEN_MASK: u8 = 0x80;
/// The bits that say how much other units depend on this one (RFC 6184, 1.3).
const IMPORTANCE_MASK: u8 = 0x60;
/// Supplemental enhancement information (H.264, table 7-1).
const KIND_SEI: u8 = 6;
/// Access unit delimiter (H.264, table 7-1).
const KIND_DELIMITER: u8 = 9;
/// Filler data (H.264, table 7-1).
const KIND_FILLER: u8 = 12;
/// Single-time aggregation packet (RFC 6184, table 1).
const KIND_STAP_A: u8 = 24;
/// Fragmentation unit (RFC 6184, table 1).
const KIND_FU_A: u8 = 28;
/// The bit that marks a unit's last fragment (RFC 6184, 5.8).
const FRAGMENT_END_MASK: u8 = 0x40;

/// Cuts access units into RTP payloads.
#[derive(Clone, Copy, Debug)]
pub struct Packetiser {
    largest: usize,
}

impl Packetiser {
    /// A packetiser that makes payloads of at most `largest` bytes, a limit from 3 to 65535; values
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
        nal::packetise::<H264>(access_unit, self.largest)
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
    nal::depacketise::<H264>(payloads)
}

/// Whether a payload ends with the end of a unit, so that those up to it can be joined without those that
/// follow: it is no fragment, or a unit's last (RFC 6184, section 5.8).
#[must_use]
pub fn ends_unit(payload: &[u8]) -> bool {
    match payload {
        [first, second, ..] if first & KIND_MASK == KIND_FU_A => second & FRAGMENT_END_MASK != 0,
        _ => true,
    }
}

struct H264;

impl Format for H264 {
    const HEADER: usize = 1;
    const KIND_MASK: u8 = KIND_MASK;
    const AGGREGATE: u8 = KIND_STAP_A;
    const FRAGMENT: u8 = KIND_FU_A;
    const KNOWN: &'static str = "1 to 23, 24 (STAP-A) and 28 (FU-A)";

    fn kind(first: u8) -> u8 {
        first & KIND_MASK
    }

    fn with_kind(first: u8, kind: u8) -> u8 {
        first & !KIND_MASK | kind
    }

    /// Whether `kind` is the type of a NAL unit; the types that RFC 6184 uses for payloads are not.
    fn is_unit(kind: u8) -> bool {
        (1..KIND_STAP_A).contains(&kind)
    }

    fn is_needed(kind: u8) -> bool {
        !matches!(kind, KIND_SEI | KIND_DELIMITER | KIND_FILLER)
    }

    /// Begins a STAP-A (RFC 6184, 5.7.1): as important as its most important unit, and damaged when
    /// one of its units is.
    fn begin_aggregate(units: &[&[u8]], payloads: &mut Payloads) {
        let firsts = || units.iter().filter_map(|unit| unit.first());
        let importance = firsts().map(|first| first & IMPORTANCE_MASK).max();
        let forbidden = firsts().fold(0, |bits, first| bits | first & FORBIDDEN_MASK);
        payloads.extend(&[forbidden | importance.unwrap_or(0) | KIND_STAP_A]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::nal::tests::{comes_back, unit};
    use crate::video::Malformed;

    const LIMIT: Bytes = Bytes::new(1140);

    /// An access unit of units with these first bytes and sizes.
    fn access_unit(units: &[(u8, usize)]) -> Vec<u8> {
        let units: Vec<_> = units
            .iter()
            .map(|(first, size)| ([*first], *size))
            .collect();
        let units: Vec<_> = units
            .iter()
            .map(|(first, size)| (&first[..], *size))
            .collect();
        nal::tests::access_unit(&units)
    }

    fn sizes(units: &[(u8, usize)]) -> Vec<u64> {
        let payloads = Packetiser::new(LIMIT).packetise(&access_unit(units));
        payloads.sizes().map(Bytes::get).collect()
    }

    fn problem(payloads: &[&[u8]]) -> (usize, Malformed) {
        let error = depacketise(payloads.iter().copied()).unwrap_err();
        (error.packet, error.problem)
    }

    #[test]
    fn a_keyframe_is_one_aggregate_and_equal_fragments() {
        let unit = access_unit(&[(9, 2), (0x67, 20), (0x68, 4), (6, 300), (0x65, 4_001)]);
        let payloads = Packetiser::new(LIMIT).packetise(&unit);
        let sizes: Vec<u64> = payloads.sizes().map(Bytes::get).collect();
        assert_eq!(sizes, [1 + 2 + 20 + 2 + 4, 1002, 1002, 1002, 1002]);
        let starts: Vec<&[u8]> = payloads.iter().map(|payload| &payload[..2]).collect();
        assert_eq!(starts[0], [0x78, 0]);
        assert_eq!(starts[1], [0x7c, 0x85]);
        assert_eq!(starts[2], [0x7c, 0x05]);
        assert_eq!(starts[4], [0x7c, 0x45]);
    }

    #[test]
    fn a_unit_that_fits_is_sent_as_it_is() {
        let unit = access_unit(&[(0x41, 1140)]);
        let payloads = Packetiser::new(LIMIT).packetise(&unit);
        assert_eq!(payloads.len(), 1);
        assert_eq!(payloads.get(0), Some(&unit[4..]));
        assert_eq!(payloads.get(1), None);
        assert_eq!(sizes(&[(0x41, 1141)]), [572, 572]);
    }

    #[test]
    fn slices_share_packets_evenly() {
        // Filled one by one, the first packet would have three, the second one.
        let slices = [(0x41, 370), (0x41, 370), (0x41, 370), (0x41, 370)];
        assert_eq!(sizes(&slices), [745, 745]);
        // A fragment never shares, and a smaller limit for the one must not cut
        // the other.
        assert_eq!(sizes(&[(0x65, 2001), (0x65, 1100)]), [1002, 1002, 1100]);
    }

    #[test]
    fn nothing_to_send_is_no_payload() {
        for stream in [&[][..], &[1, 2, 3], &[0, 0, 1, 9, 0x10, 0, 0, 1, 12, 0x80]] {
            assert!(Packetiser::new(LIMIT).packetise(stream).is_empty());
        }
    }

    #[test]
    fn every_kind_of_payload_is_read() {
        let payloads: [&[u8]; 4] = [
            &[24, 0, 2, 0x67, 1, 0, 1, 0x68],
            &[0x7c, 0x85, 1, 2],
            &[0x7c, 0x45, 3],
            &[0x41, 4],
        ];
        assert_eq!(
            depacketise(payloads),
            Ok(vec![
                0, 0, 0, 1, 0x67, 1, 0, 0, 0, 1, 0x68, 0, 0, 0, 1, 0x65, 1, 2, 3, 0, 0, 0, 1, 0x41,
                4
            ])
        );
        assert_eq!(depacketise([]), Ok(Vec::new()));
    }

    #[test]
    fn every_broken_payload_is_named() {
        let cut = |at, needed, left| Malformed::Cut { at, needed, left };
        let known = H264::KNOWN;
        let (length, needed) = (0, 1);
        let too_short = Malformed::TooShort { length, needed };
        assert_eq!(problem(&[&[0x41, 1], &[]]), (2, too_short));
        for kind in [0, 25, 26, 27, 29, 30, 31] {
            assert_eq!(
                problem(&[&[kind, 1, 2, 3]]),
                (1, Malformed::UnknownKind { kind, known })
            );
        }
        assert_eq!(problem(&[&[24]]), (1, cut(1, 2, 0)));
        assert_eq!(problem(&[&[24, 0, 1, 0x41, 0]]), (1, cut(4, 2, 1)));
        assert_eq!(problem(&[&[24, 0, 3, 0x41, 0]]), (1, cut(3, 3, 2)));
        let at = 1;
        let no_header = Malformed::NoHeader { at, length, needed };
        assert_eq!(problem(&[&[24, 0, 0]]), (1, no_header));
        let (length, header) = (2, 2);
        assert_eq!(
            problem(&[&[28, 0x81]]),
            (1, Malformed::EmptyFragment { length, header })
        );
        assert_eq!(problem(&[&[28, 0xc1, 0]]), (1, Malformed::FragmentIsWhole));
        let kind = 28;
        assert_eq!(
            problem(&[&[28, 0x9c, 0]]),
            (1, Malformed::UnknownKind { kind, known })
        );
        assert_eq!(problem(&[&[28, 1, 0]]), (1, Malformed::NotBegun));
        assert_eq!(
            problem(&[&[28, 0x81, 0], &[28, 5, 0]]),
            (2, Malformed::NotBegun)
        );
        assert_eq!(problem(&[&[28, 0x81, 0]]), (2, Malformed::NotEnded));
        assert_eq!(
            problem(&[&[28, 0x81, 0], &[28, 0x81, 0]]),
            (2, Malformed::NotEnded)
        );
        assert_eq!(
            problem(&[&[28, 0x81, 0], &[0x41, 0]]),
            (2, Malformed::NotEnded)
        );
    }

    #[test]
    fn an_error_says_where_and_what() {
        let error = depacketise([&[24, 0, 3, 0x41, 0][..]]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "packet 1: 3 bytes are due at byte 3 of the payload, but 2 are left"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn what_is_packetised_comes_back(
            given in prop::collection::vec(unit(), 0..8),
            largest in 3..3_000usize,
        ) {
            comes_back::<H264>(&given, largest)?;
        }

        #[test]
        fn no_fewer_payloads_and_no_smaller_largest_one_are_possible(
            sizes in prop::collection::vec(2..200usize, 1..6),
            largest in 20..120u64,
        ) {
            let units: Vec<_> = sizes.iter().map(|&size| (0x41, size)).collect();
            let stream = access_unit(&units);
            let payloads = Packetiser::new(Bytes::new(largest)).packetise(&stream);
            let most = payloads.sizes().max().unwrap_or(Bytes::ZERO);
            prop_assert!(most.get() <= largest);
            if most.get() > 3 {
                let tighter = Packetiser::new(Bytes::new(most.get() - 1)).packetise(&stream);
                prop_assert!(tighter.len() > payloads.len());
            }
        }
    }
}
