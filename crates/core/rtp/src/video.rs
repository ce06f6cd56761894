//! Cuts frames of any codec into RTP payloads, and joins them again.
//!
//! | codec | payload format | a frame |
//! |---|---|---|
//! | H.264 | [`h264`] (RFC 6184) | an access unit as a byte stream (annex B) |
//! | H.265 | [`h265`] (RFC 7798) | the same |
//! | AV1 | [`av1`] (its RTP specification) | a temporal unit in low-overhead form |

use mimosa_facts::Codec;
use mimosa_units::Bytes;

use crate::{av1, h264, h265};

pub use crate::payloads::Payloads;

/// Why payloads do not make a frame. The sender, or a lost packet, is to blame.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("packet {packet}: {problem}")]
pub struct DepacketiseError {
    /// The packet, counted from one; the number behind the last when the end is missing.
    pub packet: usize,
    /// The fault in the packet.
    pub problem: Malformed,
}

/// A fault in a payload.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// The payload ends within its header.
    #[error("a payload of {length} bytes; {needed} say what it holds")]
    TooShort {
        /// Number of bytes in the payload.
        length: usize,
        /// Number of bytes in its header.
        needed: usize,
    },
    /// The payload is of an unknown type.
    #[error("a payload of type {kind}; types {known} are known")]
    UnknownKind {
        /// Type of the payload.
        kind: u8,
        /// The known types, as text.
        known: &'static str,
    },
    /// The payload ends within a size, a unit or an element.
    #[error("{needed} bytes are due at byte {at} of the payload, but {left} are left")]
    Cut {
        /// Offset in bytes of the field that is cut.
        at: usize,
        /// Length in bytes of the field that is cut.
        needed: usize,
        /// Number of bytes left.
        left: usize,
    },
    /// A unit or an element is shorter than its header.
    #[error("{length} bytes at byte {at} of the payload; a header alone has {needed}")]
    NoHeader {
        /// Offset of its size in bytes.
        at: usize,
        /// Length of the unit or element in bytes.
        length: usize,
        /// Length of its header in bytes.
        needed: usize,
    },
    /// A fragment holds no bytes of its unit.
    #[error("a fragment of {length} bytes; {header} come before what it is of")]
    EmptyFragment {
        /// Number of bytes in the fragment.
        length: usize,
        /// Number of bytes in its header.
        header: usize,
    },
    /// The first fragment is also the last.
    #[error("a fragment that is first and last at once; a whole unit is sent as it is")]
    FragmentIsWhole,
    /// A fragment continues a unit that has not begun, or another unit.
    #[error("a fragment that continues what has not begun")]
    NotBegun,
    /// Another payload, or the end, comes while a unit or an element lacks its last fragment.
    #[error("what was cut into fragments has not ended; the last of them is missing")]
    NotEnded,
    /// A size takes more bytes than sizes may have (AV1, 4.10.5).
    #[error("no size at byte {at} of the payload; it has 1 to 4 bytes, the last below 128")]
    NoSize {
        /// Offset of the size in bytes.
        at: usize,
    },
    /// An OBU's own size, which is optional, is not that of its element.
    #[error("an OBU whose size field does not fit its element of {length} bytes")]
    OtherSize {
        /// Length of the element in bytes.
        length: usize,
    },
}

/// Cuts frames of one codec into RTP payloads.
#[derive(Clone, Copy, Debug)]
pub struct Packetiser {
    codec: Codec,
    largest: Bytes,
}

impl Packetiser {
    /// A packetiser that makes payloads of at most `largest` bytes.
    #[must_use]
    pub const fn new(codec: Codec, largest: Bytes) -> Self {
        Self { codec, largest }
    }

    /// The payloads of a frame; empty when the frame has nothing to send.
    #[must_use]
    pub fn packetise(&self, frame: &[u8]) -> Payloads {
        match self.codec {
            Codec::H264 => h264::Packetiser::new(self.largest).packetise(frame),
            Codec::H265 => h265::Packetiser::new(self.largest).packetise(frame),
            Codec::Av1 => av1::Packetiser::new(self.largest).packetise(frame),
        }
    }
}

/// Joins the payloads of one frame, given in the order of their sequence numbers, into the form
/// that decoders of the codec take.
///
/// # Errors
///
/// [`DepacketiseError`] names the first payload that does not fit, and why. A packet lost in the
/// middle of a unit can damage the unit without an error here: the caller has the sequence numbers.
pub fn depacketise<'a>(
    codec: Codec,
    payloads: impl IntoIterator<Item = &'a [u8]>,
) -> Result<Vec<u8>, DepacketiseError> {
    match codec {
        Codec::H264 => h264::depacketise(payloads),
        Codec::H265 => h265::depacketise(payloads),
        Codec::Av1 => av1::depacketise(payloads),
    }
}

