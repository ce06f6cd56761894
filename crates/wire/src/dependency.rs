//! The dependency descriptor: what a frame refers to, in a header extension
//! (`https://aomediacodec.github.io/av1-rtp-spec/#dependency-descriptor-rtp-header-extension`,
//! appendix A of the AV1 RTP specification). A receiver that has it can go on after
//! a frame that it will never have, if the next one does not refer to it.
//!
//! Written here for one stream without layers: a structure of two templates, a
//! keyframe and a frame that refers to the one before it, and one decode target
//! without chains. Section numbers are those of the appendix.

/// URI of the header extension.
pub const DEPENDENCY_DESCRIPTOR: &str =
    "https://aomediacodec.github.io/av1-rtp-spec/#dependency-descriptor-rtp-header-extension";

/// Template of a keyframe.
const KEYFRAME: u64 = 0;
/// Template of a frame that refers to the one before it.
const FOLLOWS: u64 = 1;

/// What a frame refers to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reference {
    /// Nothing.
    None,
    /// The frame this many numbers before it, from 1 to 4096.
    Back(u16),
}

/// The descriptor of one packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Dependency {
    /// The packet is the first of its frame.
    pub is_first: bool,
    /// It is the last.
    pub is_last: bool,
    /// Low bits of the frame's number.
    pub frame_number: u16,
    /// What the frame refers to.
    pub reference: Reference,
}

impl Dependency {
    /// The extension's data: 3 to 8 bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bits = Bits::default();
        let template = match self.reference {
            Reference::None => KEYFRAME,
            Reference::Back(_) => FOLLOWS,
        };
        // A.8.3, mandatory_descriptor_fields.
        bits.put(u64::from(self.is_first), 1);
        bits.put(u64::from(self.is_last), 1);
        bits.put(template, 6);
        bits.put(u64::from(self.frame_number), 16);
        match self.reference {
            Reference::None if self.is_first => structure(&mut bits),
            Reference::None | Reference::Back(0 | 1) => {}
            Reference::Back(distance) => other_distance(&mut bits, distance),
        }
        bits.bytes
    }
}

/// A.8.3, `extended_descriptor_fields` with the structure of the stream in it.
fn structure(bits: &mut Bits) {
    // The structure is there; no active targets, no custom fields.
    bits.put(0b1_0000, 5);
    // template_id_offset, dt_cnt_minus_one.
    bits.put(0, 6);
    bits.put(0, 5);
    // template_layers: the second is of the same layer, and the last.
    bits.put(0b00, 2);
    bits.put(0b11, 2);
    // template_dtis: one may begin with a keyframe; others are required.
    bits.put(0b10, 2);
    bits.put(0b11, 2);
    // template_fdiffs: none; one, of 1.
    bits.put(0b0, 1);
    bits.put(0b10_0000, 6);
    // No chains, no resolutions.
    bits.put(0b00, 2);
}

/// The same fields with a distance of the frame's own (A.8.3, `frame_fdiffs`).
fn other_distance(bits: &mut Bits, distance: u16) {
    bits.put(0b0_0010, 5);
    let less_one = u64::from(distance.min(4096) - 1);
    let (nibbles, width) = match less_one {
        0..16 => (1, 4),
        16..256 => (2, 8),
        _ => (3, 12),
    };
    bits.put(nibbles, 2);
    bits.put(less_one, width);
    bits.put(0, 2);
}

/// Bits, most significant first; what is missing of the last byte is zero.
#[derive(Debug, Default)]
struct Bits {
    bytes: Vec<u8>,
    /// Bits in `bytes`.
    length: usize,
}

impl Bits {
    fn put(&mut self, value: u64, count: usize) {
        for bit in (0..count).rev() {
            if self.length.is_multiple_of(8) {
                self.bytes.push(0);
            }
            if value >> bit & 1 == 1
                && let Some(last) = self.bytes.last_mut()
            {
                *last |= 0x80 >> (self.length % 8);
            }
            self.length += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bits of a descriptor, as text.
    fn bits(dependency: Dependency) -> String {
        let bits = |byte: &u8| (0..8).rev().map(|bit| byte >> bit & 1 == 1).collect();
        let bytes = dependency.to_bytes();
        let all = bytes.iter().flat_map(|byte| -> Vec<bool> { bits(byte) });
        all.map(|bit| if bit { '1' } else { '0' }).collect()
    }

    const MIDDLE: Dependency = Dependency {
        is_first: false,
        is_last: false,
        frame_number: 0x1234,
        reference: Reference::Back(1),
    };

    #[test]
    fn a_packet_of_a_plain_frame_has_three_bytes() {
        assert_eq!(MIDDLE.to_bytes(), [0b0000_0001, 0x12, 0x34]);
        let last = Dependency {
            is_last: true,
            ..MIDDLE
        };
        assert_eq!(last.to_bytes(), [0b0100_0001, 0x12, 0x34]);
    }

    #[test]
    fn a_keyframe_begins_with_the_structure() {
        let first = Dependency {
            is_first: true,
            is_last: false,
            frame_number: 0,
            reference: Reference::None,
        };
        let expected = [
            "10",
            "000000",
            "0000000000000000", // first, template 0, frame 0
            "10000",
            "000000",
            "00000", // structure; offset 0; one target
            "00",
            "11",
            "10",
            "11", // layers; switch, required
            "0",
            "100000",
            "0",
            "0", // distances; no chains; no resolutions
        ];
        assert_eq!(
            bits(first).trim_end_matches('0'),
            expected.concat().trim_end_matches('0')
        );
        assert_eq!(first.to_bytes().len(), 8);
        let second = Dependency {
            is_first: false,
            ..first
        };
        assert_eq!(second.to_bytes(), [0, 0, 0], "only the first has it");
    }

    #[test]
    fn a_frame_may_refer_further_back() {
        let back = |distance| Dependency {
            reference: Reference::Back(distance),
            ..MIDDLE
        };
        for (distance, expected) in [
            (2, "01000100"),
            (16, "01111100"),
            (17, "100001000000"),
            (4096, "1111111111111100"),
        ] {
            let text = bits(back(distance));
            let (mandatory, rest) = text.split_at(24);
            assert_eq!(mandatory, bits(MIDDLE));
            assert_eq!(rest[..5], *"00010", "only custom distances");
            assert_eq!(rest[5..5 + expected.len()], *expected, "{distance}");
        }
    }
}
