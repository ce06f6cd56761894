//! Errors in HTTP answers.

use serde::{Deserialize, Serialize};

/// The body of an HTTP answer that reports an error.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Problem {
    /// The error, for programs.
    pub error: ErrorCode,
    /// What is wrong and what to do about it, for people.
    pub message: String,
}

impl Problem {
    /// An answer with this error and message.
    #[must_use]
    pub const fn new(error: ErrorCode, message: String) -> Self {
        Self { error, message }
    }
}

/// What is wrong with a request.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorCode {
    /// The offer does not parse or offers no video to receive.
    BadOffer,
    /// A parameter, a header or the body is wrong.
    BadRequest,
    /// A token is required.
    TokenMissing,
    /// The token is not this host's.
    TokenWrong,
    /// The challenge is not the host's, too old, or was used before.
    ChallengeOld,
    /// The token is sent itself, over a connection that others may read.
    TokenInClear,
    /// The PIN is not the one that the host shows.
    PinWrong,
    /// The host shows no PIN, or the exchange is over.
    PinOld,
    /// The host does not pair devices.
    NoPairing,
    /// The token is only good for watching, and the role is to play.
    ViewOnly,
    /// Only the host's owner may ask this.
    OwnerOnly,
    /// The request comes from another site's page.
    Origin,
    /// The host takes this request over HTTPS only.
    HttpsRequired,
    /// There is no session with this ID.
    NoSession,
    /// The offer has no codec that the host sends.
    NoCodec,
    /// Another player is connected.
    PlayerPresent,
    /// The body is over 64 KiB.
    TooLarge,
    /// The body has a wrong media type.
    BadType,
    /// Requests come too often.
    TooManyRequests,
    /// The host has as many sessions as it allows.
    HostFull,
}

impl ErrorCode {
    /// All codes, in the order of the table in `docs/embed/protocol.md`.
    pub const ALL: [Self; 20] = [
        Self::BadOffer,
        Self::BadRequest,
        Self::TokenMissing,
        Self::ChallengeOld,
        Self::TokenWrong,
        Self::TokenInClear,
        Self::PinWrong,
        Self::ViewOnly,
        Self::OwnerOnly,
        Self::Origin,
        Self::HttpsRequired,
        Self::NoSession,
        Self::NoPairing,
        Self::NoCodec,
        Self::PlayerPresent,
        Self::PinOld,
        Self::TooLarge,
        Self::BadType,
        Self::TooManyRequests,
        Self::HostFull,
    ];

    /// The code's name in [`Problem`].
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BadOffer => "bad-offer",
            Self::BadRequest => "bad-request",
            Self::TokenMissing => "token-missing",
            Self::ChallengeOld => "challenge-old",
            Self::TokenWrong => "token-wrong",
            Self::TokenInClear => "token-in-clear",
            Self::PinWrong => "pin-wrong",
            Self::PinOld => "pin-old",
            Self::NoPairing => "no-pairing",
            Self::ViewOnly => "view-only",
            Self::OwnerOnly => "owner-only",
            Self::Origin => "origin",
            Self::HttpsRequired => "https-required",
            Self::NoSession => "no-session",
            Self::NoCodec => "no-codec",
            Self::PlayerPresent => "player-present",
            Self::TooLarge => "too-large",
            Self::BadType => "bad-type",
            Self::TooManyRequests => "too-many-requests",
            Self::HostFull => "host-full",
        }
    }

    /// HTTP status of the answer.
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Self::BadOffer | Self::BadRequest => 400,
            Self::TokenMissing | Self::ChallengeOld => 401,
            Self::TokenWrong
            | Self::TokenInClear
            | Self::PinWrong
            | Self::ViewOnly
            | Self::OwnerOnly
            | Self::Origin
            | Self::HttpsRequired => 403,
            Self::NoSession | Self::NoPairing => 404,
            Self::NoCodec => 406,
            Self::PlayerPresent => 409,
            Self::PinOld => 410,
            Self::TooLarge => 413,
            Self::BadType => 415,
            Self::TooManyRequests => 429,
            Self::HostFull => 503,
        }
    }
}
