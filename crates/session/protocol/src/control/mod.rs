//! The messages of the channel `control`: JSON objects with a `type`. Unknown types and fields are
//! ignored.

mod client;
mod clipboard;
mod limit;
mod line;
mod quantity;
mod sound;
mod statistics;

use mimosa_units::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use client::Client;
pub use clipboard::Clipboard;
pub use limit::Limit;
pub use line::{LineBuffer, LineReport};
pub use quantity::{BitsPerSecond, Millis};
pub use sound::{ClientSound, RtpClock, Sound};
pub use statistics::{Decided, Delay, Frames, Pacing, Point, Stages, Statistics, Trouble};

/// Largest message that is read. Only text for the clipboard takes more than 2 KiB, and the data
/// channels of every browser carry this much (RFC 8841, section 6.1).
pub const LARGEST: Bytes = Bytes::new(64 * 1024);

/// A message from the host to a page.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum ToPage {
    /// The session's properties, once at the start.
    Hello(Hello),
    /// The session's statistics, four times a second.
    Statistics(Box<Statistics>),
    /// Something that the person should know, or the end of the session.
    Notice(Notice),
    /// A request to reconnect, because the agreed feedback does not come.
    Feedback(FeedbackChange),
    /// Text that a program has copied.
    Clipboard(Clipboard),
    /// The result of a test of the line.
    Line(Box<LineReport>),
    /// Further addresses of the host.
    Candidates(Candidates),
    /// A message of an unknown type.
    #[serde(other)]
    Unknown,
}

/// A message from a page to the host.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum FromPage {
    /// The browser's counts, once a second.
    Client(Box<Client>),
    /// Text that the player has copied.
    Clipboard(Clipboard),
    /// A request for a test of the line, which takes a few seconds without pictures.
    #[serde(rename = "test-line")]
    TestLine,
    /// The most that the stream may take from now on.
    Limit(Limit),
    /// A message of an unknown type.
    #[serde(other)]
    Unknown,
}

/// The properties of a session.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Hello {
    /// The host's version.
    pub version: String,
    /// Whether this page may play or only watch.
    pub role: Role,
    /// Where the picture comes from.
    pub source: String,
    /// Width of the picture, in pixels.
    pub width: u32,
    /// Height of the picture, in pixels.
    pub height: u32,
    /// Highest frame rate, in frames a second.
    pub fps: u32,
    /// The encoder's name and version.
    pub encoder: String,
    /// Name of the stream's codec in RTP; empty from a host that does not send this field.
    #[serde(default)]
    pub codec: String,
    /// Name of the congestion controller.
    pub controller: String,
    /// How the page reports arrivals.
    pub feedback: FeedbackKind,
    /// Upper limit of the bitrate.
    pub max_bitrate: BitsPerSecond,
    /// The clock of the picture's RTP timestamps.
    #[serde(default)]
    pub picture_clock: Option<RtpClock>,
    /// The clock of the sound's RTP timestamps; `None` without sound, and before its first packet.
    #[serde(default)]
    pub sound_clock: Option<RtpClock>,
    /// Whether text copied on one side can be pasted on the other.
    #[serde(default)]
    pub clipboard: bool,
}

/// What a page may do.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The page may play.
    Player,
    /// The page may watch.
    Viewer,
}

impl Role {
    /// The role's name in messages and in the parameter `role`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Player => "player",
            Self::Viewer => "viewer",
        }
    }

    /// The role with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [Self::Player, Self::Viewer];
        all.into_iter().find(|role| role.name() == name)
    }
}

/// How the receiver reports arrivals to the host.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum FeedbackKind {
    /// RFC 8888, which carries marks: alone from a browser, and from the native client beside
    /// transport-wide-cc-02, whose times are finer. The receiver decides when to report.
    #[serde(rename = "rfc8888")]
    CongestionControl,
    /// transport-wide-cc-02: the receiver reports when a packet asks for it.
    #[serde(rename = "twcc-02")]
    OnRequest,
    /// transport-wide-cc-01: the receiver reports at intervals of its own choice.
    #[serde(rename = "twcc-01")]
    Periodic,
    /// No feedback.
    #[serde(rename = "none")]
    None,
}

impl FeedbackKind {
    /// The kind's name in messages and in the parameter `feedback`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CongestionControl => "rfc8888",
            Self::OnRequest => "twcc-02",
            Self::Periodic => "twcc-01",
            Self::None => "none",
        }
    }

    /// The kind with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [
            Self::CongestionControl,
            Self::OnRequest,
            Self::Periodic,
            Self::None,
        ];
        all.into_iter().find(|kind| kind.name() == name)
    }
}

/// Something that the person should know.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Notice {
    /// What the notice is about, and so what the page should do.
    pub code: NoticeCode,
    /// The notice in words.
    pub message: String,
}

/// What a notice is about.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoticeCode {
    /// The session is over, and the page should not reconnect.
    Ended,
    /// The page may only watch, and its input is ignored.
    ViewOnly,
    /// No pictures come at present; they will come again without a reconnection.
    Waiting,
    /// Pictures come again.
    Resumed,
    /// The browser receives frames and decodes none, so that the page should start again.
    NotDecoded,
    /// The line is not tested, although the page asked for it.
    LineNotTested,
    /// An unknown code; the page shows the words all the same.
    #[serde(other)]
    Other,
}

