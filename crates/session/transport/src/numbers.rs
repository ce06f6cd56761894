//! The numbers with which a connection's RTP streams begin.

use crate::store::Stream;

/// The numbers with which the host's RTP streams begin. RFC 3550, section 5.1, wants them to be
/// random; the caller draws them, so that a connection has no randomness of its own.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct StreamNumbers {
    first_sequence: u16,
    first_name: u32,
}

impl StreamNumbers {
    /// The numbers that follow from random bits.
    #[must_use]
    pub const fn drawn([sequence, name]: [u32; 2]) -> Self {
        // Below 32768: RFC 3711, section 3.3.1, as otherwise a receiver could not tell whether the
        // number has wrapped before the first packet that it sees.
        #[expect(clippy::cast_possible_truncation, reason = "the low bits are meant")]
        Self::new(sequence as u16 >> 1, name)
    }

    /// The numbers that begin with this number of a packet, and with about this name.
    #[must_use]
    pub const fn new(first_sequence: u16, name: u32) -> Self {
        Self {
            first_sequence,
            // Small enough for the names that follow, and never zero, which str0m keeps for itself.
            first_name: name >> 1 | 1,
        }
    }

    /// Number of the first packet of each stream.
    pub(crate) const fn first_sequence(self) -> u16 {
        self.first_sequence
    }

    /// SSRC of a stream. The streams of a connection have consecutive ones: RFC 3550, section 8,
    /// only wants that two senders are unlikely to choose one name.
    pub(crate) const fn ssrc(self, stream: Stream) -> u32 {
        self.first_name + stream as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_have_different_names_that_are_not_zero() {
        for bits in [0, 1, u32::MAX] {
            let numbers = StreamNumbers::drawn([bits; 2]);
            let streams = [Stream::Media, Stream::Retransmission, Stream::Repair];
            let names = streams.map(|stream| numbers.ssrc(stream));
            assert!(names[0] > 0 && names[0] < names[1] && names[1] < names[2]);
            assert!(numbers.first_sequence() < 32_768);
        }
    }
}
