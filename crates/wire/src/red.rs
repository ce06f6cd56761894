//! Payloads with redundancy (RFC 2198): a frame of sound, and in front of it those
//! before, so that a packet makes up for the one that was lost.

/// Largest age: 14 bits (RFC 2198, section 3).
const LARGEST_AGE: u32 = (1 << 14) - 1;
/// Longest redundant block: 10 bits.
const LONGEST: usize = (1 << 10) - 1;
/// Set where another header follows.
const FOLLOWS: u8 = 0x80;

/// A frame that was sent before.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Earlier<'a> {
    /// How much earlier, in units of the RTP timestamp.
    pub age: u32,
    /// Its payload.
    pub payload: &'a [u8],
}

/// The payload of a packet with `newest` and, the oldest first, `earlier`, all of one
/// payload type. What is too old or too long for the format is left out.
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

#[cfg(test)]
mod tests {
    use super::*;

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
