//! What other threads tell the network's.

use mimosa_protocol::control::{FeedbackKind, Role};
use mimosa_protocol::info::Info;
use mimosa_protocol::problem::Problem;
use mimosa_session::host::{Encoded, SoundFrame};
use tokio::sync::oneshot;

use crate::source::FromSource;

/// A session's number inside the host.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct SessionNumber(pub(crate) u64);

/// What names a session outside: 128 random bits. Never printed by `Debug`.
#[derive(Clone, Eq, PartialEq)]
pub(crate) struct SessionId(pub(crate) String);

impl std::fmt::Debug for SessionId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SessionId(…)")
    }
}

/// An offer, and who makes it.
#[derive(Debug)]
pub(crate) struct Offer {
    pub(crate) text: String,
    pub(crate) role: Role,
    pub(crate) feedback: Option<FeedbackKind>,
    pub(crate) replaces: Option<SessionId>,
}

/// An answer, and where it leads.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) id: SessionId,
}

/// A message to the network's thread.
#[derive(Debug)]
pub(crate) enum ToNetwork {
    /// From the source.
    Source(FromSource),
    /// A block of sound.
    Sound(SoundFrame),
    /// From an encoder.
    Encoded(SessionNumber, Encoded),
    /// Somebody wants a session.
    Offer(Box<Offer>, oneshot::Sender<Result<Answer, Problem>>),
    /// More of a browser's candidates.
    Candidates(SessionId, Vec<String>, oneshot::Sender<Result<(), Problem>>),
    /// A session ends.
    Delete(SessionId, oneshot::Sender<Result<(), Problem>>),
    /// What the host offers.
    Info(oneshot::Sender<Info>),
    /// The host stops.
    Stop,
}
