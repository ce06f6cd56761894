//! The counts of a page's browser.

use serde::{Deserialize, Serialize};

use super::{ClientSound, Millis};

/// A browser's counts since the session's start, from `getStats()`. A field that the browser does
/// not report is `None`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Client {
    /// Frames whose packets have all arrived.
    pub received: Option<u64>,
    /// Frames decoded.
    pub decoded: Option<u64>,
    /// Frames dropped instead of decoded or displayed.
    pub dropped: Option<u64>,
    /// Number of times that the picture stood still.
    pub freezes: Option<u64>,
    /// Total time for which the picture stood still.
    pub freeze_duration: Option<Millis>,
    /// Packets lost, less packets that came twice, so that the number may be negative (RFC 3550,
    /// section 6.4.1).
    pub packets_lost: Option<i64>,
    /// Name of the decoder.
    pub decoder: Option<String>,
    /// Mean time that a frame waited before it was decoded.
    pub jitter_buffer: Option<Millis>,
    /// The browser's counts about sound; `None` without sound.
    #[serde(default)]
    pub sound: Option<ClientSound>,
    /// Whether the page is hidden.
    #[serde(default)]
    pub hidden: bool,
}
