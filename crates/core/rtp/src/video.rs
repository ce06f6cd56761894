//! Frames of any codec into RTP payloads, and together again.
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

/// Why payloads make no frame. The sender, or a packet lost, is to blame.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("packet {packet}: {problem}")]
pub struct DepacketiseError {
    /// The packet, counted from one. That behind the last when the end is missing.
    pub packet: usize,
    /// What is wrong with it.
    pub problem: Malformed,
}

/// What is wrong with a payload.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// A payload that ends within its header.
    #[error("a payload of {length} bytes; {needed} say what it holds")]
    TooShort {
        /// How many bytes there are.
        length: usize,
        /// How many its header has.
        needed: usize,
    },
    /// A type of payload that is not sent here.
    #[error("a payload of type {kind}; types {known} are known")]
    UnknownKind {
        /// The type.
        kind: u8,
        /// Which there are.
        known: &'static str,
    },
    /// It ends within a size, a unit or an element.
    #[error("{needed} bytes are due at byte {at} of the payload, but {left} are left")]
    Cut {
        /// Where what is cut begins.
        at: usize,
        /// How long it is.
        needed: usize,
        /// How much there is.
        left: usize,
    },
    /// A unit or an element without so much as a header.
    #[error("{length} bytes at byte {at} of the payload; a header alone has {needed}")]
    NoHeader {
        /// Where its size stands.
        at: usize,
        /// How long it is.
        length: usize,
        /// How long a header is.
        needed: usize,
    },
    /// A fragment without anything of its unit.
    #[error("a fragment of {length} bytes; {header} come before what it is of")]
    EmptyFragment {
        /// How many there are.
        length: usize,
        /// How many are not the unit's.
        header: usize,
    },
    /// The first fragment is also the last.
    #[error("a fragment that is first and last at once; a whole unit is sent as it is")]
    FragmentIsWhole,
    /// A fragment that continues nothing, or something else.
    #[error("a fragment that continues what has not begun")]
    NotBegun,
    /// Another payload, or the end, while a unit or an element lacks its last fragment.
    #[error("what was cut into fragments has not ended; the last of them is missing")]
    NotEnded,
    /// A number in more bytes than sizes have (AV1, 4.10.5).
    #[error("no size at byte {at} of the payload; it has 1 to 4 bytes, the last below 128")]
    NoSize {
        /// Where it begins.
        at: usize,
    },
    /// An OBU's own size, which it need not have, is not that of its element.
    #[error("an OBU whose size field does not fit its element of {length} bytes")]
    OtherSize {
        /// How long the element is.
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
    /// Payloads of at most `largest`.
    #[must_use]
    pub const fn new(codec: Codec, largest: Bytes) -> Self {
        Self { codec, largest }
    }

    /// The payloads of a frame; none at all when there is nothing in it to send.
    #[must_use]
    pub fn packetise(&self, frame: &[u8]) -> Payloads {
        match self.codec {
            Codec::H264 => h264::Packetiser::new(self.largest).packetise(frame),
            Codec::H265 => h265::Packetiser::new(self.largest).packetise(frame),
            Codec::Av1 => av1::Packetiser::new(self.largest).packetise(frame),
        }
    }
}

/// Puts the payloads of one frame together, in the order of their sequence numbers, as
/// decoders of the codec take it.
///
/// # Errors
///
/// [`DepacketiseError`] with the first payload that does not fit, and why. A packet
/// that was lost in the midst of a unit leaves a unit damaged that is not always
/// noticed here: the caller has the sequence numbers.
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

/// A payload that decoders make nothing of: what a probe carries to a receiver that takes
/// no empty packets.
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

#[cfg(test)]
mod tests {
    use super::*;

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
