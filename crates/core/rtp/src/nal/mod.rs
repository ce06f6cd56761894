//! NAL units, common to H.264 and H.265: byte streams of units, and how RTP carries them, one to a
//! payload, several to one, or one in fragments.

mod depacketise;
mod packetise;

pub(crate) use depacketise::depacketise;
pub(crate) use packetise::packetise;

use crate::payloads::Payloads;

/// The bit in a fragment's own byte that marks the first fragment (RFC 6184, 5.8; RFC 7798, 4.4.3).
const FRAGMENT_START: u8 = 0x80;
/// The bit in a fragment's own byte that marks the last fragment.
const FRAGMENT_END: u8 = 0x40;
/// Bytes of the size before each unit in an aggregate (RFC 6184, 5.7.1; RFC 7798, 4.4.2).
const UNIT_SIZE: usize = 2;

/// The header of a codec's units and payloads, which is the same for both.
pub(crate) trait Format {
    /// Number of bytes in the header.
    const HEADER: usize;
    /// The bits of a fragment's own byte that hold the type of its unit.
    const KIND_MASK: u8;
    /// Type of a payload that holds several units.
    const AGGREGATE: u8;
    /// Type of a payload that holds a fragment of a unit.
    const FRAGMENT: u8;
    /// The known types of payloads, as text for error messages.
    const KNOWN: &'static str;

    /// The type in the first byte of a header.
    fn kind(first: u8) -> u8;

    /// The first byte of a header with its type replaced by `kind`.
    fn with_kind(first: u8, kind: u8) -> u8;

    /// Whether `kind` is the type of a unit.
    fn is_unit(kind: u8) -> bool;

    /// Whether units of this type are sent; units that a decoder does not need are not.
    fn is_needed(kind: u8) -> bool;

    /// Appends the header of an aggregate of these units.
    fn begin_aggregate(units: &[&[u8]], payloads: &mut Payloads);
}

/// Whether a unit is sent.
pub(crate) fn is_sent<F: Format>(unit: &[u8]) -> bool {
    let kind = unit.first().map(|first| F::kind(*first));
    unit.len() >= F::HEADER && kind.is_some_and(|kind| F::is_unit(kind) && F::is_needed(kind))
}

/// The NAL units of a byte stream, without start codes and the zeros around them (H.264 and H.265,
/// annex B). Bytes before the first start code belong to no unit.
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

/// The start code before a unit. The zero before it in the long form is read as the end of the
/// previous unit.
const START_CODE: [u8; 3] = [0, 0, 1];

fn after_start_code(stream: &[u8]) -> Option<&[u8]> {
    start_code(stream).map(|at| &stream[at + START_CODE.len()..])
}

/// Number of bytes that are searched for a zero at once.
const BLOCK: usize = 32;

/// Offset of the next start code.
fn start_code(stream: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(rest) = stream.get(at..).filter(|rest| !rest.is_empty()) {
        let block = &rest[..rest.len().min(BLOCK)];
        // A start code begins with a zero. Unlike a search that stops at the first zero, this needs
        // few instructions a block.
        let has_zero = block.iter().fold(u8::MAX, |least, byte| least.min(*byte)) == 0;
        let end = at + block.len();
        if !has_zero {
            at = end;
        }
        while at < end {
            // The third byte says how far to skip: no start code holds a byte above one.
            match stream.get(at..at + START_CODE.len())? {
                [0, 0, 1] => return Some(at),
                [_, _, 0] => at += 1,
                [..] => at += START_CODE.len(),
            }
        }
    }
    None
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(stream: &[u8]) -> Vec<&[u8]> {
        units(stream).collect()
    }

    #[test]
    fn a_start_code_is_found_wherever_it_is() {
        for length in 3..100 {
            for at in 0..=length - 3 {
                let mut stream = vec![7; length];
                stream[at..at + 3].copy_from_slice(&START_CODE);
                assert_eq!(start_code(&stream), Some(at), "of {length}");
                stream[at + 2] = 2;
                assert_eq!(start_code(&stream), None, "at {at} of {length}");
            }
        }
    }

    /// A byte stream of units of these sizes that begin so.
    pub(crate) fn access_unit(units: &[(&[u8], usize)]) -> Vec<u8> {
        units
            .iter()
            .flat_map(|&(first, size)| {
                let mut unit = [&[0, 0, 0, 1], first].concat();
                unit.resize(4 + size, 0x55);
                unit
            })
            .collect()
    }

    /// Bytes as they can stand in a unit: emulation prevention (H.264, 7.4.1) and
    /// no zero at the end.
    pub(crate) fn unit() -> impl Strategy<Value = Vec<u8>> {
        let body = prop_oneof![
            3 => prop::collection::vec(prop_oneof![Just(0), 0..4u8, any::<u8>()], 0..60),
            1 => prop::collection::vec(any::<u8>(), 0..6_000),
        ];
        (any::<u8>(), body).prop_map(|(first, body)| {
            let mut unit = vec![first];
            let mut zeros = u32::from(first == 0);
            for byte in body {
                if zeros == 2 && byte <= 3 {
                    unit.push(3);
                    zeros = 0;
                }
                unit.push(byte);
                zeros = if byte == 0 { zeros + 1 } else { 0 };
            }
            unit.push(0x80);
            unit
        })
    }

    /// What is packetised comes back, and no payload is too long.
    pub(crate) fn comes_back<F: Format>(
        given: &[Vec<u8>],
        largest: usize,
    ) -> Result<(), TestCaseError> {
        let stream: Vec<u8> = given
            .iter()
            .flat_map(|unit| [&[0, 0, 1][..], unit].concat())
            .collect();
        let payloads = packetise::<F>(&stream, largest);
        let back = depacketise::<F>(payloads.iter());
        let back = back.map_err(|error| TestCaseError::fail(error.to_string()))?;
        let sent = given.iter().map(Vec::as_slice);
        let sent: Vec<&[u8]> = sent.filter(|unit| is_sent::<F>(unit)).collect();
        prop_assert_eq!(split(&back), sent);
        let fits = |payload: &[u8]| (1..=largest).contains(&payload.len());
        prop_assert!(payloads.iter().all(fits));
        Ok(())
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
