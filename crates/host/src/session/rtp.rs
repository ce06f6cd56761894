//! What RTP's header says on the wire, where SRTP leaves it in the clear (RFC 3711,
//! section 3.1).

use mimosa_units::Time;

/// The parts of a header that a frame's packets are found by.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct RtpHeader {
    pub(crate) ssrc: u32,
    pub(crate) sequence: u16,
    pub(crate) timestamp: u32,
}

impl RtpHeader {
    /// That of a datagram; `None` when it is not RTP (RFC 7983, section 7; RFC 5761,
    /// section 4).
    pub(crate) fn read(datagram: &[u8]) -> Option<Self> {
        let &[first, second, s0, s1, t0, t1, t2, t3, c0, c1, c2, c3] = datagram.first_chunk()?;
        let is_rtp = (128..=191).contains(&first) && !(192..=223).contains(&second);
        is_rtp.then_some(Self {
            ssrc: u32::from_be_bytes([c0, c1, c2, c3]),
            sequence: u16::from_be_bytes([s0, s1]),
            timestamp: u32::from_be_bytes([t0, t1, t2, t3]),
        })
    }
}

/// RTP time of a picture's capture: 90 kHz (RFC 6184, section 8.1), from `offset` on.
pub(super) fn picture_time(offset: u32, captured: Time) -> u32 {
    let ticks = u128::from(captured.as_nanos()) * 9 / 100_000;
    #[expect(clippy::cast_possible_truncation, reason = "it wraps by design")]
    let ticks = ticks as u32;
    offset.wrapping_add(ticks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_have_90000_ticks_a_second() {
        assert_eq!(picture_time(5, Time::from_secs(2)), 180_005);
        assert_eq!(picture_time(u32::MAX, Time::from_millis(1)), 89);
    }

    #[test]
    fn rtp_is_told_from_what_is_beside_it() {
        let rtp = [0x90, 0xE0, 1, 2, 0, 0, 0, 9, 0xAA, 0xBB, 0xCC, 0xDD, 7];
        let header = RtpHeader {
            ssrc: 0xAABB_CCDD,
            sequence: 0x0102,
            timestamp: 9,
        };
        assert_eq!(RtpHeader::read(&rtp), Some(header));
        assert_eq!(RtpHeader::read(&rtp[..11]), None, "too short");
        for (place, byte, what) in [(1, 205, "RTCP"), (0, 22, "DTLS"), (0, 1, "STUN")] {
            let mut other = rtp;
            other[place] = byte;
            assert_eq!(RtpHeader::read(&other), None, "{what}");
        }
    }
}