/// Most candidates in a message: as many as addresses can be advertised.
pub const MOST_CANDIDATES: usize = 16;

/// Addresses that the host has from now on.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Candidates {
    /// The addresses in the form of `a=candidate:` lines (RFC 8839, section 5.1) without `a=`, at most
    /// [`MOST_CANDIDATES`].
    pub candidates: Vec<String>,
}

/// A request that the page reconnect with other feedback.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct FeedbackChange {
    /// The feedback with which to reconnect.
    #[serde(rename = "use")]
    pub kind: FeedbackKind,
}

/// Why bytes are not a control message. The mistake is the other side's.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// The message is larger than [`LARGEST`].
    #[error("a control message of {size}; at most {LARGEST} are read")]
    TooLarge {
        /// Size of the message.
        size: Bytes,
    },
    /// The bytes are not JSON, have no `type`, or have a field of a wrong type.
    #[error("not a control message: {reason}")]
    NotUnderstood {
        /// What is wrong, with line and column.
        reason: String,
    },
}

impl ToPage {
    /// Parses a message.
    ///
    /// # Errors
    ///
    /// [`ControlError`] if the message is too large or cannot be parsed.
    pub fn parse(message: &[u8]) -> Result<Self, ControlError> {
        parse(message)
    }

    /// The message as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        to_json(self)
    }
}

impl FromPage {
    /// Parses a message.
    ///
    /// # Errors
    ///
    /// [`ControlError`] if the message is too large or cannot be parsed.
    pub fn parse(message: &[u8]) -> Result<Self, ControlError> {
        parse(message)
    }

    /// The message as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        to_json(self)
    }
}

fn parse<T: DeserializeOwned>(message: &[u8]) -> Result<T, ControlError> {
    let size = Bytes::new(message.len() as u64);
    if size > LARGEST {
        return Err(ControlError::TooLarge { size });
    }
    serde_json::from_slice(message).map_err(|error| ControlError::NotUnderstood {
        reason: error.to_string(),
    })
}

/// The message as JSON. Serialising cannot fail here: keys are strings, and numbers that JSON lacks
/// become null.
fn to_json<T: Serialize>(message: &T) -> String {
    serde_json::to_string(message).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_passed_over() {
        let parse = |text: &str| FromPage::parse(text.as_bytes());
        assert_eq!(
            parse(r#"{"type":"dance","steps":[1,{}]}"#),
            Ok(FromPage::Unknown)
        );
        assert_eq!(ToPage::parse(br#"{"type":"dance"}"#), Ok(ToPage::Unknown));
        let notice = Notice {
            code: NoticeCode::Other,
            message: "dance".to_owned(),
        };
        assert_eq!(
            ToPage::parse(br#"{"type":"notice","code":"dance","message":"dance"}"#),
            Ok(ToPage::Notice(notice))
        );
        let client = Client {
            hidden: true,
            packets_lost: Some(-3),
            ..Client::default()
        };
        assert_eq!(
            parse(r#"{"colour":"red","hidden":true,"packets_lost":-3,"type":"client"}"#),
            Ok(FromPage::Client(Box::new(client)))
        );
    }

    #[test]
    fn what_is_no_message_is_refused_with_its_place() {
        let reason = |text: &str| match FromPage::parse(text.as_bytes()) {
            Err(ControlError::NotUnderstood { reason }) => reason,
            other => panic!("{text}: {other:?}"),
        };
        for bad in ["", "[]", "7", "{}", r#"{"type":7}"#, "\u{ff}", "[[[["] {
            assert!(!reason(bad).is_empty());
        }
        assert!(reason(r#"{"type":"client","received":"many"}"#).contains("many"));
        let deep = format!("{{\"a\":{}", "[".repeat(60_000));
        assert!(reason(&deep).contains("recursion"));
    }

    #[test]
    fn names_are_those_of_messages() {
        for role in [Role::Player, Role::Viewer] {
            assert_eq!(serde_json::to_value(role).unwrap(), role.name());
            assert_eq!(Role::from_name(role.name()), Some(role));
        }
        for kind in [
            FeedbackKind::CongestionControl,
            FeedbackKind::OnRequest,
            FeedbackKind::Periodic,
            FeedbackKind::None,
        ] {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
            assert_eq!(FeedbackKind::from_name(kind.name()), Some(kind));
        }
        assert_eq!(Role::from_name("Player"), None);
        assert_eq!(FeedbackKind::from_name("twcc"), None);
    }

    #[test]
    fn a_message_may_have_64_kibibytes() {
        let mut message = br#"{"type":"x"}"#.to_vec();
        message.resize(65_536, b' ');
        assert_eq!(FromPage::parse(&message), Ok(FromPage::Unknown));
        message.push(b' ');
        let size = Bytes::new(65_537);
        assert_eq!(
            FromPage::parse(&message),
            Err(ControlError::TooLarge { size })
        );
    }
}