/// A payload that decoders ignore; probes carry it to receivers that take no empty packets.
#[must_use]
pub const fn filler(codec: Codec) -> &'static [u8] {
    match codec {
        // A unit of type 12, filler data (H.264, 7.4.2.7), without any filler.
        Codec::H264 => &[12, 0x80],
        // A unit of type 38 (H.265, 7.4.3.7), likewise.
        Codec::H265 => &[38 << 1, 1, 0x80],
        // One element, an OBU of type 15, padding (AV1, 5.7), of no bytes.
        Codec::Av1 => &[1 << 4, 15 << 3],
    }
}

/// A payload of `length` bytes that decoders ignore; the shortest one, [`filler`], if that is longer.
#[must_use]
pub fn filler_of(codec: Codec, length: usize) -> Vec<u8> {
    let mut payload = filler(codec).to_vec();
    let more = length.saturating_sub(payload.len());
    let (at, byte) = match codec {
        // The bytes of filler data come before the trailing bits (H.264, 7.3.2.7; H.265, 7.3.2.8).
        Codec::H264 => (1, FILLING),
        Codec::H265 => (2, FILLING),
        // Padding ends with a byte that is not zero (AV1, 5.7).
        Codec::Av1 => {
            payload.push(0x80);
            (2, FILLING)
        }
    };
    let more = if codec == Codec::Av1 {
        more.saturating_sub(1)
    } else {
        more
    };
    payload.splice(at..at, std::iter::repeat_n(byte, more));
    payload
}

/// Whether a payload is one of [`filler_of`], by its first bytes.
#[must_use]
pub fn is_filler(codec: Codec, payload: &[u8]) -> bool {
    let filler = filler_of(codec, LEAST_FILLER);
    payload.len() >= LEAST_FILLER && payload.starts_with(&filler[..LEAST_FILLER - 1])
}

/// The byte of filler data (H.264, 7.4.2.7).
const FILLING: u8 = 0xff;
/// The shortest filler that [`is_filler`] knows, in bytes.
const LEAST_FILLER: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fillers_of_any_length_mean_nothing() {
        for codec in Codec::ALL {
            for length in [0, 5, 8, 9, 1_100] {
                let payload = filler_of(codec, length);
                assert!(
                    payload.len() == length || length < 5 && payload.len() < 5,
                    "{codec:?}"
                );
                assert_eq!(
                    is_filler(codec, &payload),
                    length >= 8,
                    "{codec:?} {length}"
                );
                let read = depacketise(codec, [&payload[..]]).unwrap();
                let again = Packetiser::new(codec, Bytes::new(1_140)).packetise(&read);
                assert!(again.is_empty(), "{codec:?} {length}");
            }
            assert!(!is_filler(codec, &[7; 90]));
        }
    }

    #[test]
    fn each_codec_has_its_format() {
        let byte_stream = |first: [u8; 2]| [&[0, 0, 0, 1], &first[..], &[7; 90]].concat();
        let frames = [
            byte_stream([0x65, 7]),
            byte_stream([0x26, 1]),
            [&[0x12, 0, 0x32, 90][..], &[7; 90]].concat(),
        ];
        for (codec, frame) in Codec::ALL.into_iter().zip(frames) {
            let payloads = Packetiser::new(codec, Bytes::new(40)).packetise(&frame);
            assert_eq!(payloads.len(), 3, "{codec:?}");
            assert_eq!(depacketise(codec, payloads.iter()), Ok(frame));
        }
    }

    #[test]
    fn filler_is_read_and_means_nothing() {
        let read = Codec::ALL.map(|codec| depacketise(codec, [filler(codec)]).unwrap());
        assert_eq!(
            read,
            [
                vec![0, 0, 0, 1, 12, 0x80],
                vec![0, 0, 0, 1, 76, 1, 0x80],
                Vec::new()
            ]
        );
        let sent = |(codec, stream): (_, &Vec<u8>)| {
            Packetiser::new(codec, Bytes::new(40)).packetise(stream)
        };
        assert!(
            Codec::ALL
                .into_iter()
                .zip(&read)
                .map(sent)
                .all(|sent| sent.is_empty())
        );
    }
}
