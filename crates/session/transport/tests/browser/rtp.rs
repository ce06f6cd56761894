//! What of a datagram is in the clear.

use std::collections::BTreeMap;

/// What a datagram carries, by its first bytes (RFC 7983, section 7; RFC 5761,
/// section 4).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    Stun,
    Dtls,
    Rtp,
    Rtcp,
}

pub(crate) fn kind(datagram: &[u8]) -> Kind {
    match *datagram {
        [0..=3, ..] => Kind::Stun,
        [20..=63, ..] => Kind::Dtls,
        [128..=191, 192..=223, ..] => Kind::Rtcp,
        [128..=191, ..] => Kind::Rtp,
        _ => panic!("a datagram that is nothing: {datagram:?}"),
    }
}

/// The header of an RTP packet (RFC 3550, section 5.1), which SRTP leaves as it is.
#[derive(Clone, Debug)]
pub(crate) struct Rtp {
    pub(crate) marker: bool,
    pub(crate) payload_type: u8,
    pub(crate) sequence: u16,
    pub(crate) timestamp: u32,
    pub(crate) ssrc: u32,
    /// By their numbers.
    pub(crate) extensions: BTreeMap<u8, Vec<u8>>,
}

impl Rtp {
    pub(crate) fn parse(datagram: &[u8]) -> Self {
        let word = |at: usize| u32::from_be_bytes(datagram[at..at + 4].try_into().unwrap());
        let half = |at: usize| u16::from_be_bytes(datagram[at..at + 2].try_into().unwrap());
        assert_eq!(
            datagram[0] & 0xef,
            0x80,
            "version 2, no padding, no sources"
        );
        let mut extensions = BTreeMap::new();
        if datagram[0] & 0x10 != 0 {
            assert_eq!(half(12), 0xbede, "one-byte headers (RFC 8285, section 4.2)");
            let end = 16 + 4 * usize::from(half(14));
            let mut rest = &datagram[16..end];
            while let Some((&first, behind)) = rest.split_first() {
                rest = behind;
                if first != 0 {
                    let (value, behind) = rest.split_at(usize::from(first & 15) + 1);
                    assert!(extensions.insert(first >> 4, value.to_vec()).is_none());
                    rest = behind;
                }
            }
        }
        Self {
            marker: datagram[1] & 0x80 != 0,
            payload_type: datagram[1] & 0x7f,
            sequence: half(2),
            timestamp: word(4),
            ssrc: word(8),
            extensions,
        }
    }
}
