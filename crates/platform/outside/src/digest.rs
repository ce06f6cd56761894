//! A hash by which changed code is noticed.

/// The hash FNV-1a with 64 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digest(u64);

impl Digest {
    /// The hash of nothing.
    pub(crate) const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Adds bytes, and a mark of their end.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        for byte in bytes.iter().copied().chain([0]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// The hash.
    pub(crate) const fn value(self) -> u64 {
        self.0
    }
}
