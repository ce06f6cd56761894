//! The settings of both ends.

use mimosa_facts::{Codec, Limits};
use mimosa_stream::EcnUse;
use mimosa_stream::pace::Policy;
use mimosa_units::{Bytes, Rate, TimeDelta};

/// How a bitrate is asked for by RTCP.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RateRequest {
    /// By TMMBR (RFC 5104, section 4.2.1).
    Tmmbr,
    /// By REMB (draft-alvestrand-rmcat-remb-03).
    Remb,
}

/// How a keyframe is asked for by RTCP.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum KeyframeRequest {
    /// By PLI (RFC 4585, section 6.3.1).
    Pli,
    /// By FIR (RFC 5104, section 4.3.1).
    Fir,
}

/// The settings of the end beside the application that sends.
#[derive(Clone, Debug, PartialEq)]
pub struct NearConfig {
    /// Bounds of the controller's target, and the target with which it begins.
    pub limits: Limits,
    /// The policy that picks the pacing.
    pub policy: Policy,
    /// How the ECN field of paced packets is chosen. Other packets are not ECN-capable, since
    /// nothing answers marks on them.
    pub ecn: EcnUse,
    /// Bytes around each datagram's contents that count as sent: 28 for IPv4 and UDP, 48 for IPv6.
    pub headers: Bytes,
    /// The video's codec, by which a keyframe is found among the packets; `None` if none is to be
    /// found.
    pub codec: Option<Codec>,
    /// Payload types of the streams that are paced; all others go ahead. Empty to tell them by size
    /// and rate.
    pub paced_types: Vec<u8>,
    /// Streams that begin with a smaller packet go ahead until their rate is known. Our choice:
    /// a packet of sound by Opus at 128 kbit/s and 20 ms has 320 bytes.
    pub small_packet: Bytes,
    /// A stream with less than this over a while goes ahead, unless it is the largest. Our choice:
    /// above what sound takes, below any video.
    pub small_rate: Rate,
    /// The longest wait for the rest of a frame: then what has come of it is handed on. Our choice:
    /// applications send a frame in one burst, which takes less on loopback.
    pub gather: TimeDelta,
    /// A frame may have this multiple of the controller's limit and still leaves whole. Our choice:
    /// encoders with a small buffer stay within a quarter of their mean.
    pub tolerance: f64,
    /// What leaves may be ahead of the target's pace by this share of a frame interval. Our choice.
    pub slack: f64,
    /// The frame interval until it has been measured.
    pub interval: TimeDelta,
    /// The longest wait in the queue. Beyond it, whole frames are dropped. Our choice: what a player
    /// of a game does not wait for.
    pub longest_wait: TimeDelta,
    /// The most bytes in the queue. Our choice: `longest_wait` at 160 Mbit/s.
    pub most_bytes: Bytes,
    /// The longest time in which packets are dropped because a keyframe is awaited. Our choice.
    pub keyframe_patience: TimeDelta,
    /// The shortest time between packets; closer ones leave in groups. 500 us, as the host's
    /// setting `shortest_gap`.
    pub shortest_gap: TimeDelta,
    /// How the application is told its bitrate.
    pub voice: VoiceConfig,
}

impl NearConfig {
    /// Settings with defaults for all but the controller's limits.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            policy: Policy::Controller,
            ecn: EcnUse::Auto(mimosa_stream::EcnConfig::default()),
            headers: Bytes::new(28),
            codec: None,
            paced_types: Vec::new(),
            small_packet: Bytes::new(500),
            small_rate: Rate::from_kbps(300),
            gather: TimeDelta::from_millis(1),
            tolerance: 1.25,
            slack: 0.5,
            interval: TimeDelta::from_micros(16_667),
            longest_wait: TimeDelta::from_millis(200),
            most_bytes: Bytes::new(4_000_000),
            keyframe_patience: TimeDelta::from_millis(1_000),
            shortest_gap: TimeDelta::from_micros(500),
            voice: VoiceConfig::default(),
        }
    }
}

/// When the application is told what. All values are our choice, unless a source is named.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VoiceConfig {
    /// The share of the controller's target that the application is told: an encoder's frames vary
    /// around their mean.
    pub headroom: f64,
    /// The time in which what waits is to be gone: so much less is told. Three times what an
    /// application takes to obey, so that the two do not swing.
    pub drain: TimeDelta,
    /// Time constant with which a falling target is smoothed.
    pub fall: TimeDelta,
    /// Time constant with which a rising target is smoothed.
    pub rise: TimeDelta,
    /// A target below this share of what was told is told without smoothing.
    pub sudden: f64,
    /// The least change downwards that is told, as a share.
    pub least_fall: f64,
    /// The least change upwards that is told, as a share.
    pub least_rise: f64,
    /// The shortest time from one message to a lower rate: several frames, and half of what an
    /// encoder takes to obey.
    pub fall_after: TimeDelta,
    /// The shortest time from one message to a higher rate.
    pub rise_after: TimeDelta,
    /// The time that an application takes to obey. What it sends earlier says nothing about how
    /// well it obeys.
    pub obeys_within: TimeDelta,
    /// The most by which the bitrate told is divided because the application sends more than it is
    /// told.
    pub most_correction: f64,
    /// The shortest time between two requests for a keyframe.
    pub keyframe_after: TimeDelta,
    /// Whether a lost packet is answered by a request for a keyframe (section III-A.3 of the study),
    /// unless the receiving application itself asks for packets or keyframes.
    pub keyframe_on_loss: bool,
    /// How the bitrate is asked for by RTCP; `None` for not at all.
    pub rate_request: Option<RateRequest>,
    /// How a keyframe is asked for by RTCP; `None` for not at all.
    pub keyframe_request: Option<KeyframeRequest>,
    /// After this time a bitrate is asked for by RTCP once more.
    pub repeat: TimeDelta,
}

impl Default for VoiceConfig {
    fn default() -> Self {
        Self {
            headroom: 0.95,
            drain: TimeDelta::from_millis(1_000),
            fall: TimeDelta::from_millis(50),
            rise: TimeDelta::from_millis(200),
            sudden: 0.7,
            least_fall: 0.03,
            least_rise: 0.05,
            fall_after: TimeDelta::from_millis(100),
            rise_after: TimeDelta::from_millis(300),
            obeys_within: TimeDelta::from_millis(300),
            most_correction: 2.0,
            keyframe_after: TimeDelta::from_millis(500),
            keyframe_on_loss: true,
            rate_request: None,
            keyframe_request: None,
            repeat: TimeDelta::from_millis(1_000),
        }
    }
}

/// The settings of the end beside the application that receives.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FarConfig {
    /// The longest time that an arrival waits for a report. Our choice: a frame whose last packet
    /// has no marker is known soon enough for the next one.
    pub longest_wait: TimeDelta,
    /// The shortest time between reports. Our choice: the reports' times have a resolution of
    /// 1/1024 s.
    pub shortest_gap: TimeDelta,
    /// Number of earlier reports whose packets each report repeats: so many reports may be lost in
    /// a row. Two, as the native client's.
    pub repeats: usize,
}

impl Default for FarConfig {
    fn default() -> Self {
        Self {
            longest_wait: TimeDelta::from_millis(4),
            shortest_gap: TimeDelta::from_millis(1),
            repeats: 2,
        }
    }
}
