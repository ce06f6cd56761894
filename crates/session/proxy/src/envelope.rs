//! What the two ends send each other besides the application's packets.
//!
//! A *report* is a compound of RTCP that begins with an application-defined packet (RFC 3550,
//! section 6.7) called `MIMP`; reports of RFC 8888 follow. The name tells them from reports that the
//! applications send each other. The SSRC of all of them names one run of the far end. Its subtype says what it has:
//!
//! | subtype | sent by | contents after SSRC and name |
//! |---|---|---|
//! | 0 | far | nothing: a report without a code |
//! | 1 | far | number (8 bytes) and code (16) of a report ([`key`](crate::key)) |
//! | 2 | near | nonce (16), number (8) and code (16): a greeting, which is alone in its datagram |
//!
//! A *probe* is an RTP packet without contents of an application, on an SSRC of its own. A header
//! extension of the profile `MP` without contents tells it from an application's packets.

use mimosa_rtp::packet::Packet;
use mimosa_rtp::rtcp;

use crate::key::{CODE, Code, Key, Nonce, is_same_code};

/// RTCP payload type of an application-defined packet.
const APPLICATION: u8 = 204;
const NAME: [u8; 4] = *b"MIMP";
/// Version 2 and no padding, as the first byte of an RTCP packet has them (RFC 3550, section 6.7); its lower five bits
/// are the subtype.
const FIRST: u8 = 0x80;
const SIGNED: u8 = 1;
const GREETING: u8 = 2;
/// Bytes up to the code, and of the whole packet, that begins a signed report.
const BEFORE_CODE: usize = 20;
const SIGNED_HEAD: usize = BEFORE_CODE + CODE;
/// The header extension's profile.
const PROFILE: u16 = u16::from_be_bytes(*b"MP");
/// Payload type of a probe: the last of the dynamic ones (RFC 3551, section 3).
const PROBE_TYPE: u8 = 127;
/// Bytes of a probe without filling.
const PROBE_HEADER: usize = 16;

/// What a compound is that one of the ends has sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Ours {
    /// A report of the far end `far`.
    Report { far: u32 },
    /// A report of the far end `far` with a number and a code.
    Signed { far: u32, number: u64, code: Code },
    /// A greeting of a near end.
    Greeting {
        nonce: Nonce,
        number: u64,
        code: Code,
    },
    /// Something of another version of these programs.
    Unknown,
}

/// An application-defined packet of this subtype, with contents whose length is a multiple of four.
fn packet(subtype: u8, ssrc: u32, contents: &[u8]) -> Vec<u8> {
    let words = u16::try_from(2 + contents.len() / 4).unwrap_or(u16::MAX);
    let mut packet = Vec::with_capacity(12 + contents.len());
    packet.extend([FIRST | subtype, APPLICATION]);
    packet.extend(words.to_be_bytes());
    packet.extend(ssrc.to_be_bytes());
    packet.extend(NAME);
    packet.extend(contents);
    packet
}

/// The packet that begins a report of the far end `ssrc`, with room for number and code if it will be signed.
pub(crate) fn head(ssrc: u32, is_signed: bool) -> Vec<u8> {
    if is_signed {
        packet(SIGNED, ssrc, &[0; 8 + CODE])
    } else {
        packet(0, ssrc, &[])
    }
}

/// Gives a report that begins with room for them its number and its code.
pub(crate) fn sign(report: &mut [u8], key: &Key, nonce: &Nonce, number: u64) {
    let Some((head, rest)) = report.split_at_mut_checked(SIGNED_HEAD) else {
        return;
    };
    head[12..BEFORE_CODE].copy_from_slice(&number.to_be_bytes());
    let code = key.report(nonce, &head[..BEFORE_CODE], rest);
    head[BEFORE_CODE..].copy_from_slice(&code);
}

/// Whether a report's code is that of the key, for the near end with this nonce.
pub(crate) fn is_signed(report: &[u8], code: &Code, key: &Key, nonce: &Nonce) -> bool {
    report
        .split_at_checked(SIGNED_HEAD)
        .is_some_and(|(head, rest)| {
            is_same_code(code, &key.report(nonce, &head[..BEFORE_CODE], rest))
        })
}

