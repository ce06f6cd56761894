//! H.264 in RTP, by RFC 6184 in packetization-mode 1.
//!
//! An encoder gives access units as a byte stream (H.264, annex B).
//! [`Packetiser`] cuts one into RTP payloads, [`depacketise`] puts it together
//! again. Interleaving (STAP-B, FU-B) and MTAPs belong to packetization-mode 2.

mod depacketise;
mod packetise;
mod payloads;

pub use depacketise::{DepacketiseError, Malformed, depacketise};
pub use packetise::Packetiser;
pub use payloads::Payloads;

/// Type of a NAL unit, the low five bits of its first byte (RFC 6184, 1.3).
const KIND_MASK: u8 = 0x1f;
/// The forbidden bit, which says that a unit is damaged (RFC 6184, 1.3).
const FORBIDDEN_MASK: u8 = 0x80;
/// How much other units depend on this one (RFC 6184, 1.3).
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
/// The first fragment, in a fragment's second byte (RFC 6184, 5.8).
const FRAGMENT_START: u8 = 0x80;
/// The last fragment (RFC 6184, 5.8).
const FRAGMENT_END: u8 = 0x40;
/// First bytes of a fragment: indicator and header (RFC 6184, 5.8).
const FRAGMENT_HEADER: usize = 2;
/// Before each unit in a STAP-A: its size (RFC 6184, 5.7.1).
const UNIT_SIZE: usize = 2;

/// The NAL units of a byte stream, without start codes and the zeros around them
/// (H.264, annex B). What stands before the first start code belongs to no unit.
pub fn units(stream: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = after_start_code(stream).unwrap_or_default();
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let (unit, next) = match start_code(rest) {
                Some(at) => (&rest[..at], &rest[at + START_CODE.len()..]),
                None => (rest, &rest[rest.len()..]),
            };
            rest = next;
            let end = unit.iter().rposition(|&byte| byte != 0);
            if let Some(end) = end {
                return Some(&unit[..=end]);
            }
        }
        None
    })
}

/// What a unit begins behind. A fourth byte, a zero in front, is read as the end of
/// what came before.
const START_CODE: [u8; 3] = [0, 0, 1];

fn after_start_code(stream: &[u8]) -> Option<&[u8]> {
    start_code(stream).map(|at| &stream[at + START_CODE.len()..])
}

/// Where the next start code is. The third byte says how far to go: above one, no
/// start code holds it.
fn start_code(stream: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(three) = stream.get(at..at + START_CODE.len()) {
        match three {
            [0, 0, 1] => return Some(at),
            [_, _, 0] => at += 1,
            [..] => at += START_CODE.len(),
        }
    }
    None
}

/// Whether a unit is sent: what a decoder can do without stays behind, and so do
/// the types that RFC 6184 has taken for itself.
fn is_sent(unit: &[u8]) -> bool {
    unit.first().is_some_and(|first| {
        let kind = first & KIND_MASK;
        (1..KIND_STAP_A).contains(&kind) && !matches!(kind, KIND_SEI | KIND_DELIMITER | KIND_FILLER)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(stream: &[u8]) -> Vec<&[u8]> {
        units(stream).collect()
    }

    #[test]
    fn units_stand_between_start_codes_of_either_length() {
        let stream = [
            0, 0, 0, 1, 0x67, 1, 0, 0, 1, 0x68, 0, 0, 3, 1, 0, 0, 0, 1, 0x65, 9,
        ];
        assert_eq!(
            split(&stream),
            [&[0x67, 1][..], &[0x68, 0, 0, 3, 1], &[0x65, 9]]
        );
    }

    #[test]
    fn zeros_around_a_unit_are_none_of_it() {
        assert_eq!(
            split(&[
                7, 7, 0, 0, 0, 0, 0, 1, 0x65, 0, 2, 0, 0, 0, 0, 1, 0x41, 0, 0
            ]),
            [&[0x65, 0, 2][..], &[0x41]]
        );
    }

    #[test]
    fn nothing_gives_no_units() {
        for stream in [
            &[][..],
            &[1, 2, 3, 4],
            &[0, 0, 1],
            &[0, 0, 1, 0, 0, 1],
            &[0; 9],
        ] {
            assert!(split(stream).is_empty(), "{stream:?}");
        }
    }
}
