//! Errors as HTTP answers have them.

use serde::{Deserialize, Serialize};

/// The body of an answer that is an error.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Problem {
    /// For programs.
    pub error: ErrorCode,
    /// For people: what is wrong, and what to do.
    pub message: String,
}

impl Problem {
    /// What is wrong, for programs and for people.
    #[must_use]
    pub const fn new(error: ErrorCode, message: String) -> Self {
        Self { error, message }
    }
}

/// What can be wrong with a request.
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
    /// The token is for watching, the role is to play.
    ViewOnly,
    /// The request comes from another site's page.
    Origin,
    /// There is no session with this ID.
    NoSession,
    /// The offer has no codec that the host sends.
    NoCodec,
    /// Somebody else is playing.
    PlayerPresent,
    /// The body is over 64 KiB.
    TooLarge,
    /// The body is of another type.
    BadType,
    /// Requests come too fast.
    TooManyRequests,
    /// There are as many sessions as there may be.
    HostFull,
}

impl ErrorCode {
    /// All of them, in the order of the document's table.
    pub const ALL: [Self; 13] = [
        Self::BadOffer,
        Self::BadRequest,
        Self::TokenMissing,
        Self::TokenWrong,
        Self::ViewOnly,
        Self::Origin,
        Self::NoSession,
        Self::NoCodec,
        Self::PlayerPresent,
        Self::TooLarge,
        Self::BadType,
        Self::TooManyRequests,
        Self::HostFull,
    ];

    /// The code in [`Problem`].
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BadOffer => "bad-offer",
            Self::BadRequest => "bad-request",
            Self::TokenMissing => "token-missing",
            Self::TokenWrong => "token-wrong",
            Self::ViewOnly => "view-only",
            Self::Origin => "origin",
            Self::NoSession => "no-session",
            Self::NoCodec => "no-codec",
            Self::PlayerPresent => "player-present",
            Self::TooLarge => "too-large",
            Self::BadType => "bad-type",
            Self::TooManyRequests => "too-many-requests",
            Self::HostFull => "host-full",
        }
    }

    /// The answer's HTTP status.
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Self::BadOffer | Self::BadRequest => 400,
            Self::TokenMissing => 401,
            Self::TokenWrong | Self::ViewOnly | Self::Origin => 403,
            Self::NoSession => 404,
            Self::NoCodec => 406,
            Self::PlayerPresent => 409,
            Self::TooLarge => 413,
            Self::BadType => 415,
            Self::TooManyRequests => 429,
            Self::HostFull => 503,
        }
    }
}
