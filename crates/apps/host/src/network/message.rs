//! Messages from other threads to the network's.

use std::net::{IpAddr, SocketAddr};

use mimosa_protocol::control::{FeedbackKind, Role};
use mimosa_protocol::info::Info;
use mimosa_protocol::problem::Problem;
use mimosa_protocol::proof::{Secret, Shown};
use mimosa_transport::Addresses;
use tokio::sync::oneshot;

use super::streams::Framed;
use crate::encoding::FromEncoder;
use crate::sessions::Listed;
use crate::sound::FromSound;
use crate::source::FromSource;

/// Number of a session within the host.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct SessionNumber(pub(crate) u64);

/// Public identifier of a session: 128 random bits. `Debug` does not print it.
#[derive(Clone, Eq, PartialEq)]
pub(crate) struct SessionId(pub(crate) String);

impl std::fmt::Debug for SessionId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SessionId(…)")
    }
}

/// An offer with its parameters.
#[derive(Debug)]
pub(crate) struct Offer {
    pub(crate) text: String,
    pub(crate) role: Role,
    pub(crate) feedback: Option<FeedbackKind>,
    pub(crate) replaces: Option<SessionId>,
    /// Whether whoever makes the offer may play, and so may replace a player's session.
    pub(crate) may_play: bool,
    /// The secret of the session, if the offer was proven.
    pub(crate) secret: Option<Secret>,
    /// The identifier of the paired device that makes the offer, if it is one.
    pub(crate) device: Option<String>,
    /// The address that the offer came from.
    pub(crate) from: IpAddr,
}

/// A request within a session, with what it shows.
#[derive(Debug)]
pub(crate) struct Within {
    pub(crate) id: SessionId,
    pub(crate) shown: Option<Shown>,
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) body: String,
}

/// An answer, and the session's identifier.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) id: SessionId,
}

/// A message to the network's thread.
#[derive(Debug)]
pub(crate) enum ToNetwork {
    /// A message from the source.
    Source(FromSource),
    /// A block of sound, or whether there is any.
    Sound(FromSound),
    /// A frame, or a part of one, from a session's encoder.
    Encoded(SessionNumber, FromEncoder),
    /// An offer of a new session.
    Offer(Box<Offer>, oneshot::Sender<Result<Answer, Problem>>),
    /// The identifiers of all devices that have paired; those of others were revoked.
    Devices(Vec<String>),
    /// Where others reach the host besides its own addresses.
    Advertised(Addresses),
    /// The addresses of the relay.
    Relay(Vec<SocketAddr>),
    /// The addresses that the machine has, of those to which the host binds.
    Interfaces(Vec<IpAddr>),
    /// A connection of TCP that carries the datagrams of a session.
    Framed(Framed),
    /// Further candidates for a session.
    Candidates(
        Box<Within>,
        Vec<String>,
        oneshot::Sender<Result<(), Problem>>,
    ),
    /// A request to end a session.
    Delete(Box<Within>, oneshot::Sender<Result<(), Problem>>),
    /// A request for what the host says about itself.
    Info(oneshot::Sender<Info>),
    /// A request for the sessions, with the identifiers of devices in the place of their names.
    List(oneshot::Sender<Vec<Listed>>),
    /// The host's owner ends a session; the answer says whether there is one.
    End(SessionNumber, oneshot::Sender<bool>),
    /// The host is to stop.
    Stop,
}
