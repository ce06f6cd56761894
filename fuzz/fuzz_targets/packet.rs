//! IP packets from arbitrary bytes: nothing panics, and a mark changes the ECN field
//! alone and keeps the checksum as right or wrong as it was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mimosa_net::{IpPacket, Packet};
use mimosa_units::Ecn;

fuzz_target!(|bytes: &[u8]| {
    let Ok(mut packet) = IpPacket::parse(bytes.to_vec()) else {
        return;
    };
    assert_eq!(packet.bytes(), bytes);
    let header = packet.header();
    let before = sum(bytes);
    packet.mark();
    let after = sum(packet.bytes());
    let again = IpPacket::parse(packet.bytes().to_vec());
    assert!(again.is_ok_and(|again| again.ecn() == Ecn::Ce && again.header() == header));
    if bytes[0] >> 4 == 4 {
        // Zero has two forms.
        assert_eq!(before % 0xffff, after % 0xffff);
    }
});

/// Ones' complement sum of the first twenty bytes.
fn sum(bytes: &[u8]) -> u64 {
    let words = bytes.chunks_exact(2).take(10);
    words
        .map(|word| u64::from(word[0]) << 8 | u64::from(word[1]))
        .sum()
}
