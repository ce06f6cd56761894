//! AV1 in RTP, by its specification (`https://aomediacodec.github.io/av1-rtp-spec/`).
//!
//! An encoder gives temporal units in the low-overhead bitstream format (AV1, 5.2): OBUs, each with
//! its size. [`Packetiser`] cuts a temporal unit into RTP payloads, and [`depacketise`] joins them
//! again. A payload is one byte followed by elements; an element is an OBU without its size, or a
//! fragment of one.

mod depacketise;
mod packetise;

pub use depacketise::depacketise;
pub use packetise::Packetiser;

/// The forbidden bit in an OBU's first byte (AV1, 5.3.2): always zero.
const FORBIDDEN: u8 = 0x80;
/// The bit in an OBU's first byte that says that a second byte has the layer.
const HAS_EXTENSION: u8 = 0x04;
/// The bit in an OBU's first byte that says that a size follows.
const HAS_SIZE: u8 = 0x02;

/// Types of OBUs (AV1, 6.2.2).
const KIND_SEQUENCE_HEADER: u8 = 1;
const KIND_TEMPORAL_DELIMITER: u8 = 2;
const KIND_FRAME_HEADER: u8 = 3;
const KIND_FRAME: u8 = 6;
const KIND_REDUNDANT_FRAME_HEADER: u8 = 7;

/// The bit in a payload's first byte (section 4.4 of the RTP specification) that says that the
/// first element continues one of the previous payload.
const CONTINUES: u8 = 0x80;
/// The bit in a payload's first byte that says that the last element goes on in the next payload.
const GOES_ON: u8 = 0x40;
/// The position in a payload's first byte of the number of elements, of which the last has no size;
/// zero when all have one.
const COUNT_SHIFT: u32 = 4;
/// The bit in a payload's first byte that marks the first payload of a coded video sequence.
const NEW_SEQUENCE: u8 = 0x08;

/// The most bytes read of a size: sizes up to 256 MiB, far more than a frame has.
const LONGEST_SIZE: usize = 4;

/// An open bitstream unit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Obu<'a> {
    /// The first byte of the header, without the bit that announces a size.
    first: u8,
    /// The second byte of the header, with the layer, if there is one.
    extension: Option<u8>,
    body: &'a [u8],
}

/// Why bytes do not begin with a valid OBU.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum NoObu {
    /// The forbidden bit is set, or the header is missing.
    Header,
    /// The size is malformed, or larger than the bytes that follow.
    Size,
}

impl<'a> Obu<'a> {
    /// Reads an OBU, and returns the bytes behind it; an OBU without a size takes all bytes.
    fn read(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), NoObu> {
        let (&first, mut rest) = bytes.split_first().ok_or(NoObu::Header)?;
        if first & FORBIDDEN != 0 {
            return Err(NoObu::Header);
        }
        let mut extension = None;
        if first & HAS_EXTENSION != 0 {
            let (&layer, behind) = rest.split_first().ok_or(NoObu::Header)?;
            (extension, rest) = (Some(layer), behind);
        }
        let (body, rest) = if first & HAS_SIZE == 0 {
            (rest, &rest[rest.len()..])
        } else {
            let (size, length) = read_size(rest).ok_or(NoObu::Size)?;
            let rest = rest.get(length..).ok_or(NoObu::Size)?;
            rest.split_at_checked(size).ok_or(NoObu::Size)?
        };
        let first = first & !HAS_SIZE;
        let obu = Self {
            first,
            extension,
            body,
        };
        Ok((obu, rest))
    }

    const fn kind(&self) -> u8 {
        self.first >> 3 & 0xf
    }

    /// Whether the OBU is sent: sequence headers, frames, their parts and metadata are. A delimiter
    /// must not be sent (section 5 of the RTP specification), a decoder does not need padding, and
    /// reserved types are of no use.
    #[must_use]
    pub const fn is_sent(&self) -> bool {
        matches!(
            self.kind(),
            KIND_SEQUENCE_HEADER | KIND_FRAME_HEADER..=KIND_REDUNDANT_FRAME_HEADER
        )
    }

    /// Whether the OBU is a shown keyframe's header, which begins a coded video sequence behind its
    /// sequence header (AV1, 7.5); `None` for an OBU that is not a frame's header.
    fn begins_sequence(&self) -> Option<bool> {
        // show_existing_frame, frame_type in two bits, show_frame (AV1, 5.9.2).
        let is_header = matches!(self.kind(), KIND_FRAME_HEADER | KIND_FRAME);
        is_header.then(|| self.body.first().is_some_and(|byte| byte >> 4 == 0b0001))
    }
}

