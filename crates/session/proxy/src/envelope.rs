//! What the two ends send each other besides the application's packets.
//!
//! A *report* is a compound of RTCP that begins with an application-defined packet (RFC 3550,
//! section 6.7) called `MIMP`; reports of RFC 8888 follow. The name tells them from reports that the
//! applications send each other. The SSRC of all of them names one run of the far end.
//!
//! A *probe* is an RTP packet without contents of an application, on an SSRC of its own. A header
//! extension of the profile `MP` without contents tells it from an application's packets.

use mimosa_rtp::packet::Packet;
use mimosa_rtp::rtcp;

/// RTCP payload type of an application-defined packet.
const APPLICATION: u8 = 204;
const NAME: [u8; 4] = *b"MIMP";
/// The header extension's profile.
const PROFILE: u16 = u16::from_be_bytes(*b"MP");
/// Payload type of a probe: the last of the dynamic ones (RFC 3551, section 3).
const PROBE_TYPE: u8 = 127;
/// Bytes of a probe without filling.
const PROBE_HEADER: usize = 16;

/// The packet that begins a report of the far end `ssrc`.
pub(crate) fn head(ssrc: u32) -> [u8; 12] {
    let [s0, s1, s2, s3] = ssrc.to_be_bytes();
    let [n0, n1, n2, n3] = NAME;
    [0x80, APPLICATION, 0, 2, s0, s1, s2, s3, n0, n1, n2, n3]
}

/// The SSRC of the far end whose report this compound is; `None` for another compound.
pub(crate) fn whose(compound: &[u8]) -> Option<u32> {
    let first = rtcp::packets(compound).next()?.ok()?;
    let (ssrc, rest) = first.contents.split_first_chunk()?;
    let is_ours = first.payload_type == APPLICATION && rest == NAME;
    is_ours.then_some(u32::from_be_bytes(*ssrc))
}

/// A probe of `size` bytes, and of at least its header's.
pub(crate) fn probe(ssrc: u32, sequence: u16, size: usize) -> Vec<u8> {
    let mut probe = Vec::with_capacity(size.max(PROBE_HEADER));
    probe.extend([0x90, PROBE_TYPE]);
    probe.extend(sequence.to_be_bytes());
    probe.extend([0; 4]);
    probe.extend(ssrc.to_be_bytes());
    probe.extend(PROFILE.to_be_bytes());
    probe.extend([0; 2]);
    probe.resize(size.max(PROBE_HEADER), 0);
    probe
}

/// Whether an RTP packet is a probe.
pub(crate) fn is_probe(packet: &Packet<'_>) -> bool {
    packet.payload_type == PROBE_TYPE && packet.extension == Some((PROFILE, &[]))
}

#[cfg(test)]
mod tests {
    use mimosa_rtp::packet::Datagram;

    use super::*;

    #[test]
    fn what_is_ours_is_told_from_an_applications() {
        let report = [&head(7)[..], &[0x80, 201, 0, 1, 0, 0, 0, 9]].concat();
        assert_eq!(whose(&report), Some(7));
        assert_eq!(whose(&report[12..]), None);
        let mut other = report.clone();
        other[11] = b'Q';
        assert_eq!(whose(&other), None);
        for length in 0..12 {
            assert_eq!(whose(&report[..length]), None);
        }
        for (size, length) in [(0, 16), (16, 16), (500, 500)] {
            let bytes = probe(7, 65_535, size);
            assert_eq!(bytes.len(), length);
            let Ok(Datagram::Rtp(packet)) = Datagram::parse(&bytes) else {
                panic!("{bytes:?}");
            };
            assert!(is_probe(&packet));
            assert_eq!((packet.ssrc, packet.sequence), (7, 65_535));
            let mut other = bytes.clone();
            other[12] = b'N';
            let Ok(Datagram::Rtp(packet)) = Datagram::parse(&other) else {
                panic!("{other:?}");
            };
            assert!(!is_probe(&packet));
        }
    }
}
