//! What both ends of a WebRTC connection ask of str0m in one way: its channels, and the form in
//! which it takes datagrams.

use std::net::SocketAddr;

use str0m::channel::ChannelId;
use str0m::net::{Protocol, Receive};
use str0m::{Rtc, RtcError};

use crate::ends::Channel;

/// The channels of a connection that are open.
#[derive(Debug, Default)]
pub(crate) struct Channels([Option<ChannelId>; Channel::ALL.len()]);

impl Channels {
    /// Notes that the channel with this label is open; `None` if Mimosa has no such channel.
    pub(crate) fn opened(&mut self, id: ChannelId, label: &str) -> Option<Channel> {
        let channel = Channel::from_label(label)?;
        self.0[channel as usize] = Some(id);
        Some(channel)
    }

    /// Notes that a channel is closed.
    pub(crate) fn closed(&mut self, id: ChannelId) {
        for open in &mut self.0 {
            open.take_if(|open| *open == id);
        }
    }

    /// The channel that str0m calls `id`; `None` if Mimosa has no such channel.
    pub(crate) fn of(&self, id: ChannelId) -> Option<Channel> {
        let mut all = Channel::ALL.into_iter();
        all.find(|channel| self.0[*channel as usize] == Some(id))
    }

    /// Writes a message; says whether the channel is open and takes it. An empty message is not
    /// taken.
    pub(crate) fn write(&self, rtc: &mut Rtc, channel: Channel, data: &[u8]) -> bool {
        let is_binary = channel != Channel::Control;
        let open = self.0[channel as usize].filter(|_| !data.is_empty());
        open.and_then(|id| rtc.channel(id))
            .is_some_and(|mut open| open.write(is_binary, data).unwrap_or(false))
    }

    /// Whether the other end has yet to acknowledge messages of a channel that is not lossy.
    pub(crate) fn is_undelivered(&self, rtc: &mut Rtc, channel: Channel) -> bool {
        // SCTP counts the bytes of a message as buffered until they are acknowledged.
        let open = self.0[channel as usize].and_then(|id| rtc.channel(id));
        !channel.is_lossy() && open.is_some_and(|mut open| open.buffered_amount() > 0)
    }
}

/// Why a connection ends whose output str0m refuses with `error`. `closed` says that the other end
/// closed it.
pub(crate) fn cause(error: &RtcError, closed: &str) -> String {
    match error {
        // When the other end closes, str0m shuts its own association of SCTP down. It fails where
        // that association is not established yet, and tells of nothing but this failure.
        RtcError::Sctp(_) => closed.to_owned(),
        error => format!("the connection broke: {error}"),
    }
}

/// A datagram in the form in which str0m takes it; `None` if it belongs to none of WebRTC's
/// protocols.
pub(crate) fn received(
    proto: Protocol,
    source: SocketAddr,
    destination: SocketAddr,
    contents: &[u8],
) -> Option<Receive<'_>> {
    Some(Receive {
        proto,
        source,
        destination,
        contents: contents.try_into().ok()?,
    })
}