/// The OBUs of a temporal unit in low-overhead form, up to the first invalid one.
pub fn obus(temporal_unit: &[u8]) -> impl Iterator<Item = Obu<'_>> {
    let mut rest = temporal_unit;
    std::iter::from_fn(move || {
        let (obu, behind) = Obu::read(rest).ok()?;
        rest = behind;
        Some(obu)
    })
}

/// Reads a size (AV1, 4.10.5: `leb128`), and returns it with the number of bytes it takes.
fn read_size(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut size = 0;
    for (place, &byte) in bytes.iter().take(LONGEST_SIZE).enumerate() {
        size |= usize::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Some((size, place + 1));
        }
    }
    None
}

/// The number of bytes that [`write_size`] writes.
const fn size_of_size(size: usize) -> usize {
    let mut length = 1;
    let mut rest = size >> 7;
    while rest > 0 {
        length += 1;
        rest >>= 7;
    }
    length
}

/// Passes the bytes of a size to `write`, one after the other.
fn write_size(size: usize, mut write: impl FnMut(u8)) {
    let mut rest = size;
    loop {
        #[expect(clippy::cast_possible_truncation, reason = "seven bits are meant")]
        let low = rest as u8 & 0x7f;
        rest >>= 7;
        write(if rest == 0 { low } else { low | 0x80 });
        if rest == 0 {
            return;
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An OBU with its size.
    pub(crate) fn obu(kind: u8, body: &[u8]) -> Vec<u8> {
        let mut bytes = vec![kind << 3 | HAS_SIZE];
        write_size(body.len(), |byte| bytes.push(byte));
        bytes.extend_from_slice(body);
        bytes
    }

    #[test]
    fn sizes_are_read_as_they_are_written() {
        for (size, expected) in [
            (0, &[0][..]),
            (127, &[127]),
            (128, &[0x80, 1]),
            (624_485, &[0xe5, 0x8e, 0x26]),
            ((1 << 28) - 1, &[0xff, 0xff, 0xff, 0x7f]),
        ] {
            let mut bytes = Vec::new();
            write_size(size, |byte| bytes.push(byte));
            assert_eq!((&bytes[..], size_of_size(size)), (expected, bytes.len()));
            assert_eq!(read_size(&bytes), Some((size, bytes.len())));
            assert_eq!(read_size(&bytes[..bytes.len() - 1]), None);
        }
        // A longer form is valid; five bytes are not.
        assert_eq!(read_size(&[0x85, 0x80, 0]), Some((5, 3)));
        assert_eq!(read_size(&[0x80, 0x80, 0x80, 0x80, 0]), None);
    }

    #[test]
    fn a_temporal_unit_is_its_obus() {
        let stream = [
            obu(2, &[]),
            obu(1, &[1, 2, 3]),
            vec![6 << 3 | HAS_EXTENSION | HAS_SIZE, 0x20, 2, 0x10, 9],
            vec![5 << 3, 4, 5],
        ]
        .concat();
        let all: Vec<_> = obus(&stream).collect();
        let read: Vec<_> = all
            .iter()
            .map(|obu| (obu.kind(), obu.extension, obu.body))
            .collect();
        assert_eq!(
            read,
            [
                (2, None, &[][..]),
                (1, None, &[1, 2, 3]),
                (6, Some(0x20), &[0x10, 9]),
                (5, None, &[4, 5])
            ]
        );
        let begins: Vec<_> = all.iter().map(Obu::begins_sequence).collect();
        assert_eq!(begins, [None, None, Some(true), None]);
    }

    #[test]
    fn what_is_no_obu_ends_it() {
        for bytes in [
            &[][..],
            &[0x80],
            &[6 << 3 | HAS_EXTENSION],
            &[6 << 3 | HAS_SIZE],
            &[6 << 3 | HAS_SIZE, 2, 0],
            &[6 << 3 | HAS_SIZE, 0x80, 0x80, 0x80, 0x80, 1],
        ] {
            assert_eq!(obus(bytes).count(), 0, "{bytes:?}");
            let stream = [&obu(1, &[1]), bytes].concat();
            assert_eq!(obus(&stream).count(), 1, "{bytes:?}");
        }
    }
}
