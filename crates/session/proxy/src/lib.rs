//! Congestion control around an RTP application that has none, by a proxy on each side of a path.
//!
//! *Source:* Graff et al., "Improving Cloud Gaming traffic `QoS`: a comparison between class-based
//! queuing policy and L4S", section III-A.3. The proxy there runs `SCReAM` beside server and client: it
//! paces and marks the server's packets, measures with RTCP between its two ends, and tells the server
//! a bitrate and when to send a keyframe.
//!
//! *Deviations.* Any controller takes the place of `SCReAM`. Reports are those of RFC 8888 on the
//! application's own RTP numbers. What a controller calls a frame is what the proxy lets go at
//! once: an application does not obey the limit of each frame, so the proxy does it in its place.
//!
//! ```text
//!  application ──RTP──► Near ──paced, marked──► network ──► Far ──RTP──► application
//!       ▲                │ ▲                                 │                │
//!       └─bitrate, PLI───┘ └──────── RFC 8888 ◄──────────────┘                │
//!       ◄──────────────────── RTCP, as it is ◄────────────────────────────────┘
//! ```
//!
//! [`Near`] is beside the application that sends, [`Far`] beside the one that receives. Both are
//! state machines without clocks and sockets: times and datagrams go in, and datagrams and
//! messages come out. RTP packets pass with the bytes that they have: nothing is added to them.

mod config;
mod envelope;
mod far;
mod key;
mod near;
mod queue;
mod release;
mod statistics;
mod streams;
mod voice;

pub use config::{FarConfig, KeyframeRequest, NearConfig, RateRequest, VoiceConfig};
pub use far::Far;
pub use key::Key;
pub use mimosa_stream::EcnState;
pub use near::{Departure, Maker, Near};
pub use statistics::{FarStatistics, Statistics, StreamStatistics};
pub use voice::{AppLimits, Told};

/// Says where a datagram goes that an end of the proxy was given.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Pass {
    /// The datagram is RTP: it goes on at once, as it is.
    Rtp,
    /// The datagram is RTCP: it goes on at once, as it is.
    Rtcp,
    /// The end has taken the datagram.
    Taken,
    /// The datagram goes nowhere: it is neither RTP nor RTCP, or a copy of an earlier one.
    Refused,
    /// The datagram goes nowhere: it is a report that is not signed with the key, or is signed where there is none.
    Unsigned,
}
