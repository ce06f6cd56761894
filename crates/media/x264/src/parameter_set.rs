//! The sequence parameter set, changed to allow gaps in the frame numbers.
//!
//! Frames that were rejected or lost leave gaps in the frame numbers, and a decoder that
//! does not expect them may refuse all that follows. libx264 states that there are no gaps,
//! and writes numbers of four bits, which say little about a gap. Besides, libavcodec (5.1)
//! misjudges the order of the pictures after a gap in which the number wraps around, and
//! shows none until it has caught up. Therefore this file and `slice` give the numbers
//! [`WIDENED_BY`] bits more. Syntax: ITU-T H.264, sections 7.3.1 and 7.3.2.1.1.

use crate::bits::{Reader, Unescape, Writer, escape_into, split_start_code};

/// The bits added to the frame number: as many as leave the bytes behind it unchanged.
pub(crate) const WIDENED_BY: u32 = 8;
/// The least number at which the frame numbers wrap around.
pub(crate) const FRAME_NUMBERS: u64 = 1 << (LEAST_BITS + WIDENED_BY);
/// The length of H.264's shortest frame number, in bits.
const LEAST_BITS: u32 = 4;
/// The length of H.264's longest frame number, in bits.
const MOST_BITS: u32 = 16;
/// The type of a unit that is a sequence parameter set.
const SEQUENCE_PARAMETER_SET: u32 = 7;
/// The profiles that state a chroma format.
const WITH_CHROMA_FORMAT: [u32; 13] =
    [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135];

/// A changed sequence parameter set.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct WidenedParameterSet {
    pub(crate) unit: Vec<u8>,
    /// The bits of a frame number before the change.
    pub(crate) frame_number_bits: u32,
}

/// The places of the fields, in bits, and their values.
#[derive(Debug)]
struct Fields {
    frame_number: std::ops::Range<usize>,
    frame_number_bits: u32,
    gaps: usize,
}

/// Returns `unit` with longer frame numbers and `gaps_in_frame_num_value_allowed_flag`;
/// `None` if it is not a sequence parameter set, ends early, or has scaling lists, which
/// libx264 writes only when asked to.
pub(crate) fn allow_frame_number_gaps(unit: &[u8]) -> Option<WidenedParameterSet> {
    let (start_code, coded) = split_start_code(unit)?;
    let mut unescape = Unescape::default();
    let payload: Vec<u8> = coded
        .iter()
        .copied()
        .filter(|&byte| unescape.keeps(byte))
        .collect();
    let fields = fields(&payload)?;
    let widened = fields.frame_number_bits + WIDENED_BY;
    let last = payload.iter().rposition(|&byte| byte != 0)?;
    let stop = last * 8 + 7 - payload[last].trailing_zeros() as usize;
    if widened > MOST_BITS || fields.gaps >= stop {
        return None;
    }
    let mut writer = Writer::default();
    writer.copy(&payload, 0, fields.frame_number.start);
    writer.golomb(widened - LEAST_BITS);
    writer.copy(&payload, fields.frame_number.end, fields.gaps);
    writer.fixed(1, 1);
    writer.copy(&payload, fields.gaps + 1, stop + 1);
    let mut unit = start_code.to_vec();
    escape_into(&writer.finish(), &mut unit);
    Some(WidenedParameterSet {
        unit,
        frame_number_bits: fields.frame_number_bits,
    })
}

/// Finds the fields in the unit `payload`, header included.
fn fields(payload: &[u8]) -> Option<Fields> {
    let mut bits = Reader::new(payload);
    if bits.fixed(8)? & 31 != SEQUENCE_PARAMETER_SET {
        return None;
    }
    let profile = bits.fixed(8)?;
    bits.fixed(16)?; // Constraints and level.
    bits.golomb()?; // seq_parameter_set_id
    if WITH_CHROMA_FORMAT.contains(&profile) {
        if bits.golomb()? == 3 {
            bits.fixed(1)?; // separate_colour_plane_flag
        }
        bits.golomb()?; // bit_depth_luma_minus8
        bits.golomb()?; // bit_depth_chroma_minus8
        bits.fixed(1)?; // qpprime_y_zero_transform_bypass_flag
        if bits.fixed(1)? == 1 {
            return None; // Scaling lists follow.
        }
    }
    let start = bits.position();
    let frame_number_bits = bits.golomb()?.checked_add(LEAST_BITS)?;
    let frame_number = start..bits.position();
    match bits.golomb()? {
        0 => {
            bits.golomb()?; // log2_max_pic_order_cnt_lsb_minus4
        }
        1 => {
            bits.fixed(1)?; // delta_pic_order_always_zero_flag
            bits.golomb()?; // offset_for_non_ref_pic
            bits.golomb()?; // offset_for_top_to_bottom_field
            for _ in 0..bits.golomb()? {
                bits.golomb()?; // offset_for_ref_frame
            }
        }
        _ => {}
    }
    bits.golomb()?; // max_num_ref_frames
    Some(Fields {
        frame_number,
        frame_number_bits: (frame_number_bits <= MOST_BITS).then_some(frame_number_bits)?,
        gaps: bits.position(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// libx264's sequence parameter set for 1280x720 at 60 frames per second.
    const UNIT: [u8; 32] = [
        0x00, 0x00, 0x00, 0x01, 0x67, 0x64, 0x00, 0x2a, 0xac, 0xb2, 0x80, 0xa0, 0x0b, 0x74, 0xd4,
        0x04, 0x04, 0x05, 0x00, 0x00, 0x03, 0x00, 0x01, 0x00, 0x00, 0x03, 0x00, 0x78, 0x8f, 0x18,
        0x32, 0x58,
    ];

    #[test]
    fn only_the_two_fields_change() {
        let made_over = allow_frame_number_gaps(&UNIT).unwrap();
        assert_eq!(made_over.frame_number_bits, 4);
        let again = allow_frame_number_gaps(&made_over.unit);
        assert_eq!(again, None, "no room for eight bits more");
        let payload = |unit: &[u8]| {
            let mut unescape = Unescape::default();
            unit[4..]
                .iter()
                .copied()
                .filter(|&byte| unescape.keeps(byte))
                .collect::<Vec<u8>>()
        };
        let (before, after) = (payload(&UNIT), payload(&made_over.unit));
        let old = fields(&before).unwrap();
        let new = fields(&after).unwrap();
        assert_eq!(new.frame_number_bits, 12);
        let flag = |payload: &[u8], at: usize| payload[at / 8] >> (7 - at % 8) & 1;
        assert_eq!(flag(&before, old.gaps), 0);
        assert_eq!(flag(&after, new.gaps), 1);
        for behind in 1..8 * before.len() - old.gaps {
            assert_eq!(
                flag(&before, old.gaps + behind),
                flag(&after, new.gaps + behind),
                "{behind} bits behind the flag"
            );
        }
    }

    #[test]
    fn garbage_is_refused_or_made_over_but_never_panics() {
        let mut state = 1_u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 16
        };
        for length in 0..11 {
            assert_eq!(
                allow_frame_number_gaps(&UNIT[..length]),
                None,
                "{length} bytes"
            );
        }
        for _ in 0..100_000 {
            let mut unit = UNIT[..(random() % 33) as usize].to_vec();
            for _ in 0..random() % 8 {
                if let Some(byte) = unit.get_mut((random() % 32) as usize) {
                    *byte = random().to_le_bytes()[0];
                }
            }
            allow_frame_number_gaps(&unit);
        }
    }
}
