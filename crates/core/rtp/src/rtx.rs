//! Payloads of retransmissions (RFC 4588, section 4): the packet's original sequence number, then
//! its payload.

/// Length in bytes of the original sequence number.
pub const SEQUENCE: usize = 2;

/// A packet that was sent again.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Original<'a> {
    /// RTP sequence number of the first transmission.
    pub sequence: u16,
    /// Payload of the first transmission.
    pub payload: &'a [u8],
}

/// Why a payload is not a retransmission.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum RtxError {
    /// The payload is too short for the original sequence number. A probe has no payload at all.
    #[error("a retransmission of {length} bytes; two are the original sequence number")]
    TooShort {
        /// Length of the payload in bytes.
        length: usize,
    },
}

/// The payload of the retransmission of a packet.
#[must_use]
pub fn write(original_sequence: u16, payload: &[u8]) -> Vec<u8> {
    [&original_sequence.to_be_bytes(), payload].concat()
}

/// Reads the payload of a retransmission.
///
/// # Errors
///
/// [`RtxError::TooShort`] when the payload has less than two bytes.
pub fn parse(payload: &[u8]) -> Result<Original<'_>, RtxError> {
    let length = payload.len();
    let (sequence, payload) = payload
        .split_first_chunk::<SEQUENCE>()
        .ok_or(RtxError::TooShort { length })?;
    Ok(Original {
        sequence: u16::from_be_bytes(*sequence),
        payload,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_sent_again_keeps_its_number() {
        assert_eq!(write(0x1234, &[7, 8]), [0x12, 0x34, 7, 8]);
        let (sequence, payload) = (0x1234, &[7, 8][..]);
        assert_eq!(
            parse(&[0x12, 0x34, 7, 8]),
            Ok(Original { sequence, payload })
        );
        assert_eq!(parse(&[1]), Err(RtxError::TooShort { length: 1 }));
    }
}
