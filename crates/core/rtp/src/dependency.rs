//! The dependency descriptor: a header extension that says which frames a frame refers to
//! (`https://aomediacodec.github.io/av1-rtp-spec/#dependency-descriptor-rtp-header-extension`,
//! appendix A of the AV1 RTP specification). A receiver that has it can skip a frame that will
//! never arrive, if the next one does not refer to it.
//!
//! Descriptors are written here for one stream without layers: a structure of two templates, a
//! keyframe and a frame that refers to the one before it, and one decode target without chains.
//! Section numbers are those of the appendix.

/// URI of the header extension.
pub const DEPENDENCY_DESCRIPTOR: &str =
    "https://aomediacodec.github.io/av1-rtp-spec/#dependency-descriptor-rtp-header-extension";

/// Template of a keyframe.
const KEYFRAME: u64 = 0;
/// Template of a frame that refers to the one before it.
const FOLLOWS: u64 = 1;

/// The bit of `extended_descriptor_fields` (A.8.3) that says that the stream's structure follows.
const STRUCTURE: u8 = 0b1_0000;
/// The bit of `extended_descriptor_fields` (A.8.3) that says that the frame has its own distances.
const DISTANCES: u8 = 0b0_0010;

/// The frame that a frame refers to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reference {
    /// The frame refers to no other frame.
    None,
    /// The frame refers to the frame this many numbers before it, from 1 to 4096.
    Back(u16),
}

/// The descriptor of one packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Dependency {
    /// Whether the packet is the first of its frame.
    pub is_first: bool,
    /// Whether the packet is the last of its frame.
    pub is_last: bool,
    /// The low 16 bits of the frame's number.
    pub frame_number: u16,
    /// The frame that this frame refers to.
    pub reference: Reference,
}

/// Why bytes are not a usable dependency descriptor. The sender is to blame.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DependencyError {
    /// The descriptor ends within its fields.
    #[error("a dependency descriptor of {length} bytes ends within its fields; 3 are the least")]
    TooShort {
        /// Number of bytes in the descriptor.
        length: usize,
    },
    /// The descriptor names a template that streams without layers do not have.
    #[error("the dependency template {template}; streams without layers have 0 and 1")]
    UnknownTemplate {
        /// Number of the template.
        template: u8,
    },
    /// The descriptor has fields of streams with layers.
    #[error(
        "the fields {flags:#07b} of a dependency descriptor; a structure alone or distances \
         alone are known"
    )]
    UnknownFields {
        /// The five bits of `extended_descriptor_fields` (A.8.3).
        flags: u8,
    },
}

impl Dependency {
    /// Reads the extension's data in the form that [`Self::to_bytes`] writes. The structure of the
    /// stream is not read: it is taken for the one written here.
    ///
    /// # Errors
    ///
    /// [`DependencyError`] for data that is too short, and for streams with layers.
    pub fn parse(bytes: &[u8]) -> Result<Self, DependencyError> {
        let length = bytes.len();
        let too_short = DependencyError::TooShort { length };
        let (&[first, high, low], rest) = bytes.split_first_chunk().ok_or(too_short)?;
        let template = first & 0x3f;
        let mut reference = match u64::from(template) {
            KEYFRAME => Reference::None,
            FOLLOWS => Reference::Back(1),
            _ => return Err(DependencyError::UnknownTemplate { template }),
        };
        if let Some(&extended) = rest.first() {
            match extended >> 3 {
                0 | STRUCTURE => {}
                DISTANCES => reference = distance(rest).ok_or(too_short)?,
                flags => return Err(DependencyError::UnknownFields { flags }),
            }
        }
        Ok(Self {
            is_first: first & 0x80 != 0,
            is_last: first & 0x40 != 0,
            frame_number: u16::from_be_bytes([high, low]),
            reference,
        })
    }

    /// Writes the extension's data: 3 to 8 bytes.
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

/// Writes the `extended_descriptor_fields` (A.8.3) with the structure of the stream.
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

/// Writes the `extended_descriptor_fields` with a distance of the frame's own (A.8.3,
/// `frame_fdiffs`).
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

/// Reads the first distance in the fields behind the mandatory ones: the number of its nibbles,
/// then the distance less one (A.8.3, `frame_fdiffs`); an empty list means no reference.
fn distance(fields: &[u8]) -> Option<Reference> {
    let bit = |at: usize| Some(u16::from(fields.get(at / 8)? >> (7 - at % 8) & 1));
    let number = |from: usize, count: usize| {
        (from..from + count).try_fold(0, |sum, at| Some(sum << 1 | bit(at)?))
    };
    let nibbles = number(5, 2)?;
    if nibbles == 0 {
        return Some(Reference::None);
    }
    Some(Reference::Back(number(7, 4 * usize::from(nibbles))? + 1))
}

/// Bits, most significant first; unused bits of the last byte are zero.
#[derive(Debug, Default)]
struct Bits {
    bytes: Vec<u8>,
    /// Number of bits in `bytes`.
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
    fn what_is_written_is_read() {
        let references = [1, 2, 16, 17, 300, 4096].map(Reference::Back);
        for reference in references.into_iter().chain([Reference::None]) {
            for (is_first, is_last) in [(true, false), (false, false), (false, true), (true, true)]
            {
                let dependency = Dependency {
                    is_first,
                    is_last,
                    frame_number: 0xfedc,
                    reference,
                };
                assert_eq!(Dependency::parse(&dependency.to_bytes()), Ok(dependency));
            }
        }
    }

    #[test]
    fn streams_with_layers_are_refused() {
        let parse = |bytes: &[u8]| Dependency::parse(bytes);
        let length = 2;
        assert_eq!(parse(&[1, 2]), Err(DependencyError::TooShort { length }));
        let template = 2;
        assert_eq!(
            parse(&[2, 0, 0]),
            Err(DependencyError::UnknownTemplate { template })
        );
        let flags = 0b0_1010;
        assert_eq!(
            parse(&[1, 0, 0, flags << 3]),
            Err(DependencyError::UnknownFields { flags })
        );
        // Three nibbles, of which the last is not there.
        let length = 5;
        assert_eq!(
            parse(&[1, 0, 0, 0b0001_0110, 0]),
            Err(DependencyError::TooShort { length })
        );
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
