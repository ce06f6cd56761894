//! The header extension transport-wide-cc-02
//! (`http://www.webrtc.org/experiments/rtp-hdrext/transport-wide-cc-02`): the number
//! of a packet, and a request for a report.

use mimosa_facts::TransportSequence;

/// The bit of a request for a report with arrival times.
const WITH_TIMES: u16 = 0x8000;
/// The most packets that a request can name.
const MOST: u16 = 0x7fff;

/// The data of the header extension: a packet's number and a request for a report.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TransportExtension {
    /// Number of the packet among all packets of the video.
    pub sequence: TransportSequence,
    /// Asks for a report with times on this many packets, of which this one is the last: 1 to
    /// 32767. `Some(0)` asks for nothing.
    pub request: Option<u16>,
}

/// Why bytes are not a valid extension. The sender is to blame.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExtensionError {
    /// The extension has neither two bytes nor four.
    #[error("a transport-wide sequence number of {length} bytes; it has 2, or 4 with a request")]
    Length {
        /// Number of bytes in the extension.
        length: usize,
    },
    /// The packet asks for a report without arrival times.
    #[error("a request for a report on {count} packets without times; reports here have times")]
    WithoutTimes {
        /// Number of packets that the request is about.
        count: u16,
    },
}

impl TransportExtension {
    /// Writes the extension's data: two bytes, or four with a request. A request for more than
    /// 32767 packets is written as one for 32767.
    #[must_use]
    pub fn to_bytes(self) -> Vec<u8> {
        let mut bytes = self.sequence.0.to_be_bytes().to_vec();
        if let Some(count) = self.request.filter(|&count| count > 0) {
            bytes.extend_from_slice(&(WITH_TIMES | count.min(MOST)).to_be_bytes());
        }
        bytes
    }

    /// Reads the extension's data.
    ///
    /// # Errors
    ///
    /// [`ExtensionError`] for another length, or a request without times.
    pub fn parse(bytes: &[u8]) -> Result<Self, ExtensionError> {
        let (sequence, request) = match *bytes {
            [high, low] => ([high, low], 0),
            [high, low, first, second] => ([high, low], u16::from_be_bytes([first, second])),
            _ => {
                return Err(ExtensionError::Length {
                    length: bytes.len(),
                });
            }
        };
        let count = request & MOST;
        if count > 0 && request & WITH_TIMES == 0 {
            return Err(ExtensionError::WithoutTimes { count });
        }
        Ok(Self {
            sequence: TransportSequence(u16::from_be_bytes(sequence)),
            request: (count > 0).then_some(count),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_takes_two_more_bytes() {
        for (sequence, request, bytes) in [
            (0x1234, None, &[0x12, 0x34][..]),
            (0x1234, Some(45), &[0x12, 0x34, 0x80, 45]),
            (0xffff, Some(0x7fff), &[0xff, 0xff, 0xff, 0xff]),
        ] {
            let sequence = TransportSequence(sequence);
            let extension = TransportExtension { sequence, request };
            assert_eq!(extension.to_bytes(), bytes);
            assert_eq!(TransportExtension::parse(bytes), Ok(extension));
        }
    }

    #[test]
    fn what_cannot_be_asked_for_is_bounded_or_refused() {
        let bytes = |request| {
            let sequence = TransportSequence(1);
            TransportExtension { sequence, request }.to_bytes()
        };
        assert_eq!(bytes(Some(0)), [0, 1]);
        assert_eq!(bytes(Some(0x8001)), [0, 1, 0xff, 0xff]);
        assert_eq!(
            TransportExtension::parse(&[1, 2, 3]),
            Err(ExtensionError::Length { length: 3 })
        );
        assert_eq!(
            TransportExtension::parse(&[0, 1, 0, 9]),
            Err(ExtensionError::WithoutTimes { count: 9 })
        );
    }
}
