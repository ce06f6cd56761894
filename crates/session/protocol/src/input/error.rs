//! What can be wrong with a message.

/// Why bytes are no input. The page is to blame.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// A message without its kind.
    #[error("an empty message; byte 0 is its kind")]
    Empty,
    /// A kind that is no input.
    #[error("a message of kind {kind} and {length} bytes; input is of kinds 1, 2 and 16 to 20")]
    UnknownKind {
        /// Byte 0.
        kind: u8,
        /// Bytes in all.
        length: usize,
    },
    /// Too short or too long.
    #[error("a message of kind {kind} has {length} bytes; {expected} are expected")]
    Length {
        /// Byte 0.
        kind: u8,
        /// Bytes in all.
        length: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A byte that means nothing.
    #[error("byte {at} of a message of kind {kind} is {value}; {expected}")]
    Value {
        /// Byte 0.
        kind: u8,
        /// Which byte.
        at: usize,
        /// What it is.
        value: u8,
        /// What it may be.
        expected: &'static str,
    },
}
