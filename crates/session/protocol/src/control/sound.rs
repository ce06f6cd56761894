//! What host and page tell each other about sound.

use serde::{Deserialize, Serialize};

use super::{BitsPerSecond, Millis};

/// The time on the host's clock for which an RTP timestamp stands. From the clocks of both streams,
/// a receiver computes the skew between sound and picture.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct RtpClock {
    /// An RTP timestamp: in 1/90000 s for pictures, in 1/48000 s for sound. It wraps.
    pub rtp: u32,
    /// When the picture or the sample with that timestamp was captured, on the host's clock.
    pub time: Millis,
}

/// The sound as the host sends it.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Sound {
    /// The clock of the newest packet.
    pub clock: RtpClock,
    /// Bitrate of the sound on the wire, headers included.
    pub bitrate: Option<BitsPerSecond>,
    /// Number of earlier frames that each packet repeats.
    pub redundancy: u32,
}

/// A page's or browser's counts about sound. What is not known is `None`.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct ClientSound {
    /// Packets lost, whether or not other packets repeated their frames.
    pub packets_lost: Option<i64>,
    /// Samples played.
    pub samples: Option<u64>,
    /// Samples among those played that were made up because none had come.
    pub concealed: Option<u64>,
    /// Number of times that samples were made up.
    pub gaps: Option<u64>,
    /// Samples inserted because others were late.
    pub stretched: Option<u64>,
    /// Mean time that a sample waited before it was played.
    pub jitter_buffer: Option<Millis>,
    /// Time from there until the sample is heard.
    pub playout: Option<Millis>,
    /// How much later sound is heard than the picture of the same moment is seen.
    pub skew: Option<Millis>,
}
