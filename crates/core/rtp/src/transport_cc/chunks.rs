//! Statuses of packets, two bits each, in chunks of 16 bits (sections 3.1.1 to
//! 3.1.4 of the draft).

use super::FeedbackError;
use crate::reader::Reader;

/// The most packets in a run: 13 bits.
const LONGEST_RUN: u16 = 0x1fff;
/// Number of packets in a vector of one bit each.
const ONE_BIT: u16 = 14;
/// Number of packets in a vector of two bits each.
const TWO_BITS: u16 = 7;
/// The bit that tells a vector from a run.
const VECTOR: u16 = 0x8000;
/// The bits of a vector with two bits for each packet.
const WIDE_VECTOR: u16 = 0xc000;

/// Whether a packet arrived, and the length of its arrival time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Status {
    /// The packet did not arrive.
    Missing,
    /// The packet arrived at most 63.75 ms after the one before.
    Small,
    /// The packet arrived later than that, or earlier than the one before.
    Large,
}

impl Status {
    const fn bits(self) -> u16 {
        match self {
            Self::Missing => 0,
            Self::Small => 1,
            Self::Large => 2,
        }
    }

    const fn from_bits(bits: u16) -> Option<Self> {
        match bits {
            0 => Some(Self::Missing),
            1 => Some(Self::Small),
            2 => Some(Self::Large),
            _ => None,
        }
    }
}

/// Reads the chunks of `count` packets, the first of which is `base`. Statuses beyond these packets
/// are ignored.
pub(super) fn read(
    reader: &mut Reader<'_>,
    base: u16,
    count: u16,
) -> Result<Vec<Status>, FeedbackError> {
    let mut statuses = Vec::with_capacity(usize::from(count));
    let mut covered = 0;
    while covered < count {
        let chunk = reader.take().ok_or(FeedbackError::ChunksMissing {
            count,
            covered: usize::from(covered),
        })?;
        let chunk = u16::from_be_bytes(chunk);
        let sequence = base.wrapping_add(covered);
        let (symbols, width) = match chunk & WIDE_VECTOR {
            VECTOR => (ONE_BIT, 1),
            WIDE_VECTOR => (TWO_BITS, 2),
            _ => (chunk & LONGEST_RUN, 0),
        };
        if symbols == 0 {
            return Err(FeedbackError::EmptyRun { sequence });
        }
        let taken = symbols.min(count - covered);
        for index in 0..taken {
            let bits = match width {
                0 => chunk >> 13,
                _ => chunk >> (width * (symbols - 1 - index)) & ((1 << width) - 1),
            };
            let sequence = sequence.wrapping_add(index);
            let unknown = FeedbackError::UnknownStatus { sequence };
            statuses.push(Status::from_bits(bits).ok_or(unknown)?);
        }
        covered += taken;
    }
    Ok(statuses)
}

/// Writes statuses, each time as the chunk that covers most of the rest.
pub(super) fn write(mut statuses: &[Status], bytes: &mut Vec<u8>) {
    while let Some(&first) = statuses.first() {
        let run = length(statuses, LONGEST_RUN, |status| status == first);
        let narrow = length(statuses, ONE_BIT, |status| status != Status::Large);
        let is_narrow = narrow == length(statuses, ONE_BIT, |_| true);
        let wide = length(statuses, TWO_BITS, |_| true);
        let (chunk, taken) = if is_narrow && narrow > run {
            (VECTOR | vector(statuses, ONE_BIT, 1), narrow)
        } else if wide > run {
            (WIDE_VECTOR | vector(statuses, TWO_BITS, 2), wide)
        } else {
            (first.bits() << 13 | run, run)
        };
        bytes.extend_from_slice(&chunk.to_be_bytes());
        statuses = statuses.get(usize::from(taken)..).unwrap_or_default();
    }
}

/// The number of next statuses, at most `most`, for which `is_kind` holds.
fn length(statuses: &[Status], most: u16, is_kind: impl Fn(Status) -> bool) -> u16 {
    let all = (0..most).zip(statuses);
    all.take_while(|(_, status)| is_kind(**status))
        .fold(0, |length, _| length + 1)
}

fn vector(statuses: &[Status], symbols: u16, width: u16) -> u16 {
    let places = (0..symbols).rev();
    places.zip(statuses).fold(0, |bits, (place, status)| {
        bits | status.bits() << (width * place)
    })
}

#[cfg(test)]
mod tests {
    use super::Status::{Large, Missing, Small};
    use super::*;

    fn chunks(statuses: &[Status]) -> Vec<u16> {
        let mut bytes = Vec::new();
        write(statuses, &mut bytes);
        let mut reader = Reader::new(&bytes);
        let count = u16::try_from(statuses.len()).unwrap();
        assert_eq!(read(&mut reader, 0, count), Ok(statuses.to_vec()));
        assert_eq!(reader.left(), 0);
        bytes
            .chunks(2)
            .map(|chunk| u16::from_be_bytes([chunk[0], chunk[1]]))
            .collect()
    }

    #[test]
    fn each_chunk_covers_as_much_as_it_can() {
        assert_eq!(chunks(&[Small; 45]), [0x202d]);
        assert_eq!(chunks(&[Missing; 9000]), [8191, 9000 - 8191]);
        assert_eq!(chunks(&[Large]), [0x4001]);
        let mut loss = [Small; 16];
        loss[1] = Missing;
        assert_eq!(chunks(&loss), [0x8000 | 0b10_1111_1111_1111, 0x2002]);
        assert_eq!(
            chunks(&[Small, Large, Missing, Small]),
            [0xc000 | 0b01_10_00_01_00_00_00]
        );
    }

    #[test]
    fn the_examples_of_the_draft_are_read() {
        // Sections 3.1.3 and 3.1.4: a run of 221 lost, a run of 24 with small
        // differences, then a vector of each kind.
        let read = |chunk: u16, count| read(&mut Reader::new(&chunk.to_be_bytes()), 7, count);
        assert_eq!(read(0b0000_0000_1101_1101, 221), Ok(vec![Missing; 221]));
        assert_eq!(read(0b0010_0000_0001_1000, 24), Ok(vec![Small; 24]));
        let narrow = [0, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0];
        let narrow = narrow.map(|bit| if bit == 1 { Small } else { Missing });
        assert_eq!(read(0b1001_1111_0001_1100, 14), Ok(narrow.to_vec()));
        assert_eq!(read(0b1001_1111_0001_1100, 3), Ok(narrow[..3].to_vec()));
        assert_eq!(
            read(0b1100_0110_0101_0000, 7),
            Ok(vec![Missing, Small, Large, Small, Small, Missing, Missing])
        );
    }

    #[test]
    fn broken_chunks_are_named() {
        let read = |bytes: &[u8], count| read(&mut Reader::new(bytes), 65_535, count);
        let (count, covered) = (15, 14);
        assert_eq!(
            read(&[0x80, 0, 1], 15),
            Err(FeedbackError::ChunksMissing { count, covered })
        );
        let sequence = 65_535;
        assert_eq!(
            read(&[0x20, 0], 1),
            Err(FeedbackError::EmptyRun { sequence })
        );
        assert_eq!(
            read(&[0x60, 9], 1),
            Err(FeedbackError::UnknownStatus { sequence })
        );
        assert_eq!(
            read(&[0b1101_1100, 0], 7),
            Err(FeedbackError::UnknownStatus { sequence: 0 })
        );
        assert_eq!(read(&[0b1101_1100, 0], 1), Ok(vec![Small]));
    }
}
