//! Web pages that a browser of a run loaded.

use mimosa_units::{Bytes, Time};

/// A web page that was loaded whole.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PageLoad {
    /// When its first connections were opened.
    pub began: Time,
    /// When the server knew that the last byte had arrived.
    pub loaded: Time,
    /// Payload of all its objects.
    pub size: Bytes,
}
