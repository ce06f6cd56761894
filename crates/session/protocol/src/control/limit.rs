//! The most that a page's person wants a stream to take.

use serde::{Deserialize, Serialize};

use super::BitsPerSecond;

/// The most that a stream may take, for the sake of who pays for the data.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Limit {
    /// Bitrate of picture and sound with their headers, in bit/s; `None` for no limit but the host's.
    pub bitrate: Option<BitsPerSecond>,
}
