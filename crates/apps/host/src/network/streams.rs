//! Connections of TCP that carry the datagrams of sessions (RFC 6544), for players who cannot be
//! reached by UDP. A browser opens them, at the port of HTTP.
//!
//! A stream is treated as a network that loses what it has no room for. What TCP does not take at
//! once is dropped, so that nothing waits in this process but the rest of one datagram, and the controller
//! sees the loss. Within the system, [`MOST_UNSENT`] bounds what waits for TCP's window.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};

use mimosa_rtp::framing::{Frames, frame};
use mimosa_transport::Datagram;
use mimosa_units::{Time, TimeDelta};
use rustix::event::{PollFd, PollFlags};

use super::SessionNumber;
use crate::http::places::Place;

/// Longest time until the first datagram of a stream, from its first byte: as for a request's header.
const FIRST_WITHIN: TimeDelta = TimeDelta::from_millis(5_000);
/// Longest time in which nothing comes: then the other end's consent to be sent to is over (RFC 7675,
/// section 5.1).
const SILENT_FOR: TimeDelta = TimeDelta::from_millis(30_000);
/// Bytes that TCP may hold beyond what its window has room for: 26 ms at 20 Mbit/s, little more than a frame.
/// Our choice: with less, each keyframe loses packets; with more, it is a queue that the pacer
/// cannot see.
const MOST_UNSENT: u32 = 64 * 1024;

/// A connection whose first byte is that of a frame, with its place among all connections.
#[derive(Debug)]
pub(crate) struct Framed {
    tcp: TcpStream,
    local: SocketAddr,
    from: SocketAddr,
    _place: Place,
}

impl Framed {
    /// Takes a connection over.
    ///
    /// # Errors
    ///
    /// The system's, if the connection has ended.
    pub(crate) fn new(stream: tokio::net::TcpStream, place: Place) -> io::Result<Self> {
        let tcp = stream.into_std()?;
        tcp.set_nonblocking(true)?;
        tcp.set_nodelay(true)?;
        socket2::SockRef::from(&tcp).set_tcp_notsent_lowat(MOST_UNSENT)?;
        Ok(Self {
            local: plain(tcp.local_addr()?),
            from: plain(tcp.peer_addr()?),
            tcp,
            _place: place,
        })
    }
}

/// An address of IPv4 that a socket of IPv6 wraps, as the address of IPv4.
fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

#[derive(Debug)]
struct Stream {
    framed: Framed,
    frames: Frames,
    /// The rest of a datagram whose beginning has left.
    rest: Vec<u8>,
    owner: Option<SessionNumber>,
    /// When the stream is closed unless something comes before.
    until: Time,
    is_closed: bool,
}

impl Stream {
    /// Writes the rest of the last datagram; returns whether it has left as a whole.
    fn flush(&mut self) -> bool {
        while !self.rest.is_empty() {
            match self.framed.tcp.write(&self.rest) {
                Ok(0) => self.is_closed = true,
                Ok(written) => {
                    self.rest.drain(..written);
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => self.is_closed |= error.kind() != io::ErrorKind::WouldBlock,
            }
            return false;
        }
        true
    }

    /// Sends a datagram, or drops it.
    fn send(&mut self, datagram: &[u8]) -> bool {
        if self.is_closed || !self.flush() {
            return false;
        }
        let Some(frame) = frame(datagram) else {
            return false;
        };
        let whole = frame.len();
        self.rest = frame;
        if !self.flush() && self.rest.len() == whole {
            self.rest.clear();
            return false;
        }
        true
    }
}

/// What a stream has brought.
#[derive(Debug)]
pub(super) struct Arrived {
    pub(super) from: SocketAddr,
    pub(super) local: SocketAddr,
    /// The session to which the stream belongs, once it does.
    pub(super) owner: Option<SessionNumber>,
    pub(super) datagrams: Vec<Vec<u8>>,
}

/// All streams. Their number is that of connections, which [`Place`] limits.
#[derive(Debug, Default)]
pub(super) struct Streams(Vec<Stream>);

impl Streams {
    /// Adds a connection. It is closed unless a datagram comes in time.
    pub(super) fn add(&mut self, framed: Framed, now: Time) {
        self.0.push(Stream {
            framed,
            frames: Frames::default(),
            rest: Vec::new(),
            owner: None,
            until: now + FIRST_WITHIN,
            is_closed: false,
        });
    }

    /// What to wait for, in the order of the indices of [`Self::receive`].
    pub(super) fn fds(&self) -> impl Iterator<Item = PollFd<'_>> {
        self.0.iter().map(|stream| {
            let flags = if stream.rest.is_empty() {
                PollFlags::IN
            } else {
                PollFlags::IN | PollFlags::OUT
            };
            PollFd::new(&stream.framed.tcp, flags)
        })
    }

    /// Takes what a stream has brought, at most as much as `buffer` holds, and sends the rest of what
    /// has begun to leave.
    pub(super) fn receive(
        &mut self,
        index: usize,
        now: Time,
        buffer: &mut [u8],
    ) -> Option<Arrived> {
        let stream = self.0.get_mut(index)?;
        stream.flush();
        let read = match stream.framed.tcp.read(buffer) {
            Ok(0) => {
                stream.is_closed = true;
                0
            }
            Ok(read) => read,
            Err(error) => {
                let waits = [io::ErrorKind::WouldBlock, io::ErrorKind::Interrupted];
                stream.is_closed |= !waits.contains(&error.kind());
                0
            }
        };
        stream.frames.push(&buffer[..read]);
        let mut datagrams = Vec::new();
        loop {
            match stream.frames.take() {
                Ok(Some(datagram)) => datagrams.push(datagram.to_vec()),
                Ok(None) => break,
                Err(error) => {
                    tracing::debug!(%error, peer = %stream.framed.from, "a stream is closed");
                    stream.is_closed = true;
                    break;
                }
            }
        }
        if !datagrams.is_empty() && stream.owner.is_some() {
            stream.until = now + SILENT_FOR;
        }
        Some(Arrived {
            from: stream.framed.from,
            local: stream.framed.local,
            owner: stream.owner,
            datagrams,
        })
    }

    /// Sends a datagram by the stream between its addresses. Returns whether there is one, and it had
    /// room.
    pub(super) fn send(&mut self, datagram: &Datagram) -> bool {
        let stream = self.0.iter_mut().find(|stream| {
            stream.framed.local == datagram.source && stream.framed.from == datagram.destination
        });
        stream.is_some_and(|stream| stream.send(&datagram.contents))
    }

    /// Gives a stream to a session.
    pub(super) fn own(&mut self, index: usize, owner: SessionNumber, now: Time) {
        if let Some(stream) = self.0.get_mut(index) {
            stream.owner = Some(owner);
            stream.until = now + SILENT_FOR;
        }
    }

    /// Closes a stream. Its index stays until [`Self::forget_closed`].
    pub(super) fn close(&mut self, index: usize) {
        if let Some(stream) = self.0.get_mut(index) {
            stream.is_closed = true;
        }
    }

    /// Closes the streams of a session.
    pub(super) fn close_of(&mut self, owner: SessionNumber) {
        for stream in &mut self.0 {
            stream.is_closed |= stream.owner == Some(owner);
        }
    }

    /// Closes the streams that have been silent for too long.
    pub(super) fn expire(&mut self, now: Time) {
        self.0.retain(|stream| stream.until > now);
    }

    /// Forgets the streams that are closed, which changes the indices of others.
    pub(super) fn forget_closed(&mut self) {
        self.0.retain(|stream| !stream.is_closed);
    }
}

#[cfg(test)]
mod tests;
