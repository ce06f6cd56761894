//! RTCP packets enclosed in an application's feedback (RFC 4585, section 6.4): this carries packets
//! that a WebRTC library does not know in one that it does.
//!
//! The packet is payload-specific feedback of format 15. Its contents are the SSRCs of its sender
//! and of the stream it is about, the name `MIMO`, and a compound of RTCP packets.

use crate::rtcp::Packet;

/// RTCP payload type of payload-specific feedback (RFC 4585, section 6.1).
const PAYLOAD_FEEDBACK: u8 = 206;
/// Format number of an application's feedback (RFC 4585, section 6.4).
const APPLICATION: u8 = 15;
/// Bytes of the two SSRCs.
const NAMES: usize = 8;
/// The name that distinguishes these contents from other applications'.
const NAME: &[u8; 4] = b"MIMO";

/// The contents of a feedback packet behind the SSRCs, with `compound` in them.
#[must_use]
pub fn write(compound: &[u8]) -> Vec<u8> {
    [NAME, compound].concat()
}

/// The compound enclosed in a packet, if there is one.
#[must_use]
pub fn compound<'a>(packet: &Packet<'a>) -> Option<&'a [u8]> {
    let is_application = packet.payload_type == PAYLOAD_FEEDBACK && packet.format == APPLICATION;
    let contents = packet.contents.get(NAMES..).filter(|_| is_application)?;
    contents.strip_prefix(NAME)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtcp::packets;

    #[test]
    fn a_compound_comes_out_as_it_went_in() {
        let inner = [0x80, 201, 0, 1, 0, 0, 0, 9];
        let names = [0, 0, 0, 1, 0, 0, 0, 2];
        let header = [0x8f, 206, 0, 5];
        let outer = [&header[..], &names, &write(&inner)].concat();
        let read = |bytes: &[u8]| {
            let packet = packets(bytes).next().unwrap().unwrap();
            compound(&packet).map(<[u8]>::to_vec)
        };
        assert_eq!(read(&outer), Some(inner.to_vec()));
        for (place, byte) in [(0, 0x81), (1, 205), (12, b'R')] {
            let mut other = outer.clone();
            other[place] = byte;
            assert_eq!(read(&other), None, "byte {place}");
        }
        assert_eq!(read(&[0x8f, 206, 0, 1, 0, 0, 0, 1]), None, "too short");
    }
}
