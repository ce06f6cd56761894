//! What can be wrong with an input message.

/// Why bytes are not an input message. The mistake is the page's.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// The message is empty, so that it has no kind.
    #[error("an empty message; byte 0 is its kind")]
    Empty,
    /// The kind is not one of input.
    #[error("a message of kind {kind} and {length} bytes; input is of kinds 1, 2 and 16 to 20")]
    UnknownKind {
        /// Byte 0, the message's kind.
        kind: u8,
        /// Length of the message in bytes.
        length: usize,
    },
    /// The message is too short or too long.
    #[error("a message of kind {kind} has {length} bytes; {expected} are expected")]
    Length {
        /// Byte 0, the message's kind.
        kind: u8,
        /// Length of the message in bytes.
        length: usize,
        /// Length that the kind requires, in bytes.
        expected: usize,
    },
    /// A field has a value without meaning.
    #[error("byte {at} of a message of kind {kind} is {value}; {expected}")]
    Value {
        /// Byte 0, the message's kind.
        kind: u8,
        /// Position of the byte.
        at: usize,
        /// Value of the byte.
        value: u8,
        /// Which values are valid.
        expected: &'static str,
    },
}
