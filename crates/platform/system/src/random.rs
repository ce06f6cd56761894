//! The operating system's randomness.

use rustix::rand::{GetRandomFlags, getrandom};

/// 32 random bits.
#[must_use]
pub fn bits_32() -> u32 {
    u32::from_ne_bytes(bytes())
}

/// 128 random bits.
#[must_use]
pub fn bits_128() -> u128 {
    u128::from_ne_bytes(bytes())
}

/// Random bytes, at most 256. After startup, Linux returns up to 256 at once; an interrupted call is repeated.
#[must_use]
pub fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    while getrandom(&mut bytes, GetRandomFlags::empty()) != Ok(N) {}
    bytes
}
