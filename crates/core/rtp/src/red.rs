//! Payloads with redundancy (RFC 2198): each packet carries a frame of sound and, in front of it,
//! the frames before, so that a packet makes up for lost ones.

/// The largest age of a block in units of the RTP timestamp: 14 bits (RFC 2198, section 3).
const LARGEST_AGE: u32 = (1 << 14) - 1;
/// The longest redundant block in bytes: 10 bits.
const LONGEST: usize = (1 << 10) - 1;
/// The bit that says that another header follows.
const FOLLOWS: u8 = 0x80;

/// A frame that was sent before.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Earlier<'a> {
    /// Age in units of the RTP timestamp.
    pub age: u32,
    /// Payload of the frame.
    pub payload: &'a [u8],
}

/// The payload of a packet with `newest` and, the oldest first, `earlier`, all of one payload type.
/// Frames too old or too long for the format are left out.
#[must_use]
pub fn write(payload_type: u8, earlier: &[Earlier<'_>], newest: &[u8]) -> Vec<u8> {
    let payload_type = payload_type & !FOLLOWS;
    let fits = |block: &&Earlier<'_>| block.age <= LARGEST_AGE && block.payload.len() <= LONGEST;
    let mut headers = Vec::new();
    let mut payloads = Vec::new();
    for Earlier { age, payload } in earlier.iter().filter(fits) {
        let length = u32::try_from(payload.len()).unwrap_or(0);
        let [_, rest @ ..] = (age << 10 | length).to_be_bytes();
        headers.push(FOLLOWS | payload_type);
        headers.extend(rest);
        payloads.extend_from_slice(payload);
    }
    headers.push(payload_type);
    [&headers, &payloads[..], newest].concat()
}

/// A block of a payload with redundancy.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Block<'a> {
    /// Payload type of the block.
    pub payload_type: u8,
    /// Age of the block relative to the packet's timestamp, in its units; zero for the newest.
    pub age: u32,
    /// Payload of the block.
    pub payload: &'a [u8],
}

/// Why bytes are not a payload with redundancy. The sender is to blame.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RedError {
    /// The headers end before the last one.
    #[error("the redundant headers of {length} bytes end before the last one, of one byte")]
    HeaderMissing {
        /// Number of bytes in the payload.
        length: usize,
    },
    /// A block is longer than what is left.
    #[error("a redundant block of {needed} bytes, where {left} are left")]
    TooShort {
        /// Number of bytes that the block's header announces.
        needed: usize,
        /// Number of bytes left.
        left: usize,
    },
}

/// Reads a payload: its blocks in their order, the newest last.
///
/// # Errors
///
/// [`RedError`] when the payload ends too early.
pub fn parse(payload: &[u8]) -> Result<Vec<Block<'_>>, RedError> {
    let length = payload.len();
    let missing = RedError::HeaderMissing { length };
    let mut headers = Vec::new();
    let mut rest = payload;
    let newest = loop {
        match *rest {
            [last, ref blocks @ ..] if last & FOLLOWS == 0 => {
                rest = blocks;
                break last;
            }
            [kind, a, b, c, ref others @ ..] => {
                let fields = u32::from_be_bytes([0, a, b, c]);
                headers.push((kind & !FOLLOWS, fields >> 10, fields as usize & LONGEST));
                rest = others;
            }
            _ => return Err(missing),
        }
    };
    let mut blocks = Vec::with_capacity(headers.len() + 1);
    for (payload_type, age, needed) in headers {
        let left = rest.len();
        let (payload, others) = rest
            .split_at_checked(needed)
            .ok_or(RedError::TooShort { needed, left })?;
        blocks.push(Block {
            payload_type,
            age,
            payload,
        });
        rest = others;
    }
    blocks.push(Block {
        payload_type: newest,
        age: 0,
        payload: rest,
    });
    Ok(blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let earlier = [(960, &[7, 7, 7][..]), (480, &[])];
        let earlier = earlier.map(|(age, payload)| Earlier { age, payload });
        let written = write(111, &earlier, &[9, 9]);
        let block = |age, payload| Block {
            payload_type: 111,
            age,
            payload,
        };
        let blocks = [
            block(960, &[7, 7, 7][..]),
            block(480, &[]),
            block(0, &[9, 9]),
        ];
        assert_eq!(parse(&written), Ok(blocks.to_vec()));
        let cut = |length: usize| parse(&written[..length]);
        for length in [0, 1, 4, 8] {
            assert_eq!(cut(length), Err(RedError::HeaderMissing { length }));
        }
        let (needed, left) = (3, 2);
        assert_eq!(cut(11), Err(RedError::TooShort { needed, left }));
        assert_eq!(cut(12), Ok([blocks[0], blocks[1], block(0, &[])].to_vec()));
    }

    /// The bits of RFC 2198, section 3, by hand.
    #[test]
    fn earlier_frames_stand_in_front() {
        let old = [7; 3];
        let earlier = [
            Earlier {
                age: 960,
                payload: &old,
            },
            Earlier {
                age: 480,
                payload: &[8],
            },
        ];
        let written = write(111, &earlier, &[9, 9]);
        // 960 << 10 | 3 is 0xf0003; 480 << 10 | 1 is 0x78001.
        let expected = [
            0xef, 0x0f, 0x00, 0x03, 0xef, 0x07, 0x80, 0x01, 0x6f, 7, 7, 7, 8, 9, 9,
        ];
        assert_eq!(written, expected);
        assert_eq!(write(111, &[], &[9, 9]), [0x6f, 9, 9]);
    }

    #[test]
    fn what_the_format_cannot_say_is_left_out() {
        let long = vec![0; 1_024];
        let earlier = [
            Earlier {
                age: 16_384,
                payload: &[1],
            },
            Earlier {
                age: 480,
                payload: &long,
            },
            Earlier {
                age: 16_383,
                payload: &long[1..],
            },
        ];
        let written = write(0xff, &earlier, &[]);
        assert_eq!(written[..5], [0xff, 0xff, 0xff, 0xff, 0x7f]);
        assert_eq!(written.len(), 5 + 1_023);
    }
}
