//! The messages of the channel `control`: JSON objects with a `type`. Types and
//! fields that are not known are passed over.

mod client;
mod clipboard;
mod quantity;
mod sound;
mod statistics;

use mimosa_units::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use client::Client;
pub use clipboard::Clipboard;
pub use quantity::{BitsPerSecond, Millis};
pub use sound::{ClientSound, RtpClock, Sound};
pub use statistics::{Decided, Delay, Frames, Pacing, Point, Stages, Statistics};

/// Largest message: only text for the clipboard has more than 2 KiB, and nobody needs to
/// make the other side parse more than this, which every browser's data channels carry
/// (RFC 8841, section 6.1).
pub const LARGEST: Bytes = Bytes::new(64 * 1024);

/// From the host to a page.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum ToPage {
    /// Once at the start.
    Hello(Hello),
    /// Four times a second.
    Statistics(Box<Statistics>),
    /// Something that a person should know, or the end.
    Notice(Notice),
    /// The feedback asked for does not come.
    Feedback(FeedbackChange),
    /// A program has copied text.
    Clipboard(Clipboard),
    /// Of a type that is not known here.
    #[serde(other)]
    Unknown,
}

/// From a page to the host.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum FromPage {
    /// Once a second.
    Client(Box<Client>),
    /// The player has copied text.
    Clipboard(Clipboard),
    /// Of a type that is not known here.
    #[serde(other)]
    Unknown,
}

/// What the session is.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Hello {
    /// The host's version.
    pub version: String,
    /// What this page may do.
    pub role: Role,
    /// Where the picture comes from.
    pub source: String,
    /// Width of the picture, in pixels.
    pub width: u32,
    /// Its height.
    pub height: u32,
    /// Most frames in a second.
    pub fps: u32,
    /// What encodes it, and its version.
    pub encoder: String,
    /// What it is sent as: a codec's name in RTP. Empty where a host is older.
    #[serde(default)]
    pub codec: String,
    /// Name of the congestion controller.
    pub controller: String,
    /// What is used of the transport-wide feedback.
    pub feedback: FeedbackKind,
    /// The bitrate's upper limit.
    pub max_bitrate: BitsPerSecond,
    /// The clock of the pictures.
    #[serde(default)]
    pub picture_clock: Option<RtpClock>,
    /// That of the sound; `None` without, and before its first packet.
    #[serde(default)]
    pub sound_clock: Option<RtpClock>,
    /// What is copied on one side can be pasted on the other.
    #[serde(default)]
    pub clipboard: bool,
}

/// What a page may do.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Play.
    Player,
    /// Watch.
    Viewer,
}

impl Role {
    /// Its name in messages and in the parameter `role`.
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

/// What is used to tell the sender of arrivals.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum FeedbackKind {
    /// RFC 8888, which says how packets were marked, and transport-wide-cc-02 beside it,
    /// whose times are finer: reports when the receiver finds them useful.
    #[serde(rename = "rfc8888")]
    CongestionControl,
    /// transport-wide-cc-02: a report when a packet asks for one.
    #[serde(rename = "twcc-02")]
    OnRequest,
    /// transport-wide-cc-01: a report when the page likes.
    #[serde(rename = "twcc-01")]
    Periodic,
    /// Nothing.
    #[serde(rename = "none")]
    None,
}

impl FeedbackKind {
    /// Its name in messages and in the parameter `feedback`.
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

/// Something that a person should know.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Notice {
    /// What it is, and what the page should do.
    pub code: NoticeCode,
    /// In words.
    pub message: String,
}

/// What a notice is about.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoticeCode {
    /// The session is over; do not reconnect.
    Ended,
    /// Input is ignored.
    ViewOnly,
    /// No pictures come for now; they will by themselves.
    Waiting,
    /// Pictures come again.
    Resumed,
    /// The browser decodes nothing of what it receives; begin anew.
    NotDecoded,
    /// One that is not known here; its words are for people all the same.
    #[serde(other)]
    Other,
}

/// The page is to reconnect with other feedback.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct FeedbackChange {
    /// With this one.
    #[serde(rename = "use")]
    pub kind: FeedbackKind,
}

/// Why bytes are no control message. The other side is to blame.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// More than [`LARGEST`].
    #[error("a control message of {size}; at most {LARGEST} are read")]
    TooLarge {
        /// How much it is.
        size: Bytes,
    },
    /// No JSON, no `type`, or a field of another type than it should be.
    #[error("not a control message: {reason}")]
    NotUnderstood {
        /// What is wrong, with line and column.
        reason: String,
    },
}

impl ToPage {
    /// Reads a message.
    ///
    /// # Errors
    ///
    /// [`ControlError`] when it is too large or not understood.
    pub fn parse(message: &[u8]) -> Result<Self, ControlError> {
        parse(message)
    }

    /// The message.
    #[must_use]
    pub fn to_json(&self) -> String {
        to_json(self)
    }
}

impl FromPage {
    /// Reads a message.
    ///
    /// # Errors
    ///
    /// [`ControlError`] when it is too large or not understood.
    pub fn parse(message: &[u8]) -> Result<Self, ControlError> {
        parse(message)
    }

    /// The message.
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

/// Nothing here can fail to be JSON: keys are names, numbers that JSON has not are
/// null.
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
