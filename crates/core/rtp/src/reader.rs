//! Reads bytes one field after another.

/// The bytes of a message that have not been read yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The next `N` bytes, for `from_be_bytes` or `from_le_bytes`. `None`, and
    /// nothing is taken, when there are fewer.
    pub(crate) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, left) = self.0.split_first_chunk::<N>()?;
        self.0 = left;
        Some(*taken)
    }

    /// How many bytes are left.
    pub(crate) const fn left(&self) -> usize {
        self.0.len()
    }
}
