//! Slices with longer frame numbers; see `parameter_set`. Syntax: ITU-T H.264, section
//! 7.3.3.

use crate::bits::{Reader, Unescape, Writer, escape_into, split_start_code};
use crate::parameter_set::WIDENED_BY;

/// The bytes that hold the header up to the frame number, whatever its contents.
const HEADER: usize = 20;
/// The type of a slice of a keyframe.
const KEYFRAME: u32 = 5;
/// The type of any other slice.
const OTHER: u32 = 1;

/// Appends `unit`, a slice with a frame number of `bits` bits, to `stream`, with the longer
/// frame number `number`, or zero for a keyframe. Returns `None`, and leaves `stream`
/// unusable, if the unit is no slice, ends early, or has a frame number that is not the end
/// of `number`.
pub(crate) fn widen_frame_number(
    unit: &[u8],
    bits: u32,
    number: u32,
    stream: &mut Vec<u8>,
) -> Option<()> {
    let (start_code, coded) = split_start_code(unit)?;
    let mut unescape = Unescape::default();
    let mut payload = Vec::with_capacity(2 * HEADER);
    let mut taken = 0;
    for &byte in coded {
        // The bytes after one that is not zero stay escaped as they are.
        if payload.len() >= HEADER && payload.last() != Some(&0) {
            break;
        }
        taken += 1;
        if unescape.keeps(byte) {
            payload.push(byte);
        }
    }
    let mut reader = Reader::new(&payload);
    let number = match reader.fixed(8)? & 31 {
        KEYFRAME => 0,
        OTHER => number,
        _ => return None,
    };
    reader.golomb()?; // first_mb_in_slice
    reader.golomb()?; // slice_type
    reader.golomb()?; // pic_parameter_set_id
    let start = reader.position();
    if reader.fixed(bits)? != number & ((1 << bits) - 1) {
        return None;
    }
    let mut writer = Writer::default();
    writer.copy(&payload, 0, start);
    writer.fixed(number, bits + WIDENED_BY);
    writer.copy(&payload, reader.position(), 8 * payload.len());
    stream.extend_from_slice(start_code);
    escape_into(&writer.finish(), stream);
    stream.extend_from_slice(&coded[taken..]);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A slice of type `kind` with the frame number 5 in four bits.
    fn slice(kind: u8, rest: &[u8]) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.fixed(u32::from(kind), 8);
        for number in [0, 5, 0] {
            writer.golomb(number);
        }
        writer.fixed(5, 4);
        let mut payload = writer.finish();
        payload.extend_from_slice(rest);
        let mut unit = vec![0, 0, 1];
        escape_into(&payload, &mut unit);
        unit
    }

    fn payload(unit: &[u8]) -> Vec<u8> {
        let mut unescape = Unescape::default();
        unit[3..]
            .iter()
            .copied()
            .filter(|&byte| unescape.keeps(byte))
            .collect()
    }

    #[test]
    fn one_byte_is_added_and_the_rest_stays() {
        let rests: [&[u8]; 4] = [
            &[],
            &[7; 100],
            &[0; 100],
            &[
                0, 0, 1, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 0, 0, 0, 0, 0, 3, 0, 0, 2, 1, 0, 0,
                1,
            ],
        ];
        for rest in rests {
            let unit = slice(0x41, rest);
            let mut stream = Vec::new();
            widen_frame_number(&unit, 4, 0x325, &mut stream).unwrap();
            let (before, after) = (payload(&unit), payload(&stream));
            assert_eq!(after.len(), before.len() + 1);
            assert_eq!(after[after.len() - rest.len()..], *rest);
            let mut reader = Reader::new(&after);
            assert_eq!(reader.fixed(8), Some(0x41));
            assert_eq!([0; 3].map(|_| reader.golomb()), [Some(0), Some(5), Some(0)]);
            assert_eq!(reader.fixed(12), Some(0x325));
        }
    }

    #[test]
    fn a_number_that_does_not_fit_is_refused() {
        let widen = |unit: &[u8], number| widen_frame_number(unit, 4, number, &mut Vec::new());
        assert_eq!(widen(&slice(0x41, &[1; 30]), 0x326), None);
        assert_eq!(
            widen(&slice(0x65, &[1; 30]), 0x325),
            None,
            "a keyframe has zero"
        );
        assert_eq!(widen(&slice(0x68, &[1; 30]), 0x325), None, "no slice");
    }

    #[test]
    fn garbage_never_panics() {
        let mut state = 1_u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 16
        };
        for _ in 0..100_000 {
            let mut unit = vec![0, 0, 1, 0x41];
            let length = random() % 40;
            // Many bits are zero, so that there are escapes.
            unit.extend((0..length).map(|_| (random() & random() & random()).to_le_bytes()[0]));
            for bits in [4, 5, 16] {
                let _ = widen_frame_number(&unit, bits, random() & 15, &mut Vec::new());
            }
        }
    }
}
