//! What a receiver asks of an encoder: a keyframe, or at most a bitrate.
//!
//! | message | source |
//! |---|---|
//! | PLI, a picture was lost | RFC 4585, section 6.3.1 |
//! | FIR, a keyframe is needed | RFC 5104, section 4.3.1 |
//! | TMMBR, at most this bitrate | RFC 5104, section 4.2.1 |
//! | REMB, at most this bitrate | draft-alvestrand-rmcat-remb-03, section 2.2 |
//!
//! Each message is a compound that begins with an empty receiver report, as RFC 3550, section 6.1,
//! wants: not every application takes feedback alone (RFC 5506).

use mimosa_units::{Bytes, Rate};

use crate::rtcp::{self, Packet, TRANSPORT_FEEDBACK};

/// RTCP payload type of a receiver report (RFC 3550, section 6.4.2).
const RECEIVER_REPORT: u8 = 201;
/// RTCP payload type of payload-specific feedback (RFC 4585, section 6.1).
const PAYLOAD_FEEDBACK: u8 = 206;
/// Format of a PLI in payload-specific feedback.
const PLI: u8 = 1;
/// Format of a FIR in payload-specific feedback.
const FIR: u8 = 4;
/// Format of a TMMBR in transport-layer feedback.
const TMMBR: u8 = 3;
/// Format of application-layer feedback, of which REMB is one.
const APPLICATION: u8 = 15;
/// Bits of the mantissa of a bitrate.
const TMMBR_MANTISSA: u32 = 17;
const REMB_MANTISSA: u32 = 18;
/// The largest overhead that a TMMBR can name, in bytes: nine bits.
const MOST_OVERHEAD: u64 = 511;

/// Whether an RTCP packet asks for a keyframe: a PLI or a FIR.
#[must_use]
pub const fn asks_for_keyframe(packet: &Packet<'_>) -> bool {
    packet.payload_type == PAYLOAD_FEEDBACK && matches!(packet.format, PLI | FIR)
}

/// Says that a picture of the stream `media` was lost.
#[must_use]
pub fn picture_lost(from: u32, media: u32) -> Vec<u8> {
    compound(from, PAYLOAD_FEEDBACK, PLI, &words([from, media]))
}

/// Asks for a keyframe of the stream `media`. `number` counts requests; a repeated request has the
/// number of the first.
#[must_use]
pub fn keyframe_needed(from: u32, media: u32, number: u8) -> Vec<u8> {
    let entry = [&words([media])[..], &[number, 0, 0, 0]].concat();
    let contents = [words([from, 0]), entry].concat();
    compound(from, PAYLOAD_FEEDBACK, FIR, &contents)
}

/// Asks the stream `media` to take at most `rate`, headers of `overhead` on each packet included.
/// The rate is rounded down to 17 significant bits.
#[must_use]
pub fn at_most(from: u32, media: u32, rate: Rate, overhead: Bytes) -> Vec<u8> {
    let (exponent, mantissa) = split(rate, TMMBR_MANTISSA);
    let overhead = u32::try_from(overhead.get().min(MOST_OVERHEAD)).unwrap_or(0);
    let value = exponent << 26 | mantissa << 9 | overhead;
    let contents = words([from, 0, media, value]);
    compound(from, TRANSPORT_FEEDBACK, TMMBR, &contents)
}

/// Says that the stream `media` may take `rate` by the receiver's estimate. The rate is rounded
/// down to 18 significant bits.
#[must_use]
pub fn estimated(from: u32, media: u32, rate: Rate) -> Vec<u8> {
    let (exponent, mantissa) = split(rate, REMB_MANTISSA);
    // One SSRC follows.
    let value = 1 << 24 | exponent << 18 | mantissa;
    let name = u32::from_be_bytes(*b"REMB");
    let contents = words([from, 0, name, value, media]);
    compound(from, PAYLOAD_FEEDBACK, APPLICATION, &contents)
}

/// A rate in bits per second as an exponent of two, of six bits, and a mantissa of `bits` bits.
fn split(rate: Rate, bits: u32) -> (u32, u32) {
    let rate = rate.as_bps();
    let exponent = (u64::BITS - rate.leading_zeros()).saturating_sub(bits);
    let mantissa = u32::try_from(rate >> exponent).unwrap_or(u32::MAX);
    (exponent, mantissa)
}

fn words<const N: usize>(all: [u32; N]) -> Vec<u8> {
    all.into_iter().flat_map(u32::to_be_bytes).collect()
}

fn compound(from: u32, payload_type: u8, format: u8, contents: &[u8]) -> Vec<u8> {
    let mut compound = rtcp::write(RECEIVER_REPORT, 0, &from.to_be_bytes());
    compound.extend(rtcp::write(payload_type, format, contents));
    compound
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The packet behind the receiver report: payload type, format, contents.
    fn second(compound: &[u8]) -> (u8, u8, Vec<u8>) {
        let packets: Vec<_> = rtcp::packets(compound).map(Result::unwrap).collect();
        assert_eq!((packets.len(), packets[0].payload_type), (2, 201));
        let packet = packets[1];
        let asks = asks_for_keyframe(&packet);
        assert_eq!(asks, packet.payload_type == 206 && packet.format != 15);
        (packet.payload_type, packet.format, packet.contents.to_vec())
    }

    #[test]
    fn messages_are_as_their_sources_say() {
        let lost = second(&picture_lost(1, 2));
        assert_eq!(lost, (206, 1, vec![0, 0, 0, 1, 0, 0, 0, 2]));
        let needed = second(&keyframe_needed(1, 2, 7));
        let contents = [[0, 0, 0, 1], [0; 4], [0, 0, 0, 2], [7, 0, 0, 0]].concat();
        assert_eq!(needed, (206, 4, contents));
        let estimate = second(&estimated(1, 2, Rate::from_bps(1 << 20 | 3)));
        // 2^20 with 18 bits: an exponent of 3, a mantissa of 2^17.
        let value = 1 << 24 | 3 << 18 | 1 << 17_u32;
        let contents = [words([1, 0]), b"REMB".to_vec(), words([value, 2])].concat();
        assert_eq!(estimate, (206, 15, contents));
    }

    #[test]
    fn a_bitrate_is_rounded_down() {
        for (bps, exponent, mantissa) in [
            (0, 0, 0),
            (131_071, 0, 131_071),
            (131_073, 1, 65_536),
            (20_000_000, 8, 78_125),
            (u64::MAX, 47, 131_071),
        ] {
            assert_eq!(split(Rate::from_bps(bps), 17), (exponent, mantissa));
            let most = second(&at_most(1, 2, Rate::from_bps(bps), Bytes::new(600)));
            let value = exponent << 26 | mantissa << 9 | 511;
            assert_eq!(most, (205, 3, words([1, 0, 2, value])));
        }
    }
}
