//! A message of the channel `frames`, as bytes and as a type.

use mimosa_units::{Time, TimeDelta};

use crate::PageTime;
use crate::fields::{get, put};

const SHOWN: u8 = 32;
const DECODED: u8 = 33;
const CLOCK_ANSWER: u8 = 34;
const CLOCK_QUESTION: u8 = 48;

/// A message of the channel `frames`. An unknown or invalid time is `None`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FrameMessage {
    /// The page has displayed a frame (kind 32).
    Shown(Shown),
    /// The page has decoded a frame (kind 33).
    Decoded {
        /// RTP timestamp of the frame.
        timestamp: u32,
        /// When the frame was decoded.
        at: Option<PageTime>,
    },
    /// The page's answer about its clock (kind 34).
    ClockAnswer {
        /// When the host asked.
        host: Time,
        /// When the page answered.
        page: PageTime,
    },
    /// The host's question about the page's clock (kind 48).
    ClockQuestion {
        /// When the host asks.
        host: Time,
    },
}

/// What `requestVideoFrameCallback` says about a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown {
    /// RTP timestamp of the frame.
    pub timestamp: u32,
    /// When the frame's last packet arrived.
    pub received: Option<PageTime>,
    /// How long decoding took.
    pub decoding: Option<TimeDelta>,
    /// When the frame was handed to the compositor.
    pub presented: Option<PageTime>,
    /// When the frame is expected on the screen.
    pub expected: Option<PageTime>,
    /// Number of frames displayed so far.
    pub count: u32,
}

/// Why bytes are not a message of the channel `frames`. The mistake is the other side's.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FramesError {
    /// The message is empty, so that it has no kind.
    #[error("an empty message; byte 0 is its kind")]
    Empty,
    /// The kind is not one of this channel.
    #[error("a message of kind {kind} and {length} bytes; kinds 32, 33, 34 and 48 are known")]
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
    /// The time in a question or an answer is invalid.
    #[error("the number at byte {at} of a message of kind {kind} is not a time")]
    NoTime {
        /// Byte 0, the message's kind.
        kind: u8,
        /// Position of the number, in bytes.
        at: usize,
    },
}

impl FrameMessage {
    /// Parses a message of either side.
    ///
    /// # Errors
    ///
    /// [`FramesError`] for an unknown kind, a wrong length, or a question or answer with an invalid
    /// time.
    pub fn parse(message: &[u8]) -> Result<Self, FramesError> {
        let kind = *message.first().ok_or(FramesError::Empty)?;
        let length = message.len();
        let expected = length_of(kind).ok_or(FramesError::UnknownKind { kind, length })?;
        if length != expected {
            return Err(FramesError::Length {
                kind,
                length,
                expected,
            });
        }
        let time = |at| PageTime::from_le_bytes(get(message, at));
        let known = |at| time(at).ok_or(FramesError::NoTime { kind, at });
        let timestamp = u32::from_le_bytes(get(message, 4));
        Ok(match kind {
            SHOWN => Self::Shown(Shown {
                timestamp,
                received: time(8),
                decoding: time(16).map(PageTime::since_beginning),
                presented: time(24),
                expected: time(32),
                count: u32::from_le_bytes(get(message, 40)),
            }),
            DECODED => Self::Decoded {
                timestamp,
                at: time(8),
            },
            CLOCK_ANSWER => Self::ClockAnswer {
                host: host_time(known(8)?),
                page: known(16)?,
            },
            _ => Self::ClockQuestion {
                host: host_time(known(8)?),
            },
        })
    }

    /// The message as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let kind = self.kind();
        let mut bytes = vec![0; length_of(kind).unwrap_or(1)];
        put(&mut bytes, 0, [kind]);
        match *self {
            Self::Shown(shown) => {
                let decoding = shown.decoding.map_or(f64::NAN, TimeDelta::as_millis);
                put(&mut bytes, 4, shown.timestamp.to_le_bytes());
                put(&mut bytes, 8, PageTime::to_le_bytes(shown.received));
                put(&mut bytes, 16, decoding.to_le_bytes());
                put(&mut bytes, 24, PageTime::to_le_bytes(shown.presented));
                put(&mut bytes, 32, PageTime::to_le_bytes(shown.expected));
                put(&mut bytes, 40, shown.count.to_le_bytes());
            }
            Self::Decoded { timestamp, at } => {
                put(&mut bytes, 4, timestamp.to_le_bytes());
                put(&mut bytes, 8, PageTime::to_le_bytes(at));
            }
            Self::ClockAnswer { host, page } => {
                put(&mut bytes, 8, host_millis(host).to_le_bytes());
                put(&mut bytes, 16, PageTime::to_le_bytes(Some(page)));
            }
            Self::ClockQuestion { host } => {
                put(&mut bytes, 8, host_millis(host).to_le_bytes());
            }
        }
        bytes
    }

    const fn kind(&self) -> u8 {
        match self {
            Self::Shown(_) => SHOWN,
            Self::Decoded { .. } => DECODED,
            Self::ClockAnswer { .. } => CLOCK_ANSWER,
            Self::ClockQuestion { .. } => CLOCK_QUESTION,
        }
    }
}

/// Length of a message of this kind, in bytes; `None` for an unknown kind.
const fn length_of(kind: u8) -> Option<usize> {
    match kind {
        SHOWN => Some(44),
        DECODED | CLOCK_QUESTION => Some(16),
        CLOCK_ANSWER => Some(24),
        _ => None,
    }
}

fn host_millis(time: Time) -> f64 {
    time.since(Time::ZERO).as_millis()
}

/// The host's time from the number that the host sent and the page returned.
fn host_time(millis: PageTime) -> Time {
    Time::ZERO + millis.since_beginning()
}
