//! The system's randomness.

use std::fmt::Write as _;

use rustix::rand::{GetRandomFlags, getrandom};

/// 32 random bits.
pub(crate) fn random_u32() -> u32 {
    u32::from_ne_bytes(bytes())
}

/// 128 random bits in hexadecimal.
pub(crate) fn hex_128() -> String {
    bytes::<16>().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Random bytes. Linux gives up to 256 at once, once it has been up for a moment;
/// an interrupted call is made again.
fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    while getrandom(&mut bytes, GetRandomFlags::empty()) != Ok(N) {}
    bytes
}
