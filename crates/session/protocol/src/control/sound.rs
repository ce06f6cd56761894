//! What host and page tell each other of the sound.

use serde::{Deserialize, Serialize};

use super::{BitsPerSecond, Millis};

/// Ties a stream's RTP times to the host's clock, on which the other stream's are as
/// well: what they have in common says how far apart the two are heard and seen.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct RtpClock {
    /// An RTP time: 90000 in a second for pictures, 48000 for sound; it wraps.
    pub rtp: u32,
    /// When what it stands for was captured, on the host's clock.
    pub time: Millis,
}

/// The sound as it is sent.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Sound {
    /// The newest packet's.
    pub clock: RtpClock,
    /// What is sent, headers included.
    pub bitrate: Option<BitsPerSecond>,
    /// Earlier frames in each packet.
    pub redundancy: u32,
}

/// The sound as a page or its browser counts it. What is not known is `None`.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct ClientSound {
    /// Packets lost, whether or not others made up for them.
    pub packets_lost: Option<i64>,
    /// Samples played.
    pub samples: Option<u64>,
    /// Of these, made up because nothing was there to play.
    pub concealed: Option<u64>,
    /// Times that samples were made up.
    pub gaps: Option<u64>,
    /// Samples put in where others were late.
    pub stretched: Option<u64>,
    /// How long a sample waited before it was played, on average.
    pub jitter_buffer: Option<Millis>,
    /// How long it then takes to the loudspeaker.
    pub playout: Option<Millis>,
    /// By how much later sound is heard than the picture of the same time is seen.
    pub skew: Option<Millis>,
}
