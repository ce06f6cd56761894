//! Whether a packet begins a keyframe, by the first bytes of its payload.
//!
//! | codec | a keyframe begins with | source |
//! |---|---|---|
//! | H.264 | a sequence parameter set (7) or an IDR slice (5) | RFC 6184, section 5.2; H.264, table 7-1 |
//! | H.265 | parameter sets (32 to 34) or a random access point (16 to 21) | RFC 7798, section 4.4; H.265, table 7-1 |
//! | AV1 | a new coded video sequence (bit N) | RTP payload format for AV1, section 4.4 |
//!
//! Of an aggregate the first unit counts, of a fragmented unit the first fragment.

use mimosa_facts::Codec;

/// Whether the packet with this payload begins a keyframe. A payload that cannot be read does not.
#[must_use]
pub fn begins(codec: Codec, payload: &[u8]) -> bool {
    match codec {
        Codec::H264 => h264(payload).unwrap_or(false),
        Codec::H265 => h265(payload).unwrap_or(false),
        Codec::Av1 => payload.first().is_some_and(|first| first & 0x08 != 0),
    }
}

fn h264(payload: &[u8]) -> Option<bool> {
    /// An aggregate without decoding order numbers, and a fragment.
    const STAP_A: u8 = 24;
    const FU_A: u8 = 28;
    let kind = match payload.first()? & 0x1f {
        // A size of two bytes is in front of the first unit.
        STAP_A => payload.get(3)? & 0x1f,
        FU_A => {
            let fragment = payload.get(1)?;
            if fragment & 0x80 == 0 {
                return Some(false);
            }
            fragment & 0x1f
        }
        kind => kind,
    };
    Some(matches!(kind, 5 | 7))
}

fn h265(payload: &[u8]) -> Option<bool> {
    const AGGREGATE: u8 = 48;
    const FRAGMENT: u8 = 49;
    let kind_of = |byte: &u8| byte >> 1 & 0x3f;
    let kind = match kind_of(payload.first()?) {
        // A header and a size, of two bytes each, are in front of the first unit.
        AGGREGATE => kind_of(payload.get(4)?),
        FRAGMENT => {
            let fragment = payload.get(2)?;
            if fragment & 0x80 == 0 {
                return Some(false);
            }
            fragment & 0x3f
        }
        kind => kind,
    };
    Some(matches!(kind, 16..=21 | 32..=34))
}

#[cfg(test)]
mod tests {
    use mimosa_units::Bytes;

    use super::*;
    use crate::video::Packetiser;

    /// Which of the packets of a frame of these units begin a keyframe.
    fn said(codec: Codec, units: &[(&[u8], usize)]) -> Vec<bool> {
        let unit =
            |(header, size): &(&[u8], usize)| [&[0, 0, 0, 1], *header, &vec![9; *size]].concat();
        let frame: Vec<_> = units.iter().flat_map(unit).collect();
        let payloads = Packetiser::new(codec, Bytes::new(100)).packetise(&frame);
        payloads.iter().map(|one| begins(codec, one)).collect()
    }

    #[test]
    fn the_first_packet_of_a_keyframe_is_found() {
        let key: &[(&[u8], usize)] = &[(&[0x67], 9), (&[0x68], 3), (&[0x65], 150)];
        assert_eq!(said(Codec::H264, key), [true, true, false]);
        assert_eq!(said(Codec::H264, &[(&[0x65], 20)]), [true]);
        assert_eq!(said(Codec::H264, &[(&[0x61], 20)]), [false]);
        assert_eq!(said(Codec::H264, &[(&[0x61], 150)]), [false, false]);
        let key: &[(&[u8], usize)] = &[(&[64, 1], 9), (&[66, 1], 9), (&[38, 1], 150)];
        assert_eq!(said(Codec::H265, key), [true, true, false]);
        assert_eq!(said(Codec::H265, &[(&[2, 1], 20)]), [false]);
        assert_eq!(said(Codec::H265, &[(&[2, 1], 150)]), [false, false]);
    }

    #[test]
    fn what_cannot_be_read_begins_none() {
        assert!(begins(Codec::Av1, &[0x08]) && !begins(Codec::Av1, &[0x10]));
        for codec in Codec::ALL {
            assert!(!begins(codec, &[]));
        }
        for short in [&[24][..], &[24, 0, 9], &[28]] {
            assert!(!begins(Codec::H264, short));
        }
        for short in [&[96][..], &[96, 1, 0, 9], &[98, 1]] {
            assert!(!begins(Codec::H265, short));
        }
    }
}
