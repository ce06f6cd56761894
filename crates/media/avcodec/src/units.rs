//! The units of a byte stream of H.264 (annex B), each with its start code.

/// A start code in its short form. The zero before it in the long form is read as the end of the unit
/// before, where it means nothing.
const START_CODE: [u8; 3] = [0, 0, 1];

/// The pieces of `stream` that begin with a start code, and what is before the first of them. Together
/// they are `stream`.
pub(crate) fn units(stream: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = stream;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let begins = |window: &[u8]| window == START_CODE;
        // The next start code is behind the one with which `rest` begins.
        let after = rest.get(START_CODE.len()..).unwrap_or_default();
        let next = after.windows(START_CODE.len()).position(begins);
        let at = next.map_or(rest.len(), |next| next + START_CODE.len());
        let (unit, others) = rest.split_at(at);
        rest = others;
        Some(unit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_begin_with_start_codes_and_nothing_is_left_out() {
        for (stream, count) in [
            (
                &[
                    0, 0, 0, 1, 0x67, 1, 0, 0, 1, 0x68, 0, 0, 3, 1, 0, 0, 0, 1, 0x65, 9,
                ][..],
                3,
            ),
            (&[0, 0, 1, 0x41, 5, 5], 1),
            (&[7, 7, 7, 0, 0, 1, 0x41], 2),
            (&[0, 0, 1], 1),
            (&[7], 1),
            (&[], 0),
        ] {
            let pieces: Vec<_> = units(stream).collect();
            assert_eq!(pieces.concat(), stream);
            assert_eq!(pieces.len(), count, "{stream:?}");
            let begins = |piece: &&[u8]| piece.starts_with(&START_CODE);
            assert!(pieces.iter().skip(1).all(begins));
        }
    }
}
