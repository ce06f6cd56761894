//! What a page's browser counts.

use serde::{Deserialize, Serialize};

use super::{ClientSound, Millis};

/// From `getStats()`. What the browser does not say is `None`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Client {
    /// Frames whose packets have all arrived.
    pub received: Option<u64>,
    /// Frames decoded.
    pub decoded: Option<u64>,
    /// Frames dropped instead of decoded or shown.
    pub dropped: Option<u64>,
    /// Times that the picture stood still.
    pub freezes: Option<u64>,
    /// For how long in all.
    pub freeze_duration: Option<Millis>,
    /// Packets lost, less those that came twice: may be below zero (RFC 3550,
    /// section 6.4.1).
    pub packets_lost: Option<i64>,
    /// Name of the decoder.
    pub decoder: Option<String>,
    /// How long a frame waited before it was decoded, on average.
    pub jitter_buffer: Option<Millis>,
    /// What it says of the sound; `None` without.
    #[serde(default)]
    pub sound: Option<ClientSound>,
    /// Nobody sees the page.
    #[serde(default)]
    pub hidden: bool,
}