/// A greeting of the near end `ssrc`.
pub(crate) fn greeting(ssrc: u32, key: &Key, nonce: &Nonce, number: u64) -> Vec<u8> {
    let mut contents = [0; 24 + CODE];
    contents[..16].copy_from_slice(nonce);
    contents[16..24].copy_from_slice(&number.to_be_bytes());
    let mut greeting = packet(GREETING, ssrc, &contents);
    let before = greeting.len() - CODE;
    let code = key.greeting(&greeting[..before]);
    greeting[before..].copy_from_slice(&code);
    greeting
}

/// Whether a greeting's code is that of the key.
pub(crate) fn is_greeting(datagram: &[u8], code: &Code, key: &Key) -> bool {
    datagram
        .split_last_chunk::<CODE>()
        .is_some_and(|(before, _)| is_same_code(code, &key.greeting(before)))
}

/// What this compound is, if one of the ends has sent it; `None` for an application's.
pub(crate) fn ours(compound: &[u8]) -> Option<Ours> {
    let first = rtcp::packets(compound).next()?.ok()?;
    let (ssrc, rest) = first.contents.split_first_chunk()?;
    let (name, rest) = rest.split_first_chunk::<4>()?;
    if first.payload_type != APPLICATION || *name != NAME {
        return None;
    }
    let far = u32::from_be_bytes(*ssrc);
    Some(known(first.format, far, rest).unwrap_or(Ours::Unknown))
}

fn known(subtype: u8, far: u32, contents: &[u8]) -> Option<Ours> {
    match subtype {
        0 if contents.is_empty() => Some(Ours::Report { far }),
        SIGNED => {
            let (number, code) = contents.split_first_chunk()?;
            Some(Ours::Signed {
                far,
                number: u64::from_be_bytes(*number),
                code: code.try_into().ok()?,
            })
        }
        GREETING => {
            let (nonce, rest) = contents.split_first_chunk()?;
            let (number, code) = rest.split_first_chunk()?;
            Some(Ours::Greeting {
                nonce: *nonce,
                number: u64::from_be_bytes(*number),
                code: code.try_into().ok()?,
            })
        }
        _ => None,
    }
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
        let rest = [0x80, 201, 0, 1, 0, 0, 0, 9];
        let report = [&head(7, false)[..], &rest].concat();
        assert_eq!(report[..12], *b"\x80\xcc\0\x02\0\0\0\x07MIMP");
        assert_eq!(ours(&report), Some(Ours::Report { far: 7 }));
        assert_eq!(ours(&report[12..]), None);
        let mut other = report.clone();
        other[11] = b'Q';
        assert_eq!(ours(&other), None);
        let mut other = report.clone();
        other[0] |= 7;
        assert_eq!(ours(&other), Some(Ours::Unknown), "of another version");
        for length in 0..12 {
            assert_eq!(ours(&report[..length]), None);
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

    #[test]
    fn a_code_is_of_the_key_the_nonce_and_each_byte() {
        let [key, another] =
            ["a key of the two", "a key of another"].map(|text| Key::new(text).unwrap());
        assert!(Key::new("fifteen bytes..").is_none());
        let nonce = [3; 16];
        let rest = [0x80, 201, 0, 1, 0, 0, 0, 9];
        let mut report = [&head(7, true)[..], &rest].concat();
        sign(&mut report, &key, &nonce, 5);
        let good = |report: &[u8], key: &Key, nonce: &Nonce| match ours(report) {
            Some(Ours::Signed {
                far: 7,
                number: 5,
                code,
            }) => is_signed(report, &code, key, nonce),
            _ => false,
        };
        assert!(good(&report, &key, &nonce));
        assert!(!good(&report, &another, &nonce) && !good(&report, &key, &[4; 16]));
        let mut greeted = greeting(7, &key, &nonce, 5);
        let is_good = |greeting: &[u8], key: &Key| match ours(greeting) {
            Some(Ours::Greeting {
                nonce: [3, ..],
                number: 5,
                code,
            }) => is_greeting(greeting, &code, key),
            _ => false,
        };
        assert!(is_good(&greeted, &key) && !is_good(&greeted, &another));
        for byte in 0..report.len() {
            report[byte] ^= 1;
            assert!(!good(&report, &key, &nonce), "byte {byte}");
            report[byte] ^= 1;
        }
        for byte in 0..greeted.len() {
            greeted[byte] ^= 1;
            assert!(!is_good(&greeted, &key), "byte {byte}");
            greeted[byte] ^= 1;
        }
    }
}
